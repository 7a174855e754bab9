/** Whether the webhook writes the restart mode of a JobSet into it. */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { RESTART_MODE } from '../../jobset/names.ts';
import { nodeSelectors } from '../tracking/node-answers.ts';

export interface NodeQuestion {
  /**
   * Why nodes of these label selectors allow only one restart mode; undefined: they allow both.
   * Rejects while the API server does not answer.
   */
  restartAllProblem(selectors: readonly string[], signal: AbortSignal): Promise<string | undefined>;
}

/** Each selector may cost a list of nodes. With more selectors, the controller decides. */
const MAX_SELECTORS = 20;

/**
 * The JobSet with the decided annotations. The mode is not stored if nodes leave no choice, or
 * cannot be asked: the controller decides when it makes the first Jobs.
 */
export async function withDecisions(
  given: JobSet,
  decided: JobSet,
  nodes: NodeQuestion,
  signal: AbortSignal,
): Promise<JobSet> {
  const { annotations } = given.metadata;
  if (deepEqual(decided.metadata.annotations, annotations)) return given;
  const { [RESTART_MODE]: mode, ...others } = decided.metadata.annotations ?? {};
  const said = annotations?.[RESTART_MODE];
  const isKept = mode === said || (await haveChoice(decided, nodes, signal));
  const stored = isKept ? mode : said;
  const kept = stored === undefined ? others : { ...others, [RESTART_MODE]: stored };
  return { ...given, metadata: { ...given.metadata, annotations: kept } };
}

async function haveChoice(
  { spec }: JobSet,
  nodes: NodeQuestion,
  signal: AbortSignal,
): Promise<boolean> {
  const selectors = nodeSelectors(spec);
  if (selectors.size > MAX_SELECTORS) return false;
  try {
    return (await nodes.restartAllProblem([...selectors], signal)) === undefined;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
