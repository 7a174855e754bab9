import type { KubeList, KubeObject } from '../../kube/meta.ts';

/** Reads all objects of a collection page by page; `read` sets the limit of a page. */
export async function allPages<T extends KubeObject>(
  read: (next: { readonly continue?: string }) => Promise<KubeList<T>>,
): Promise<readonly T[]> {
  const items: T[] = [];
  let token = '';
  do {
    const page = await read(token === '' ? {} : { continue: token });
    items.push(...page.items);
    token = page.metadata.continue ?? '';
  } while (token !== '');
  return items;
}

/** A collection, as far as it was read. */
export interface Some<T> {
  readonly items: readonly T[];
  readonly isAll: boolean;
}

const PAGE_SIZE = 500;
const MAX_PAGES = 20;

/** Reads a collection in pages, up to a bound, and keeps of each object what is needed. */
export async function someOf<O extends KubeObject, T>(
  read: (page: { readonly limit: number; readonly continue?: string }) => Promise<KubeList<O>>,
  keep: (object: O) => T,
): Promise<Some<T>> {
  const items: T[] = [];
  let token = '';
  for (let page = 0; page < MAX_PAGES; page++) {
    const list = await read({ limit: PAGE_SIZE, ...(token !== '' && { continue: token }) });
    items.push(...list.items.map(keep));
    token = list.metadata.continue ?? '';
    if (token === '') return { items, isAll: true };
  }
  return { items, isAll: false };
}
