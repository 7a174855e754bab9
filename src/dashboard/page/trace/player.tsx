/** Plays a trace: its events, and the run as it was at one of them. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TraceView } from '../../messages/trace.ts';
import { after } from '../adapters/browser.ts';
import { Age, PlayedAt } from '../elements/age.tsx';
import { shown } from '../elements/shown-text.ts';
import { StateBadge } from '../elements/state-badge.tsx';
import { useHeadline } from '../frame/frame.tsx';
import { Life } from '../run/life.tsx';
import { NO_LOOK, type RunLook } from '../run/look.ts';
import { Controls } from './controls.tsx';
import { Events } from './events.tsx';
import { addressOfEvent, type Choice, chosenOf, eventOf, stepFrom } from './steps.ts';
import { useRunAt, useTrace } from './use-trace.ts';

/** Browsers refuse an address that changes more than some times a second. */
const ADDRESS_RESTS_MS = 300;
const NO_PROBLEMS: readonly string[] = [];

export function Player() {
  const [trace, trouble] = useTrace();
  if (trace !== null) return <Playing trace={trace} />;
  return <Loading trouble={trouble} />;
}

function Loading({ trouble }: { readonly trouble: string | null }) {
  useHeadline({ title: 'Trace', isOpen: false, lostSinceMs: null, trouble, problems: NO_PROBLEMS });
  return <p class="quiet">Waiting for the trace.</p>;
}

function Playing({ trace: { seed, events } }: { readonly trace: TraceView }) {
  const [at, show] = useState(() => eventOf(location.hash, events.length) ?? 0);
  const [choice, choose] = useState<Choice>('All');
  const [look, lookAt] = useState<RunLook>(NO_LOOK);
  const indices = useMemo(() => chosenOf(events, choice), [events, choice]);
  const [state, trouble] = useRunAt(at);
  const { run, problems } = state;
  const title = `Trace of seed ${seed}`;
  // An answer without a run says in its problems why there is none.
  const missing = problems.length === 0 ? 'Waiting for the run' : 'No JobSet to show';
  useHeadline({ title, isOpen: true, lostSinceMs: null, trouble, problems });
  // Keys come faster than pictures.
  const latest = useRef(at);
  const go = useCallback((to: number): void => {
    latest.current = to;
    show(to);
  }, []);
  const step = useCallback(
    (by: -1 | 1): void => {
      const to = stepFrom(latest.current, by, indices);
      if (to !== undefined) go(to);
    },
    [indices],
  );
  useEffect(
    () => after(ADDRESS_RESTS_MS, () => history.replaceState(null, '', addressOfEvent(at))),
    [at],
  );
  useEffect(() => {
    const follow = (): void => {
      const to = eventOf(location.hash, events.length);
      if (to === undefined) history.replaceState(null, '', addressOfEvent(latest.current));
      else go(to);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, [events]);
  return (
    <PlayedAt.Provider value={run?.atMs ?? 0}>
      <div class="run-head">
        <p class="run-path">{title}</p>
        <div class="run-title">
          <h1 tabindex={-1}>{run === null ? missing : shown(run.jobSet.name)}</h1>
          {run !== null && <StateBadge shown={run.jobSet.shown} />}
          {run !== null && (
            <span class="quiet">
              created <Age sinceMs={run.createdMs} /> before
            </span>
          )}
        </div>
      </div>
      <section class="card player" aria-label="Player">
        <Controls
          events={events}
          indices={indices}
          at={at}
          go={go}
          step={step}
          choice={choice}
          choose={choose}
        />
        <Events events={events} indices={indices} at={at} go={go} />
      </section>
      {run !== null && (
        <Life
          run={run}
          state={state}
          look={look}
          change={(part) => lookAt((before) => ({ ...before, ...part }))}
          lostSinceMs={null}
          isRefused={false}
        />
      )}
    </PlayedAt.Provider>
  );
}
