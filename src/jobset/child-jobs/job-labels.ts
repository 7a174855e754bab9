/** What the labels of a child Job say about its place. */
import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import * as names from '../names.ts';

/**
 * Labels of a Job that a user has changed. Each is on the Pod template too, which Kubernetes keeps
 * immutable while the Job runs. So the template is trusted first, and the Job's own label is
 * corrected.
 */
export interface BrokenLabels {
  readonly job: Stored<Job>;
  /** Names each label, its value and what was expected. */
  readonly problem: string;
  /** Labels that have to be written. */
  readonly wanted: StringMap;
  /** Labels without a valid value in any source. */
  readonly lost: readonly string[];
}

/** The ReplicatedJob of a Job, or undefined if its labels do not say so. */
export function replicatedJobOf(job: Job): string | undefined {
  // A plan reads these labels more often than anything else, so each has its own direct access.
  const name = job.spec.template.metadata?.labels?.[names.REPLICATED_JOB_NAME] ?? '';
  return name === '' ? labelOf(job, names.REPLICATED_JOB_NAME) : name;
}

/** The index of a Job in its ReplicatedJob; NaN if its labels do not say so. */
export function jobIndexOf(job: Job): number {
  const text = job.spec.template.metadata?.labels?.[names.JOB_INDEX] ?? '';
  return Number(INTEGER.test(text) ? text : (labelOf(job, names.JOB_INDEX) ?? Number.NaN));
}

/** The attempt of all Jobs to which this one belongs; NaN if its labels do not say so. */
export function attemptOf(job: Job): number {
  const text = job.spec.template.metadata?.labels?.[names.RESTART_ATTEMPT] ?? '';
  return Number(INTEGER.test(text) ? text : (labelOf(job, names.RESTART_ATTEMPT) ?? Number.NaN));
}

/** The attempt of this Job alone. A Job without the label has never been restarted alone. */
export function jobAttemptOf(job: Job): number {
  return Number(labelOf(job, names.JOB_RESTART_ATTEMPT) ?? 0);
}

/** A label of a Job's place: from its Pod template if valid there, else from the Job. */
function labelOf(job: Job, key: PlaceLabel): string | undefined {
  const ofTemplate = job.spec.template.metadata?.labels?.[key];
  if (ofTemplate !== undefined && isLegal(key, ofTemplate)) return ofTemplate;
  const own = job.metadata.labels?.[key];
  return own !== undefined && isLegal(key, own) ? own : undefined;
}

/** Undefined if the Job's own labels have not changed. */
export function brokenLabels(job: Stored<Job>, hasJobAttempts: boolean): BrokenLabels | undefined {
  if (areWhole(job.metadata.labels, job.spec.template.metadata?.labels)) return undefined;
  let problems: string[] | undefined;
  const wanted: Record<string, string> = {};
  const lost: string[] = [];
  for (const key of hasJobAttempts ? ALL : WITHOUT_JOB_ATTEMPT) {
    const own = job.metadata.labels?.[key];
    const value = labelOf(job, key);
    if (own === value && (own !== undefined || key === names.JOB_RESTART_ATTEMPT)) continue;
    problems ??= [];
    problems.push(problemOf(key, own, value));
    if (value === undefined) lost.push(key);
    else wanted[key] = value;
  }
  if (problems === undefined) return undefined;
  const problem = `Job ${job.metadata.name}: ${problems.join('; ')}`;
  return { job, problem, wanted, lost };
}

/** This check is fast, and enough for nearly every Job. */
function areWhole(own: StringMap | undefined, ofTemplate: StringMap | undefined): boolean {
  if (own === undefined || ofTemplate === undefined) return false;
  const attempt = own[names.RESTART_ATTEMPT] ?? '';
  const index = own[names.JOB_INDEX] ?? '';
  const name = own[names.REPLICATED_JOB_NAME] ?? '';
  const jobAttempt = own[names.JOB_RESTART_ATTEMPT];
  return (
    attempt === ofTemplate[names.RESTART_ATTEMPT] &&
    index === ofTemplate[names.JOB_INDEX] &&
    name === ofTemplate[names.REPLICATED_JOB_NAME] &&
    jobAttempt === ofTemplate[names.JOB_RESTART_ATTEMPT] &&
    name !== '' &&
    INTEGER.test(attempt) &&
    INTEGER.test(index) &&
    (jobAttempt === undefined || INTEGER.test(jobAttempt))
  );
}

/** Whether the place of the Job is known in spite of its broken labels. */
export function isReadable({ lost }: BrokenLabels): boolean {
  return lost.length === 0;
}

type PlaceLabel = (typeof ALL)[number];

const WITHOUT_JOB_ATTEMPT = [
  names.RESTART_ATTEMPT,
  names.REPLICATED_JOB_NAME,
  names.JOB_INDEX,
] as const;
const ALL = [...WITHOUT_JOB_ATTEMPT, names.JOB_RESTART_ATTEMPT] as const;

function isLegal(key: PlaceLabel, value: string): boolean {
  return key === names.REPLICATED_JOB_NAME ? value !== '' : INTEGER.test(value);
}

const INTEGER = /^-?\d{1,10}$/;

function problemOf(key: PlaceLabel, own: string | undefined, value: string | undefined): string {
  const is = own === undefined ? 'is missing' : `is ${JSON.stringify(own)}`;
  const legal = key === names.REPLICATED_JOB_NAME ? 'a name' : 'an integer';
  return `label ${key} ${is}, expected ${value === undefined ? legal : JSON.stringify(value)}`;
}
