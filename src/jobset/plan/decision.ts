/**
 * The result of a step of a plan. Steps write nothing: each returns decisions, and `merge.ts` puts
 * the decisions of all steps together, in the order of the steps in `plan.ts`.
 */
import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import type { PersistentVolumeClaim, Service } from '@lockstep/kube/objects/core.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { JobSize } from '../child-jobs/elastic.ts';
import type { JobResume } from '../child-jobs/job-resume.ts';
import type { AgentRights } from '../injection/agent-rights.ts';
import type {
  AccountedClass,
  JobSetStatus,
  RestartCause,
  RestartPhases,
} from '../jobset-status.ts';
import type { ReplacementCause } from '../policies/ladder-settings.ts';
import type { OverduePod, PodFacts } from '../roster/pod-facts.ts';
import type { ConditionChange } from '../status/conditions.ts';
import type { CountersPutOff } from '../status/counters.ts';
import type { Question } from './questions.ts';
import type { MissingState } from './snapshot.ts';

export interface Decision {
  readonly status?: StatusChange;
  /** Applied one after the other, after `status`. */
  readonly conditions?: readonly ConditionChange[];
  /** Recorded before the Events of the conditions. */
  readonly events?: readonly PlannedEvent[];
  readonly outcomes?: readonly Counted[];
  readonly actions?: readonly Action[];
  /** The plan cannot continue without the answer, and drops its other decisions. */
  readonly question?: Question;
  /** When time alone calls for another plan; the earliest counts. */
  readonly requeueAfterMs?: number | undefined;
  /** Later steps wait for the next plan. */
  readonly isLast?: true;
  /** The write belongs to a group restart: counters stay, because they will soon be right again. */
  readonly keepsCounters?: boolean;
  readonly countersPutOff?: CountersPutOff;
  /** Which members of the group are missing, or not ready. */
  readonly missing?: MissingState;
}

/** Fields that differ from what is stored. An undefined field is removed. */
export type StatusChange = { readonly [K in keyof JobSetStatus]?: JobSetStatus[K] | undefined };

/** Reads only its facts. It returns no decision if there is nothing to do. */
export type Step<F> = (facts: F) => readonly Decision[];

export const LAST: Decision = { isLast: true };

/** Takes the steps one after the other, until one asks or is the last. */
export function inOrder<F>(steps: readonly Step<F>[], facts: F): readonly Decision[] {
  const decisions: Decision[] = [];
  for (const step of steps) {
    const made = step(facts);
    decisions.push(...made);
    if (made.some(({ question, isLast }) => question !== undefined || isLast === true)) break;
  }
  return decisions;
}

/** An Event about the JobSet, to be recorded after its status was written. */
export interface PlannedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
  /** The Event is about a lasting state: it is recorded once, though each plan has it again. */
  readonly isOnce?: true;
}

/** What metrics count. */
export type Counted =
  | { readonly kind: 'Completed' }
  | { readonly kind: 'Failed' }
  | { readonly kind: 'JobsRestarted'; readonly counted: boolean }
  | {
      readonly kind: 'EpochEnded';
      readonly cause: RestartCause;
      readonly counted: boolean;
      readonly detectMs?: number | undefined;
    }
  | ({ readonly kind: 'EpochReleased' } & Omit<RestartPhases, 'detectMs'>)
  /** By how much sums of `status.goodput` have grown. */
  | {
      readonly kind: 'TimeAccounted';
      readonly ms: { readonly [C in AccountedClass]?: number };
    }
  | { readonly kind: 'MemberReplaced'; readonly cause: ReplacementCause };

/** One request to the API server. It can be repeated without harm. */
export type Action =
  | { readonly kind: 'CreateService'; readonly service: Service }
  | { readonly kind: 'CreateClaim'; readonly claim: PersistentVolumeClaim }
  /** Before the Jobs whose Pods use them. */
  | { readonly kind: 'GrantAgentRights'; readonly rights: AgentRights }
  | { readonly kind: 'CreateJob'; readonly job: Job }
  | { readonly kind: 'DeleteJob'; readonly job: Stored<Job> }
  | { readonly kind: 'RelabelJob'; readonly job: Stored<Job>; readonly labels: StringMap }
  | { readonly kind: 'ResizeJob'; readonly job: Stored<Job>; readonly size: JobSize }
  | { readonly kind: 'SuspendJob'; readonly job: Stored<Job> }
  | { readonly kind: 'ResumeJob'; readonly job: Stored<Job>; readonly resume: JobResume }
  /** The Pod's node is lost, and its deadline has passed: it counts as failed from now on. */
  | { readonly kind: 'DeleteLostPod'; readonly pod: OverduePod }
  /** The Pod has to leave its node. `message` is for the Pod's condition about that. */
  | { readonly kind: 'ReplaceMember'; readonly pod: PodFacts; readonly message: string }
  /** The JobSet's time to live is over. */
  | { readonly kind: 'DeleteJobSet' };
