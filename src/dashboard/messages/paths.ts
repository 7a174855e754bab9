/** The addresses of the server. All but the addresses of a renewal need the cookie of a session. */

/** Streams of server-sent events; each event is one message as JSON. */
export const OVERVIEW_EVENTS = '/api/overview';
export const RUN_EVENTS = '/api/run';
export const LOG_EVENTS = '/api/log';
/** `POST` with an `ActionRequest` as JSON; answers with an `ActionAnswer`. */
export const ACTIONS = '/api/action';
/** `GET`: which cluster it is, a `ClusterView`. */
export const CLUSTER = '/api/cluster';

/** `GET`: the trace that the server plays, a `TraceView`. */
export const TRACE = '/api/trace';
/** `GET` with `?event=`, from 0: the run as it was then, as a list of `RunMessage`. */
export const TRACE_STATE = '/api/trace/state';

/** `GET`: a `Pass` for this page. */
export const PASS = '/api/pass';
/** `GET`: the `ServerStart`. */
export const START = '/api/start';
/** `POST` with a `Renewal` as JSON: a session for a page with a pass. */
export const RENEW = '/api/renew';

export interface ClusterView {
  /** Name of the kubeconfig's context, or what a trace is. */
  readonly context: string;
  /** Its address, or the path of a trace. */
  readonly server: string;
  /** Null: it is a trace. */
  readonly serverVersion: string | null;
  /** Version of this program. */
  readonly version: string;
}

export function traceStateOf(event: number): string {
  return `${TRACE_STATE}?${new URLSearchParams({ event: String(event) })}`;
}

/** `/api/run?namespace=default&name=train` */
export function runEventsOf(namespace: string, name: string): string {
  return `${RUN_EVENTS}?${new URLSearchParams({ namespace, name })}`;
}

/** Only members of the JobSet have a log here. `process` is a local rank; null: all of the Pod. */
export function logEventsOf(
  namespace: string,
  name: string,
  pod: string,
  process: number | null,
): string {
  const query = new URLSearchParams({ namespace, name, pod });
  if (process !== null) query.set('process', `${process}`);
  return `${LOG_EVENTS}?${query}`;
}
