/** One JobSet: its life, its members, its spec. */
import { runEventsOf } from '../../messages/paths.ts';
import { EMPTY_RUN, type RunMessage, type RunState, withRunMessage } from '../../messages/run.ts';
import { ErrorBoundary } from '../frame/error-boundary.tsx';
import { useHeadline } from '../frame/frame.tsx';
import type { RunTab } from '../route.ts';
import { Spec } from '../spec/spec.tsx';
import { useStream } from '../use-stream.ts';
import { useLook } from './follow.ts';
import { Life } from './life.tsx';
import type { RunLook } from './look.ts';
import { NothingTold } from './nothing-told.tsx';
import { RunHead } from './run-head.tsx';

export interface RunProps {
  readonly namespace: string;
  readonly name: string;
  readonly tab: RunTab;
  /** What the address says. */
  readonly look: RunLook;
}

const NO_PROBLEMS: readonly string[] = [];

export function Run({ namespace, name, tab, look: fromAddress }: RunProps) {
  const { state, ...connection } = useStream<RunState, RunMessage>(
    runEventsOf(namespace, name),
    EMPTY_RUN,
    withRunMessage,
  );
  const [look, change] = useLook({ namespace, name, tab }, fromAddress);
  const { run, problems } = state;
  const { lostSinceMs, trouble } = connection;
  // Without a run they stand in its place.
  useHeadline({ title: name, problems: run === null ? NO_PROBLEMS : problems, ...connection });
  return (
    <>
      <RunHead
        namespace={namespace}
        name={name}
        tab={tab}
        look={look}
        run={run}
        isGone={state.isGone}
      />
      <ErrorBoundary key={tab} what={tab === 'spec' ? 'The spec' : 'The run'}>
        {run === null ? (
          <NothingTold problems={problems} isGone={state.isGone} isRefused={trouble !== null} />
        ) : tab === 'spec' ? (
          <Spec run={run} />
        ) : (
          <Life
            run={run}
            state={state}
            look={look}
            change={change}
            lostSinceMs={lostSinceMs}
            isRefused={trouble !== null}
          />
        )}
      </ErrorBoundary>
    </>
  );
}
