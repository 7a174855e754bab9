/**
 * A small group as a transition system: the operator with the real planner, agents with the real
 * barrier, and the API server between them. Everything can be late, and at most so many faults
 * happen. It checks each step against the properties of the protocol (`docs/design/properties.md`).
 */
import { step } from '../../agent/barrier.ts';
import type { GroupSnapshot } from '../../agent/channel.ts';
import { groupState } from '../../jobset/epoch/group-state.ts';
import { BrokenInvariant } from '../../jobset/invariant.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import { plan } from '../../jobset/plan.ts';
import { isTrue } from '../../jobset/status/conditions.ts';
import { epochsOf } from '../../jobset/status/epochs.ts';
import type { Violation } from '../properties.ts';
import { brokenByRest, brokenByStart, brokenByWrite } from './broken.ts';
import type { State, Transition, TransitionSystem } from './explorer.ts';
import { Interned } from './interned.ts';
import {
  faultsOf,
  listed,
  type Member,
  type Mode,
  type Move,
  movesOf,
  NEW_MEMBER,
} from './member.ts';
import { type OperatorState, outcomesOf, type Write } from './operator-writes.ts';
import { Planner } from './planned-write.ts';
import { REPLICATED_JOB } from './planner-input.ts';

export interface GroupOptions {
  readonly members: number;
  readonly mode: Mode;
  /** How many faults happen at most. */
  readonly faults: number;
  /** By default more than there are faults. */
  readonly maxRestarts?: number;
  /** Another planner or barrier, with a bug that has to be found. */
  readonly plan?: typeof plan;
  readonly step?: typeof step;
  /** A bug: the API server takes a write that was decided on an older version. */
  readonly takesOldWrites?: boolean;
}

/** What is not in a member. */
interface Shared extends OperatorState {
  /** Epochs that have not ended, and may. */
  readonly mayEnd: readonly number[];
  /** Epochs that have not ended, and have to. */
  readonly mustEnd: readonly number[];
  /** The operator has deleted the Job, because the JobSet has failed. */
  readonly isJobGone: boolean;
}

/** A move of a member, with the number of the member after it. */
interface KnownMove extends Move {
  readonly id: number;
}

const NO_LIMIT = 1000;

/** A state is the number of the shared part, and then the numbers of the members. */
export class SmallGroup implements TransitionSystem {
  readonly initial: State;
  readonly #options: GroupOptions;
  readonly #planner: Planner;
  readonly #members = new Interned<Member>();
  readonly #shared = new Interned<Shared>();
  /** By the versions of the JobSet and the member. */
  readonly #moves = new Map<string, readonly KnownMove[]>();
  readonly #snapshots = new Map<string, readonly GroupSnapshot[]>();

  constructor(options: GroupOptions) {
    this.#options = options;
    const { members, mode, faults } = options;
    this.#planner = new Planner({
      members,
      mode,
      maxRestarts: this.#maxRestarts,
      plan: options.plan ?? plan,
    });
    const shared = this.#shared.idOf({
      versions: [this.#planner.first],
      cached: 0,
      writes: [],
      faults,
      mayEnd: [],
      mustEnd: [],
      isJobGone: false,
    });
    const member = this.#members.idOf(NEW_MEMBER);
    this.initial = [shared, ...Array<number>(members).fill(member)];
  }

  canonical([shared = 0, ...members]: State): State {
    return [shared, ...members.sort((a, b) => a - b)];
  }

  transitions(state: State): readonly Transition[] {
    const [id = 0, ...members] = state;
    const shared = this.#shared.valueOf(id);
    return [
      ...members.flatMap((member, slot) => this.#moved(state, shared, slot, member)),
      ...this.#operated(state, shared, this.#membersOf(state)),
      ...shared.writes.flatMap((write) => this.#written(state, shared, write)),
    ];
  }

  describe([shared = 0, ...members]: State): string {
    const { versions } = this.#shared.valueOf(shared);
    const { deprecated, synced } = epochsOf(this.#statusOf(versions.at(-1) ?? 0));
    const words = members.map((member, slot) => {
      const { worker, agent, stored } = this.#members.valueOf(member);
      const runs = worker > 0 ? `runs in epoch ${worker}` : 'does not run';
      return `member ${slot} ${runs}, announced ${stored?.epoch ?? 'nothing'}, its agent is ${agent?.stage.name ?? 'down'}`;
    });
    const isOver = this.#isOver(versions) ? ', Failed' : '';
    return `D = ${deprecated}, S = ${synced}${isOver}; ${words.join('; ')}`;
  }

  unrest(state: State): Violation | undefined {
    const { versions, mustEnd } = this.#shared.valueOf(state[0] ?? 0);
    return brokenByRest(this.#statusOf(versions.at(-1) ?? 0), mustEnd, this.#membersOf(state));
  }

  #membersOf([, ...members]: State): readonly Member[] {
    return members.map((member) => this.#members.valueOf(member));
  }

  get #maxRestarts(): number {
    return this.#options.maxRestarts ?? NO_LIMIT;
  }

  #isOver(versions: readonly number[]): boolean {
    return isTrue(this.#statusOf(versions.at(-1) ?? 0).conditions, 'Failed');
  }

  #statusOf(id: number): JobSetStatus {
    return this.#planner.statuses.valueOf(id);
  }

  /** What a member or its surroundings do. */
  #moved(state: State, shared: Shared, slot: number, member: number): readonly Transition[] {
    const moves = this.#movesOf(member, shared);
    return moves
      .filter(({ isFault }) => !isFault || shared.faults > 0)
      .map((move): Transition => {
        const next = this.#after(state, shared, slot, move);
        const { isFault, text, starts } = move;
        return {
          to: next,
          isFault,
          text: () => `member ${slot}: ${text}`,
          violation:
            move.violation ??
            (starts > 0 ? brokenByStart(this.#membersOf(state), slot, starts) : undefined),
        };
      });
  }

  #movesOf(id: number, { versions, isJobGone }: Shared): readonly KnownMove[] {
    const key = `${id} ${versions.join()} ${isJobGone}`;
    let moves = this.#moves.get(key);
    if (moves === undefined) {
      const member = this.#members.valueOf(id);
      const world = {
        mode: this.#options.mode,
        step: this.#options.step ?? step,
        snapshots: this.#snapshotsOf(versions),
        isJobGone,
      };
      moves = [...movesOf(member, world), ...faultsOf(member, world)].map((move) => ({
        ...move,
        id: this.#members.idOf(move.to),
      }));
      this.#moves.set(key, moves);
    }
    return moves;
  }

  /** What agents see, as the real channels translate a JobSet for them. */
  #snapshotsOf(versions: readonly number[]): readonly GroupSnapshot[] {
    const key = versions.join();
    let snapshots = this.#snapshots.get(key);
    if (snapshots === undefined) {
      snapshots = versions.map((status, version) => ({
        ...groupState(this.#planner.jobSet(status, version), REPLICATED_JOB),
        isFresh: false,
        members: this.#options.members,
      }));
      this.#snapshots.set(key, snapshots);
    }
    return snapshots;
  }

  #after(state: State, shared: Shared, slot: number, move: KnownMove): State {
    const to = [...state];
    to[slot + 1] = move.id;
    if (!move.isFault && move.mayEnd.length === 0) return to;
    const isOpen = this.#isOpen(shared.versions);
    const open = (epochs: readonly number[]): readonly number[] =>
      [...new Set(epochs)].filter(isOpen).sort((a, b) => a - b);
    to[0] = this.#shared.idOf({
      ...shared,
      faults: shared.faults - (move.isFault ? 1 : 0),
      mayEnd: open([...shared.mayEnd, ...move.mayEnd]),
      mustEnd: open([...shared.mustEnd, move.lost]),
    });
    return to;
  }

  /** What the operator does. */
  #operated(state: State, shared: Shared, members: readonly Member[]): readonly Transition[] {
    const { versions, cached, writes, faults } = shared;
    const newest = versions.length - 1;
    const found: Transition[] = [];
    const add = (text: string, next: Partial<Shared>, more: Partial<Transition> = {}): void => {
      const to = [this.#shared.idOf({ ...shared, ...next }), ...state.slice(1)];
      found.push({ to, isFault: false, text: () => `operator: ${text}`, ...more });
    };
    if (cached < newest) add(`sees version ${cached + 2}`, { cached: cached + 1 });
    if (!shared.isJobGone && !writes.some(({ isAwaited }) => isAwaited)) {
      try {
        const planned = this.#planner.write(
          versions[cached] ?? 0,
          members.map(({ seen }) => seen),
          versions[newest] ?? 0,
          members.map(({ stored }) => stored),
        );
        if (planned === 'DeleteJob') add('deletes the Job', { isJobGone: true });
        else if (planned !== undefined) {
          const version = planned.isOnFresh ? newest : cached;
          const { status } = planned;
          const write = { version, status, isAwaited: true };
          const { deprecated, synced } = epochsOf(this.#statusOf(status));
          const text = `writes D = ${deprecated}, S = ${synced} on version ${version + 1}`;
          add(text, { cached: version, writes: [...writes, write] });
        }
      } catch (error) {
        if (!(error instanceof BrokenInvariant)) throw error;
        const property = 'The operator does not contradict itself';
        add('plans', {}, { violation: { property, detail: error.message } });
      }
    }
    if (faults > 0) {
      const late = writes.map((write) => ({ ...write, isAwaited: false }));
      const relisted = members.map((member) => this.#members.idOf(listed(member)));
      const next = { ...shared, cached: newest, writes: late, faults: faults - 1 };
      const to = [this.#shared.idOf(next), ...relisted];
      found.push({ to, isFault: true, text: () => 'operator: crashes and starts again' });
    }
    return found;
  }

  /** What becomes of a write. */
  #written(state: State, shared: Shared, write: Write): readonly Transition[] {
    return outcomesOf(shared, write, this.#options.takesOldWrites).map((outcome): Transition => {
      const { isFault, text, isStored } = outcome;
      const next = isStored ? this.#stored(outcome.next) : outcome.next;
      return {
        to: [this.#shared.idOf(next), ...state.slice(1)],
        isFault,
        text: () => text,
        violation: isStored
          ? brokenByWrite(
              this.#statusOf(shared.versions.at(-1) ?? 0),
              this.#statusOf(write.status),
              shared.mayEnd,
              this.#membersOf(state),
              this.#maxRestarts,
            )
          : undefined,
      };
    });
  }

  /** Epochs that are over do not matter any more. */
  #stored(shared: Shared): Shared {
    const isOpen = this.#isOpen(shared.versions);
    const { mayEnd, mustEnd } = shared;
    return { ...shared, mayEnd: mayEnd.filter(isOpen), mustEnd: mustEnd.filter(isOpen) };
  }

  /** Whether an epoch may end, or has to. */
  #isOpen(versions: readonly number[]): (epoch: number) => boolean {
    const { deprecated } = epochsOf(this.#statusOf(versions.at(-1) ?? 0));
    const isOver = this.#isOver(versions);
    return (epoch) => !isOver && epoch > deprecated;
  }
}
