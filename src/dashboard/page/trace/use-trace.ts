/** What the player has of the server: the trace, and the run as it was at one of its events. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { TRACE, traceStateOf } from '../../messages/paths.ts';
import { EMPTY_RUN, type RunMessage, type RunState, withRunMessage } from '../../messages/run.ts';
import type { TraceView } from '../../messages/trace.ts';
import { after, askJson } from '../adapters/browser.ts';

/** Pause before a server that did not answer is asked again. */
const ASK_AGAIN_MS = 2000;

/** Null until it has come. `trouble` is a sentence. */
export function useTrace(): readonly [trace: TraceView | null, trouble: string | null] {
  const [trace, show] = useState<TraceView | null>(null);
  const [trouble, tell] = useState<string | null>(null);
  useEffect(
    () =>
      untilDone(async () => {
        show(await askJson<TraceView>(TRACE));
        tell(null);
      }, tell),
    [],
  );
  return [trace, trouble];
}

/**
 * The run at an event. While it comes, the one before stays. One question is out at a time, so who
 * holds down a key sees some of the events on the way.
 */
export function useRunAt(at: number): readonly [state: RunState, trouble: string | null] {
  const [state, show] = useState(EMPTY_RUN);
  const [trouble, tell] = useState<string | null>(null);
  const wanted = useRef(at);
  const isAsking = useRef(false);
  const cancel = useRef((): void => undefined);
  wanted.current = at;
  useEffect(() => () => cancel.current(), []);
  useEffect(() => {
    if (isAsking.current) return;
    isAsking.current = true;
    cancel.current = untilDone(async () => {
      for (let asked = -1; asked !== wanted.current; ) {
        asked = wanted.current;
        const messages = await askJson<readonly RunMessage[]>(traceStateOf(asked));
        show(messages.reduce(withRunMessage, EMPTY_RUN));
        tell(null);
      }
      isAsking.current = false;
    }, tell);
  }, [at]);
  return [state, trouble];
}

/** Tries again and again until the work succeeds or the returned function is called. */
function untilDone(work: () => Promise<void>, tell: (trouble: string) => void): () => void {
  let isOver = false;
  let cancel = (): void => undefined;
  const attempt = (): void => {
    work().catch((error: unknown) => {
      if (isOver) return;
      tell(error instanceof Error ? error.message : String(error));
      cancel = after(ASK_AGAIN_MS, attempt);
    });
  };
  attempt();
  return () => {
    isOver = true;
    cancel();
  };
}
