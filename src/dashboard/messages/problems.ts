/**
 * What is missing from the page, one sentence each: what the user may not read, or that the cluster
 * does not answer. It replaces what was sent before.
 */
export interface ProblemsMessage {
  readonly type: 'Problems';
  readonly problems: readonly string[];
}
