/** Which view the address shows. Views are behind the `#`, so the server serves one page. */

export type Route =
  | { readonly view: 'Overview' }
  | {
      readonly view: 'Run';
      readonly namespace: string;
      readonly name: string;
      readonly tab: RunTab;
    };

export type RunTab = 'run' | 'spec';

/** An address that no view has shows all JobSets. */
export function routeOf(hash: string): Route {
  const [, kind, namespace, name, tab] = hash.split('/').map(decoded);
  if (kind !== 'jobset' || !namespace || !name) return { view: 'Overview' };
  return { view: 'Run', namespace, name, tab: tab === 'spec' ? tab : 'run' };
}

export function addressOf(route: Route): string {
  if (route.view === 'Overview') return '#/';
  const { namespace, name, tab } = route;
  const path = `#/jobset/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  return tab === 'run' ? path : `${path}/${tab}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
