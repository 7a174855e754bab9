/** The annotations that the first status of a JobSet records. */
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { JobSet } from '../jobset.ts';

export interface Recording {
  readonly annotations: StringMap;
  /** False: the stored definition would drop the record, so the operator does not act on it. */
  readonly isKept: boolean;
  /** Defaults of the Namespace that are ignored. */
  readonly problems: readonly string[];
}

/** Whether a JobSet has no status yet, so the operator has made nothing for it. */
export function isUnrecorded({ status }: JobSet): boolean {
  return status?.restarts === undefined;
}

/** Undefined: there is nothing to record, or it would be lost. */
export function recordedAnnotations(recording: Recording | undefined): StringMap | undefined {
  if (recording?.isKept !== true) return undefined;
  return Object.keys(recording.annotations).length === 0 ? undefined : recording.annotations;
}
