/** Which view the address shows. Views are behind the `#`, so the server serves one page. */
import { lookOf, type RunLook, textOfLook } from './run/look.ts';

export type Route =
  | { readonly view: 'Overview' }
  | {
      readonly view: 'Run';
      readonly namespace: string;
      readonly name: string;
      readonly tab: RunTab;
      readonly look: RunLook;
    };

export type RunTab = 'run' | 'spec';

/** An address that no view has shows all JobSets. */
export function routeOf(hash: string): Route {
  const [path = '', ...look] = hash.split('?');
  const [, kind, namespace, name, tab] = path.split('/').map(decoded);
  if (kind !== 'jobset' || !namespace || !name) return { view: 'Overview' };
  return {
    view: 'Run',
    namespace,
    name,
    tab: tab === 'spec' ? tab : 'run',
    look: lookOf(look.join('?')),
  };
}

export function addressOf(route: Route): string {
  if (route.view === 'Overview') return '#/';
  const { namespace, name, tab, look } = route;
  const path = `#/jobset/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  const text = textOfLook(look);
  return `${tab === 'run' ? path : `${path}/${tab}`}${text === '' ? '' : `?${text}`}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
