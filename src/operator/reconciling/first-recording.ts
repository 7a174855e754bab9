/** Finds what the first status of a JobSet records, before anything is made for it. */

import { namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { asRecorded } from '../../jobset/overrides/recorded-annotations.ts';
import {
  isUnrecorded,
  type Recording,
  recordedAnnotations,
} from '../../jobset/overrides/recording.ts';
import { isFinished } from '../../jobset/status/conditions.ts';
import { recordingOf } from '../../jobset/validation/namespace-defaults.ts';
import type { NamespaceAnnotations } from '../tracking/namespace-annotations.ts';
import type { StoredDefinition } from '../tracking/stored-definition.ts';

export interface RecordingSources {
  readonly definition: Pick<StoredDefinition, 'facts'>;
  readonly namespaceAnnotations: NamespaceAnnotations;
  readonly hasHub: boolean;
}

/** Undefined: the JobSet has a status, or the operator makes nothing for it any more. */
export async function findRecording(
  jobSet: Stored<JobSet>,
  { definition, namespaceAnnotations, hasHub }: RecordingSources,
  signal: AbortSignal,
): Promise<Recording | undefined> {
  const { metadata, status } = jobSet;
  const isOver = isFinished(status?.conditions) || metadata.deletionTimestamp !== undefined;
  if (!isUnrecorded(jobSet) || isOver) return undefined;
  const ofNamespace = await namespaceAnnotations(namespaceOf(metadata), signal);
  const { lacks } = definition.facts ?? {};
  return recordingOf(jobSet, ofNamespace, { servesHub: hasHub, lacks });
}

/** The JobSet as it is acted on, by its record or the record that is to be written. */
export function readWith(jobSet: Stored<JobSet>, recording: Recording | undefined): Stored<JobSet> {
  return isUnrecorded(jobSet) ? asRecorded(jobSet, recordedAnnotations(recording)) : jobSet;
}
