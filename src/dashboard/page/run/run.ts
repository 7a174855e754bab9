/** One JobSet: its life, its members, its spec. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { runEventsOf } from '../../messages/paths.ts';
import { EMPTY_RUN, type RunMessage, type RunState, withRunMessage } from '../../messages/run.ts';
import { ErrorBoundary } from '../frame/error-boundary.ts';
import { useHeadline } from '../frame/frame.ts';
import type { RunTab } from '../route.ts';
import { Spec } from '../spec/spec.ts';
import { useStream } from '../use-stream.ts';
import { Life } from './life.ts';
import { RunHead } from './run-head.ts';

export interface RunProps {
  readonly namespace: string;
  readonly name: string;
  readonly tab: RunTab;
}

export function Run({ namespace, name, tab }: RunProps): VNode {
  const { state, ...connection } = useStream<RunState, RunMessage>(
    runEventsOf(namespace, name),
    EMPTY_RUN,
    withRunMessage,
  );
  const { run, problems } = state;
  const { lostSinceMs, trouble } = connection;
  useHeadline({ title: name, problems, ...connection });
  return html`
    <${RunHead} ...${{ namespace, name, tab, run, isGone: state.isGone }} />
    <${ErrorBoundary} key=${tab} what=${tab === 'spec' ? 'The spec' : 'The run'}>
      ${
        run === null
          ? html`<p class="quiet">
              ${state.isGone ? 'There is no JobSet of this name.' : 'Waiting for the server to tell of it.'}
            </p>`
          : tab === 'spec'
            ? html`<${Spec} run=${run} />`
            : html`<${Life} ...${{ run, state, lostSinceMs, isRefused: trouble !== null }} />`
      }
    </${ErrorBoundary}>
  `;
}
