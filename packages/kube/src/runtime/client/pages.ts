import type { KubeList, KubeObject } from '../../meta.ts';
import { TransportError } from '../ports/transport.ts';
import type { ListOptions } from './client.ts';

/** Objects of one page: holds up the event loop for some 20 ms with large Pods. */
const MOST_OF_A_PAGE = 500;
/**
 * No page of usual objects is longer. Objects may have 3 MiB each, so one tenant's could take all
 * memory, or make the answer too long to be read at all.
 */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;
/** If a page is too long, this share of it is asked for. */
const SMALLER = 1 / 8;

/** Reads a collection in pages that are bounded in bytes too, by asking for fewer large objects. */
export async function* boundedPages<L extends KubeList>(
  read: (page: Pick<ListOptions, 'limit' | 'continue' | 'maxBytes'>) => Promise<L>,
): AsyncGenerator<L, void> {
  let most = MOST_OF_A_PAGE;
  let limit = most;
  let token = '';
  for (;;) {
    const size = { limit, maxBytes: MAX_PAGE_BYTES };
    const page = await read(token === '' ? size : { ...size, continue: token }).catch(
      (error: unknown) => {
        if (isTooLong(error) && limit > 1) return undefined;
        throw error;
      },
    );
    if (page === undefined) {
      most = Math.ceil(limit / 2);
      limit = Math.ceil(limit * SMALLER);
      continue;
    }
    yield page;
    token = page.metadata.continue ?? '';
    if (token === '') return;
    limit = Math.min(limit * 2, most);
  }
}

/** An answer beyond the limit of its reader: it would be as long the next time. */
export function isTooLong(error: unknown): boolean {
  return error instanceof TransportError && error.code === 'EMSGSIZE';
}

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
