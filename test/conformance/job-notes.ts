/** Reduces a Job and its Pods to what a controller decides, without anything that is chance. */

import { controllerOf, type Stored } from '@lockstep/kube/meta.ts';
import { JOB_TRACKING_FINALIZER, type Job, type JobStatus } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';

/** The status of a Job; undefined if there is no Job. */
export type JobNote =
  | (Omit<JobStatus, 'conditions' | 'uncountedTerminatedPods'> & {
      /** `Type=Status Reason: message`. */
      readonly conditions?: readonly string[];
      /** The number of UIDs. */
      readonly uncountedTerminatedPods?: { readonly succeeded?: number; readonly failed?: number };
    })
  | null;

export interface PodNote {
  readonly generateName?: string | undefined;
  readonly hostname?: string | undefined;
  readonly phase: string | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly isDeleted: boolean;
  readonly isTracked: boolean;
  readonly isControlled: boolean;
}

const UID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

export class JobNotes {
  /** Times, in order of their appearance. */
  readonly #moments: string[] = [];

  /** The Job with its members sorted by name. */
  job(job: Stored<Job> | undefined): JobNote {
    if (job === undefined) return null;
    const { conditions, uncountedTerminatedPods, startTime, completionTime, ...counters } =
      job.status ?? {};
    const note: JobNote = {
      ...counters,
      ...(startTime === undefined ? {} : { startTime: this.#start(startTime) }),
      ...(completionTime === undefined ? {} : { completionTime: '*' }),
      ...(uncountedTerminatedPods === undefined
        ? {}
        : { uncountedTerminatedPods: countsOf(uncountedTerminatedPods) }),
      ...(conditions === undefined
        ? {}
        : {
            conditions: conditions.map(
              ({ type, status, reason = '', message = '' }) =>
                `${type}=${status} ${reason}: ${this.text(message)}`,
            ),
          }),
    };
    return Object.fromEntries(Object.entries(note).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  pods(pods: readonly Stored<Pod>[]): readonly PodNote[] {
    const notes = pods.map((pod) => this.#pod(pod));
    return notes.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }

  /** A text without the random ends of the names of Pods, and without the namespace. */
  text(text: string): string {
    return text
      .replaceAll(/\bjob(-\d+)?-[a-z0-9]{5}\b/g, (_, index = '') => `job${index}-*`)
      .replaceAll(/\bbare-[a-z0-9]{5}\b/g, 'bare-*')
      .replaceAll(/\bplay-[a-z0-9]{5}\b/g, 'play');
  }

  #start(time: string): string {
    if (!this.#moments.includes(time)) this.#moments.push(time);
    return `start ${this.#moments.indexOf(time) + 1}`;
  }

  #pod({ metadata, spec, status }: Stored<Pod>): PodNote {
    const withoutUids = (map: Readonly<Record<string, string>> = {}) =>
      Object.fromEntries(
        Object.entries(map)
          .map(([key, value]) => [key, value.replaceAll(UID, '<uid>')] as const)
          .toSorted(([a], [b]) => (a < b ? -1 : 1)),
      );
    return {
      generateName: metadata.generateName,
      hostname: spec.hostname,
      phase: status?.phase,
      labels: withoutUids(metadata.labels),
      annotations: withoutUids(metadata.annotations),
      isDeleted: metadata.deletionTimestamp !== undefined,
      isTracked: metadata.finalizers?.includes(JOB_TRACKING_FINALIZER) === true,
      isControlled: controllerOf(metadata) !== undefined,
    };
  }
}

function countsOf({
  succeeded,
  failed,
}: NonNullable<JobStatus['uncountedTerminatedPods']>): NonNullable<
  NonNullable<JobNote>['uncountedTerminatedPods']
> {
  return {
    ...(succeeded === undefined ? {} : { succeeded: succeeded.length }),
    ...(failed === undefined ? {} : { failed: failed.length }),
  };
}
