/** One JobSet: its life, its members, its spec. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { runEventsOf } from '../../messages/paths.ts';
import { EMPTY_RUN, type RunMessage, type RunState, withRunMessage } from '../../messages/run.ts';
import type { RunTab } from '../route.ts';
import { useStream } from '../use-stream.ts';

export interface RunProps {
  readonly namespace: string;
  readonly name: string;
  readonly tab: RunTab;
}

export function Run({ namespace, name, tab }: RunProps): VNode {
  const { state } = useStream<RunState, RunMessage>(
    runEventsOf(namespace, name),
    EMPTY_RUN,
    withRunMessage,
  );
  return html`<main>
    <h1>${namespace}/${name}</h1>
    <p>${tab} ${state.run?.jobSet.state} ${state.members.size}</p>
  </main>`;
}
