/**
 * What always holds (`docs/design/properties.md`), checked on all that happens to one JobSet. It
 * knows what no program may know: each failure, and each reason for the end of an epoch.
 */
import type { Stored } from '@lockstep/kube/meta.ts';
import { sumsOf } from '../jobset/goodput/classes.ts';
import type { JobSet } from '../jobset/jobset.ts';
import type { Goodput, JobSetStatus, RestartRecord } from '../jobset/jobset-status.ts';
import type { MemberRanks } from '../jobset/ranks/member-ranks.ts';
import { isFinished } from '../jobset/status/conditions.ts';
import { CertainCulprits } from './certain-culprits.ts';
import { RankNumbers } from './rank-numbers.ts';

/** A property that does not hold. */
export interface Violation {
  readonly property: PropertyName;
  readonly detail: string;
}

/** The names in the documentation, and what it says within them. */
export type PropertyName =
  | 'One epoch runs at a time'
  | 'Epochs never go back'
  | 'One restart for each burst'
  | 'The budget holds'
  | 'Each cause is charged once'
  | 'Every restart has a witness'
  | 'No failure is lost'
  | 'No slot starts two workers in one epoch'
  | 'Completed and Failed are final'
  | 'An outage stops no worker'
  | 'A quiet group comes to rest'
  | 'A certain culprit failed'
  | 'Ranks are numbered from 0'
  | 'Each second is counted once'
  | 'No worker has two standbys'
  | 'Each worker has a standby at rest'
  | 'No worker starts beside a preflight'
  | 'Who fails too often leaves its node'
  | 'A member leaves its node for a reason'
  | 'A release comes first'
  | 'A release waits for all members'
  | 'The startup order holds'
  | 'The history names each end'
  | 'A group completes when its work is done'
  | 'Webhooks judge what is stored'
  | 'A marker outlives a crash'
  | 'Strangers change nothing'
  | 'The operator does not contradict itself'
  | 'Nothing throws';

export interface RunningMember {
  readonly slot: string;
  readonly pod: string;
  readonly epoch: number | undefined;
  /** The numbers of the ranks that run in that epoch; absent: the worker is none. */
  readonly ranks?: MemberRanks | undefined;
}

/** The group as its user wants it. */
export interface WantedGroup {
  readonly maxRestarts: number;
  readonly isInOrder: boolean;
  /** How many ranks each member starts; absent: its worker is none. */
  readonly processes?: number | undefined;
  /** `replicatedJob/jobIndex/completionIndex` of each member. */
  readonly slots: () => readonly string[];
}

export class Properties {
  readonly #found: (violation: Violation) => void;
  readonly #wanted: WantedGroup;
  /** Slots whose workers have exited with 0. */
  readonly #succeeded = new Set<string>();
  /** `slot epoch` of each start of a worker. */
  readonly #starts = new Set<string>();
  /** Epochs that may end, because something befell them. */
  readonly #mayEnd = new Set<number>();
  /** Epochs that have to end, because a worker of theirs failed. */
  readonly #mustEnd = new Map<number, string>();
  readonly #culprits: CertainCulprits;
  readonly #numbers: RankNumbers;
  /** While above 0, any epoch may end. */
  #excuses = 0;
  #status: JobSetStatus = {};
  #uncountedMs: number | undefined;

  constructor(wanted: WantedGroup, found: (violation: Violation) => void) {
    this.#wanted = wanted;
    this.#found = found;
    this.#culprits = new CertainCulprits((detail) =>
      this.#violates('A certain culprit failed', detail),
    );
    this.#numbers = new RankNumbers(wanted.processes, (detail) =>
      this.#violates('Ranks are numbered from 0', detail),
    );
  }

  /** The epoch that runs, or is about to. */
  get epoch(): number {
    return (this.#status.deprecatedEpoch ?? 0) + 1;
  }

  get isFinished(): boolean {
    return isFinished(this.#status.conditions);
  }

  /**
   * Something befalls a member that may end the epoch; undefined: all members. One whose worker does
   * not run may have announced the next epoch already. `local`: it befalls this rank of the member.
   */
  befell(member: RunningMember | undefined, local?: number): void {
    const next = member === undefined ? this.epoch : this.epoch + 1;
    for (const epoch of new Set([this.epoch, member?.epoch ?? next])) {
      this.#mayEnd.add(epoch);
      if (member !== undefined) this.#culprits.befell(member, epoch, local);
    }
  }

  /** The user asks for another size. */
  resized(): void {
    this.befell(undefined);
    this.#numbers.resized();
  }

  /** From now on until the call of what it returns, any epoch may end. */
  excuse(): () => void {
    this.#excuses++;
    return () => {
      this.#mayEnd.add(this.epoch);
      this.#culprits.excuse(this.epoch);
      this.#excuses--;
    };
  }

  started(member: RunningMember, epoch: number, running: readonly RunningMember[]): void {
    const { slot, ranks } = member;
    this.#numbers.started(slot, epoch, ranks);
    const others = running.filter((each) => each.epoch !== undefined && each.epoch !== epoch);
    for (const other of others) {
      this.#violates(
        'One epoch runs at a time',
        `${slot} starts in epoch ${epoch} while ${other.slot} runs in epoch ${other.epoch}`,
      );
    }
    const key = `${slot} ${epoch}`;
    if (this.#starts.has(key)) {
      this.#violates('No slot starts two workers in one epoch', `${slot} in epoch ${epoch}`);
    }
    this.#starts.add(key);
    const [name] = slot.split('/');
    const stage = this.#status.replicatedJobsStatus?.find((each) => each.name === name);
    if ((stage?.syncedEpoch ?? 0) < epoch) {
      const released = `${name} is released up to ${stage?.syncedEpoch ?? 0}`;
      this.#violates('A release comes first', `${slot} starts in epoch ${epoch}, ${released}`);
    }
  }

  /** The worker has exited with 0. */
  succeeded({ slot }: RunningMember): void {
    this.#succeeded.add(slot);
  }

  /** The agent of a member stops its worker because the epoch is over. */
  stopped({ slot }: RunningMember, epoch: number): void {
    if (epoch >= this.epoch)
      this.#violates('An outage stops no worker', `${slot} in epoch ${epoch}`);
  }

  /** The worker of a member has ended otherwise than with 0, or does nothing more. */
  failed({ slot }: RunningMember, epoch: number): void {
    this.#mustEnd.set(epoch, slot);
  }

  wrote({ status = {}, metadata }: Stored<JobSet>): void {
    const old = this.#status;
    this.#status = status;
    this.#checkEpochs(old, status);
    if (isFinished(old.conditions) && !isFinished(status.conditions)) {
      this.#violates(
        'Completed and Failed are final',
        'the JobSet was finished, and is not any more',
      );
    }
    const charged = chargesOf(status);
    const { maxRestarts } = this.#wanted;
    const fails = isIn('Failed', status) && !isIn('Failed', old);
    if (charged > maxRestarts || (fails && charged < maxRestarts)) {
      const end = fails ? 'it fails with ' : '';
      this.#violates('The budget holds', `${end}${charged} charged, ${maxRestarts} are allowed`);
    }
    if (isIn('Completed', status) && !isIn('Completed', old)) {
      const open = this.#wanted.slots().filter((slot) => !this.#succeeded.has(slot));
      if (open.length > 0) {
        this.#violates('A group completes when its work is done', `not done: ${open.join(', ')}`);
      }
    }
    const [record] = status.restartHistory ?? [];
    if (record !== undefined) this.#culprits.wrote(record);
    this.#checkOrder(old, status);
    this.#checkTime(status.goodput, Date.parse(metadata.creationTimestamp ?? ''));
  }

  /** Whether each failure has led to a new epoch, or the JobSet is over. */
  get isAnswered(): boolean {
    return this.isFinished || [...this.#mustEnd.keys()].every((epoch) => epoch < this.epoch);
  }

  /** Nothing more befalls the group. `isAtRest`: all members run in the newest epoch, or it is over. */
  rests(isAtRest: boolean, running: readonly RunningMember[]): void {
    for (const [epoch, slot] of this.isFinished ? [] : this.#mustEnd) {
      if (epoch >= this.epoch) this.#violates('No failure is lost', `${slot} in epoch ${epoch}`);
    }
    if (isAtRest) {
      if (this.#succeeded.size === 0 && !this.isFinished) {
        this.#numbers.rests(this.epoch, this.#wanted.slots());
      }
      return;
    }
    const told = running.map(({ slot, epoch }) => `${slot}: ${epoch ?? 'waits'}`).join(', ');
    const { deprecatedEpoch, syncedEpoch } = this.#status;
    const detail = `deprecatedEpoch ${deprecatedEpoch}, syncedEpoch ${syncedEpoch}; ${told}`;
    this.#violates('A quiet group comes to rest', detail);
  }

  /** The disk of a member has stopped. `what` its agents did and its marker does not say; undefined: nothing. */
  forgot(slot: string, what: string | undefined): void {
    if (what !== undefined) this.#violates('A marker outlives a crash', `${slot}: ${what}`);
  }

  threw({ stack, message }: Error): void {
    this.#violates('Nothing throws', stack ?? message);
  }

  contradicted(error: Error): void {
    this.#violates('The operator does not contradict itself', error.message);
  }

  #checkEpochs(old: JobSetStatus, status: JobSetStatus): void {
    const before = old.deprecatedEpoch ?? 0;
    const ended = status.deprecatedEpoch ?? 0;
    if (ended < before) this.#violates('Epochs never go back', `${before} to ${ended}`);
    for (const { name, syncedEpoch = 0 } of status.replicatedJobsStatus ?? []) {
      const released = old.replicatedJobsStatus?.find((each) => each.name === name)?.syncedEpoch;
      if (syncedEpoch < (released ?? 0) || syncedEpoch > ended + 1) {
        this.#violates('Epochs never go back', `${name}: ${released} to ${syncedEpoch}`);
      }
    }
    const charge = chargesOf(status) - chargesOf(old);
    if (ended === before) {
      if (charge !== 0) this.#violates('Each cause is charged once', `${charge} without an end`);
      return;
    }
    if (ended > before + 1) {
      this.#violates('One restart for each burst', `${before} to ${ended} in one write`);
    }
    this.#checkEnd(ended, charge, status.restartHistory ?? []);
  }

  /** A ReplicatedJob is released in a later write than the one before it, unless that has no work left. */
  #checkOrder(old: JobSetStatus, { replicatedJobsStatus = [] }: JobSetStatus): void {
    if (!this.#wanted.isInOrder) return;
    const slots = this.#wanted.slots();
    const names = [...new Set(slots.map((slot) => slot.split('/')[0] ?? ''))];
    const epochs = (of: typeof replicatedJobsStatus) =>
      new Map(of.map((each) => [each.name, each.syncedEpoch ?? 0]));
    const was = epochs(old.replicatedJobsStatus ?? []);
    const released = epochs(replicatedJobsStatus);
    for (const [index, name] of names.slice(1).entries()) {
      const before = names[index] ?? '';
      const epoch = released.get(name) ?? 0;
      const open = slots.filter((s) => s.startsWith(`${before}/`) && !this.#succeeded.has(s));
      const isReleased = epoch > (was.get(name) ?? 0);
      if (!isReleased || open.length === 0 || epoch <= (was.get(before) ?? 0)) continue;
      this.#violates('The startup order holds', `${name} before ${before} in epoch ${epoch}`);
    }
  }

  #checkEnd(epoch: number, charge: number, history: readonly RestartRecord[]): void {
    const [record] = history;
    const epochs = history.map((each) => each.epoch);
    if (epochs[0] !== epoch || epochs.some((each, index) => each <= (epochs[index + 1] ?? 0))) {
      this.#violates('The history names each end', `${epochs.join(', ')} at the end of ${epoch}`);
    }
    if (charge !== (record?.counted === true ? 1 : 0)) {
      this.#violates('Each cause is charged once', `${charge} for the end of epoch ${epoch}`);
    }
    if (!this.#mayEnd.has(epoch) && this.#excuses === 0) {
      this.#violates(
        'One restart for each burst',
        `nothing befell epoch ${epoch}: ${record?.cause}`,
      );
    }
    const isFailure = record?.cause === 'WorkerFailed' || record?.cause === 'StartFailed';
    if (isFailure && record.witness === undefined) {
      this.#violates('Every restart has a witness', `the end of epoch ${epoch} has none`);
    }
    if (this.#excuses > 0) {
      this.#culprits.excuse(epoch);
      return;
    }
    const victims = this.#culprits.victimsOf(epoch);
    if (charge > 0 && victims === undefined) {
      this.#violates('Each cause is charged once', `nothing failed in epoch ${epoch}`);
    }
    const witness = record?.witness?.pod;
    // A new Pod in a victim's slot may be all that is left to see.
    const slots = new Set([...(victims ?? [])].map(withoutSuffix));
    if (isFailure && witness !== undefined && !slots.has(withoutSuffix(witness))) {
      this.#violates('Every restart has a witness', `nothing befell ${witness} in epoch ${epoch}`);
    }
  }

  /** The part of the time that no sum has is as long after each write as after the first. */
  #checkTime(goodput: Goodput | undefined, createdMs: number): void {
    if (goodput === undefined) return;
    const uncountedMs = Date.parse(goodput.time) - createdMs - countedMs(goodput);
    this.#uncountedMs ??= uncountedMs;
    if (Math.abs(uncountedMs - this.#uncountedMs) > 1) {
      this.#violates('Each second is counted once', `${uncountedMs} ms are in no sum`);
    }
  }

  #violates(property: PropertyName, detail: string): void {
    this.#found({ property, detail });
  }
}

/** The name that all Pods of one slot share. */
function withoutSuffix(pod: string): string {
  return pod.slice(0, pod.lastIndexOf('-'));
}

function isIn(type: 'Completed' | 'Failed', { conditions = [] }: JobSetStatus): boolean {
  return conditions.some((each) => each.type === type && each.status === 'True');
}

function chargesOf(status: JobSetStatus): number {
  let sum = (status.restartsCountTowardsMax ?? 0) + (status.inPlaceRestartsCountTowardsMax ?? 0);
  for (const { jobRestartsCountTowardsMax = [] } of status.replicatedJobsStatus ?? []) {
    for (const restarts of jobRestartsCountTowardsMax) sum += restarts;
  }
  return sum;
}

function countedMs(goodput: Goodput): number {
  const sums = Object.values(sumsOf(goodput));
  const open = (goodput.pendingMs ?? 0) + (goodput.held?.ms ?? 0);
  return sums.reduce((sum, ms) => sum + ms, open);
}
