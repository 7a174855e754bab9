/** The page of `lockstep dashboard`. */
import { html } from 'htm/preact';
import { render, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Overview } from './overview/overview.ts';
import { type Route, routeOf } from './route.ts';
import { Run } from './run/run.ts';

function Page(): VNode {
  const [route, show] = useState<Route>(() => routeOf(location.hash));
  useEffect(() => {
    const follow = (): void => show(routeOf(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  if (route.view === 'Overview') return html`<${Overview} />`;
  const { namespace, name, tab } = route;
  return html`<${Run} key=${`${namespace}/${name}`} ...${{ namespace, name, tab }} />`;
}

const root = document.getElementById('page');
if (root !== null) render(html`<${Page} />`, root);
