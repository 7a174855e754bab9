/**
 * What the server tells a page that shows one JobSet: everything at first, then what has changed.
 * Times are Unix milliseconds of the machine on which the server runs, which is the page's own.
 */
import type { RestartCost } from '../../jobset/goodput/restart-cost.ts';
import type { TimelineSegment } from '../../jobset/goodput/timeline.ts';
import type { SpecView } from '../../jobset/view/spec-view.ts';
import type { JobSetView, MemberView } from '../../jobset/view/status-view.ts';
import type { Action } from './action.ts';
import type { ProblemsMessage } from './problems.ts';

export type RunMessage =
  | { readonly type: 'Run'; readonly run: RunView }
  /**
   * Members that came or lost a field, those that changed, and the names of the Pods of those that
   * went.
   */
  | {
      readonly type: 'Members';
      readonly came: readonly RunMember[];
      readonly changed: readonly MemberChange[];
      readonly gone: readonly string[];
    }
  /** Newer than all before, the oldest first. */
  | { readonly type: 'Samples'; readonly samples: readonly Sample[] }
  /** All that are known, the oldest first. */
  | { readonly type: 'Events'; readonly events: readonly EventView[] }
  /** The JobSet was deleted. What was sent stays true of its end. */
  | { readonly type: 'Gone' }
  | ProblemsMessage;

/**
 * What its worker reports is as of `atMs`: `silentMs`, `firstStepMs` and `checkpointMs` grow from there
 * on, and are not sent again for that.
 */
export interface RunMember extends MemberView {
  readonly atMs: number;
}

/** What is not as before, and the name of the Pod that it is about. */
export type MemberChange = Pick<RunMember, 'pod'> & Partial<RunMember>;

/** All about a JobSet that changes seldom. */
export interface RunView {
  readonly uid: string;
  readonly createdMs: number;
  /** When this was true. */
  readonly atMs: number;
  readonly jobSet: JobSetView;
  /** What became of the time from the creation to `atMs`, in order and without gaps. */
  readonly segments: readonly TimelineSegment[];
  /** What each recorded restart cost, as far as it is known; none is known of the oldest. */
  readonly costs: readonly EpochCost[];
  readonly conditions: readonly DatedCondition[];
  readonly spec: SpecView;
  /** What the user may do to it, and what it does not rule out now. */
  readonly actions: readonly ActionOffer[];
  /** Flags of kubectl and of our own command that lead to its cluster. */
  readonly clusterFlags: readonly string[];
}

export interface EpochCost extends RestartCost {
  /** The epoch that ended. */
  readonly epoch: number;
}

export interface DatedCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly timeMs: number;
}

/** A Kubernetes Event of the JobSet, or one or more of its Jobs or Pods. */
export interface EventView {
  readonly uid: string;
  readonly timeMs: number;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  /** `Pod train-w-0-0-x7k2p`, or how many; empty: the JobSet itself. */
  readonly about: string;
}

/** How fast the group was at one moment. */
export interface Sample {
  readonly atMs: number;
  readonly epoch: number | null;
  readonly lowestStep: number | null;
  readonly highestStep: number | null;
  /** Median of the members; null: not known. */
  readonly stepsPerSecond: number | null;
  /** The slowest first, at most `MAX_SLOWEST`. */
  readonly slowest: readonly { readonly pod: string; readonly stepsPerSecond: number }[];
}

export const MAX_SLOWEST = 5;

/** Samples that a page and the server keep; older ones are dropped. */
export const MAX_SAMPLES = 3600;

export interface ActionOffer {
  readonly action: Action['kind'];
  /** Why it cannot be done now, as a sentence; null: it can. */
  readonly refusal: string | null;
}

export interface RunState {
  readonly run: RunView | null;
  /** By name of the Pod. */
  readonly members: ReadonlyMap<string, RunMember>;
  readonly samples: readonly Sample[];
  readonly events: readonly EventView[];
  readonly isGone: boolean;
  readonly problems: readonly string[];
}

export const EMPTY_RUN: RunState = {
  run: null,
  members: new Map(),
  samples: [],
  events: [],
  isGone: false,
  problems: [],
};

export function withRunMessage(before: RunState, message: RunMessage): RunState {
  switch (message.type) {
    case 'Run':
      return { ...before, run: message.run };
    case 'Members':
      return { ...before, members: withMembers(before.members, message) };
    case 'Samples':
      return { ...before, samples: [...before.samples, ...message.samples].slice(-MAX_SAMPLES) };
    case 'Events':
      return { ...before, events: message.events };
    case 'Gone':
      return { ...before, isGone: true };
    case 'Problems':
      return { ...before, problems: message.problems };
  }
}

/** By name of the Pod. A change of an unknown member is left out. */
export function withMembers(
  before: ReadonlyMap<string, RunMember>,
  { came, changed, gone }: Omit<Extract<RunMessage, { type: 'Members' }>, 'type'>,
): ReadonlyMap<string, RunMember> {
  const members = new Map(before);
  for (const pod of gone) members.delete(pod);
  for (const member of came) members.set(member.pod, member);
  for (const change of changed) {
    const member = members.get(change.pod);
    if (member !== undefined) members.set(change.pod, { ...member, ...change });
  }
  return members;
}
