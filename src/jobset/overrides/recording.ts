/** What the first status of a JobSet records, and what of it is known before that. */
import type { StringMap } from '../../kube/meta.ts';
import type { PlannedEvent } from '../decision.ts';
import type { JobSet } from '../jobset.ts';
import { withNamespaceDefaults } from './namespace-defaults.ts';
import { toRecord } from './recorded-annotations.ts';

export interface Recording {
  readonly annotations: StringMap;
  /** False: the stored definition would drop it, so nobody acts on it. */
  readonly isKept: boolean;
  /** Defaults of the Namespace that are ignored. */
  readonly problems: readonly string[];
}

/** Whether a JobSet has no status yet, so that nothing was made for it. */
export function isUnrecorded({ status }: JobSet): boolean {
  return status?.restarts === undefined;
}

/** `lacks` names fields of the status that the stored definition does not have. */
export function recordingOf(
  jobSet: JobSet,
  ofNamespace: StringMap,
  {
    servesHub,
    lacks,
  }: { readonly servesHub: boolean; readonly lacks?: ReadonlySet<string> | undefined },
): Recording {
  const { jobSet: completed, problems } = withNamespaceDefaults(jobSet, ofNamespace, servesHub);
  const isKept = lacks?.has('recordedAnnotations') !== true;
  return { annotations: toRecord(jobSet, completed), isKept, problems };
}

export function recordedAnnotations(recording: Recording | undefined): StringMap | undefined {
  if (recording?.isKept !== true) return undefined;
  return Object.keys(recording.annotations).length === 0 ? undefined : recording.annotations;
}

export function recordingEvents(recording: Recording | undefined): readonly PlannedEvent[] {
  return (recording?.problems ?? []).map((note) => ({
    type: 'Warning',
    reason: 'NamespaceDefaultIgnored',
    note,
  }));
}
