/** The page of `lockstep dashboard`. */
import { render, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { keepPass } from './adapters/session.ts';
import { ErrorBoundary } from './frame/error-boundary.tsx';
import { Frame } from './frame/frame.tsx';
import { Overview } from './overview/overview.tsx';
import { type Route, routeOf } from './route.ts';
import { Run } from './run/run.tsx';

function Page(): VNode {
  const [route, show] = useState<Route>(() => routeOf(location.hash));
  useEffect(() => {
    const follow = (): void => show(routeOf(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  if (route.view === 'Overview') {
    return (
      <Frame view="Overview">
        <ErrorBoundary key="Overview" what="The list of JobSets">
          <Overview />
        </ErrorBoundary>
      </Frame>
    );
  }
  const { namespace, name, tab, look } = route;
  const view = `${namespace}/${name}`;
  return (
    <Frame view={view}>
      <ErrorBoundary key={view} what={`JobSet ${view}`}>
        <Run namespace={namespace} name={name} tab={tab} look={look} />
      </ErrorBoundary>
    </Frame>
  );
}

void keepPass();
const root = document.getElementById('page');
if (root !== null) render(<Page />, root);
