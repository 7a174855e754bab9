/** The page of `lockstep dashboard`. */
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { keepPass } from './adapters/session.ts';
import { ErrorBoundary } from './frame/error-boundary.tsx';
import { Frame } from './frame/frame.tsx';
import { useKey } from './frame/keys.tsx';
import { Overview } from './overview/overview.tsx';
import { type Route, routeOf } from './route.ts';
import { Run } from './run/run.tsx';
import { Player } from './trace/player.tsx';

function Page() {
  const [route, show] = useState<Route>(() => routeOf(location.hash));
  useEffect(() => {
    const follow = (): void => show(routeOf(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  useKey('g', toOverview);
  const view = route.view === 'Overview' ? route.view : `${route.namespace}/${route.name}`;
  const what = route.view === 'Overview' ? 'The list of JobSets' : `JobSet ${view}`;
  return (
    <Frame view={view} isTrace={false}>
      <ErrorBoundary key={view} what={what}>
        {route.view === 'Overview' ? <Overview /> : <Run {...route} />}
      </ErrorBoundary>
    </Frame>
  );
}

function toOverview(): void {
  location.hash = '#/';
}

function TracePage() {
  return (
    <Frame view="trace" isTrace>
      <ErrorBoundary what="The trace">
        <Player />
      </ErrorBoundary>
    </Frame>
  );
}

void keepPass();
const root = document.getElementById('page');
// The server says what it shows in the page itself.
if (root !== null) render(root.dataset['shows'] === 'trace' ? <TracePage /> : <Page />, root);
