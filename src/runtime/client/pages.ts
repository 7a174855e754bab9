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
