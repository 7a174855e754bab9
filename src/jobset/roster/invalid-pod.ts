/** Pods that are no members, and what is wrong with them. */

import { cutToBytes } from '@lockstep/kube/cut-to-bytes.ts';
import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import { EPOCH, IN_PLACE_RESTART_ATTEMPT, JOBSET_NAME } from '../names.ts';
import type { PodFacts } from './pod-facts.ts';

/**
 * A Pod that has a JobSet's label or announces an epoch, but is not a member
 * (`docs/design/end-hazards.md#an-object-claims-an-owner-it-does-not-have`).
 */
export interface InvalidPod {
  /** `namespace/name` of the JobSet that it names. */
  readonly jobSet: string;
  readonly podUid: string;
  /** What is wrong, with the name of the Pod. */
  readonly problem: string;
}

/** What is wrong with a living Pod that names a JobSet. `facts` is undefined for a stranger. */
export function invalidIn(
  { metadata }: Stored<PartialObjectMetadata>,
  facts: PodFacts | undefined,
): readonly InvalidPod[] {
  const name = metadata.labels?.[JOBSET_NAME];
  if (name === undefined) return [];
  const stranger = `Pod ${metadata.name} has the label of a JobSet but is not one of its Pods`;
  const problems = facts === undefined ? [stranger] : malformedIn(facts);
  const pod = { jobSet: `${namespaceOf(metadata)}/${name}`, podUid: metadata.uid };
  return problems.map((problem) => ({ ...pod, problem }));
}

/** Annotations may have 256 KiB, and reports are remembered. */
const MAX_SHOWN_BYTES = 100;

/** What is wrong with the epochs that a Pod announces. */
function malformedIn(facts: PodFacts): readonly string[] {
  const { malformedEpoch, malformedAttempt, epoch, name } = facts;
  if (malformedEpoch === undefined && malformedAttempt === undefined) return [];
  const result = epoch === undefined ? 'the Pod counts as missing' : 'it is ignored';
  const problems: string[] = [];
  const tell = (annotation: string, text: string, least: number): void => {
    const shown = cutToBytes(text, MAX_SHOWN_BYTES);
    const expected = `an integer from ${least} to ${least + 2_147_483_646}`;
    problems.push(
      `annotation ${annotation} of Pod ${name} is "${shown}", expected ${expected}; ${result}`,
    );
  };
  if (malformedEpoch !== undefined) tell(EPOCH, malformedEpoch, 1);
  if (malformedAttempt !== undefined) tell(IN_PLACE_RESTART_ATTEMPT, malformedAttempt, 0);
  return problems;
}
