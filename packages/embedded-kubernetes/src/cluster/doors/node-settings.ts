/** Settings of a node, for code that reads them from flags and may start no cluster. */
export { type BackoffSettings, isRestartPeriod } from '../node/backoff.ts';
export { DEFAULT_POD_NAMESPACES, POD_NAMESPACES_MODES } from '../node/ports/pod-namespaces.ts';
