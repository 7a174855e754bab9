import type { KubeList, KubeObject } from '../../kube/meta.ts';

/** All objects of a collection of any size, read page by page: `read` sets the limit of one. */
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
