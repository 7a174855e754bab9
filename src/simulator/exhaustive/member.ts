/**
 * One member of the explored group: its Pod at the API server, the real barrier of its agent, its
 * worker, and what the operator has seen of the Pod. A member never changes: each event gives another.
 */
import type { step } from '../../agent/barrier.ts';
import type { Barrier, BarrierEvent, Effect } from '../../agent/barrier-state.ts';
import type { GroupSnapshot } from '../../agent/channel.ts';
import { type Marker, NO_MARKER } from '../../agent/marker.ts';
import type { OwnEnd } from '../../agent/worker-exit.ts';
import { MAX_AGENT_STARTS } from '../../jobset/roster/pod-facts.ts';
import type { Violation } from '../properties.ts';

export type Mode = Barrier['mode'];

/** What a watch shows of a Pod. Each Pod of the slot has the next number. */
export interface PodView {
  readonly number: number;
  /** The announced epoch; 0: none. */
  readonly epoch: number;
  /** How many agents have announced it. */
  readonly starts: number;
}

interface Sent {
  readonly epoch: number;
  readonly starts: number;
  /** Whether the agent that sent it still waits for the answer. */
  readonly isAwaited: boolean;
}

export interface Member {
  /** Absent: it does not run. */
  readonly agent?: Barrier;
  /** Writes of the marker that are under way, the oldest first. */
  readonly writing: readonly Marker[];
  /** The marker on the disk of the Pod. */
  readonly disk: Marker;
  /** Announcements on their way. */
  readonly sent: readonly Sent[];
  /** The epoch in which the worker runs; 0: none. */
  readonly worker: number;
  readonly isStopping: boolean;
  /** Sidecar: the barrier is lifted, and the kubelet has not started the worker yet. */
  readonly liftedFor: number;
  /** Sidecar: a container has ended, and the kubelet has not restarted all of them yet. */
  readonly isExiting: boolean;
  /** The Pod at the API server; null: there is none. */
  readonly stored: PodView | null;
  /** The Pod in the operator's cache. */
  readonly seen: PodView | null;
  /** What the operator's watch will show next, the oldest first. */
  readonly unseen: readonly (PodView | null)[];
  /** Pods that this slot has had. */
  readonly pods: number;
  /** The epoch of the last worker that started in this slot. */
  readonly lastStart: number;
  /** The highest epoch that a Pod of this slot has announced. */
  readonly reached: number;
}

/** An event of a member, and what it means for the group. */
export interface Move {
  readonly to: Member;
  readonly text: string;
  readonly isFault: boolean;
  /** The epoch in which a worker starts; 0: none does. */
  readonly starts: number;
  /** Epochs that this may end. */
  readonly mayEnd: readonly number[];
  /** The epoch of a worker that this ends, which therefore has to end; 0: none. */
  readonly lost: number;
  readonly violation?: Violation;
}

export interface MemberWorld {
  readonly mode: Mode;
  readonly step: typeof step;
  /** What agents see of the versions of the JobSet, the oldest first. */
  readonly snapshots: readonly GroupSnapshot[];
  /** The operator has deleted the Job. */
  readonly isJobGone: boolean;
}

export const NEW_MEMBER: Member = {
  writing: [],
  disk: NO_MARKER,
  sent: [],
  worker: 0,
  isStopping: false,
  liftedFor: 0,
  isExiting: false,
  stored: { number: 1, epoch: 0, starts: 0 },
  seen: { number: 1, epoch: 0, starts: 0 },
  unseen: [],
  pods: 1,
  lastStart: 0,
  reached: 0,
};

/** All that can happen to a member now, apart from what the operator does. */
export function movesOf(member: Member, world: MemberWorld): readonly Move[] {
  return [
    ...movesOfWatch(member),
    ...(member.stored === null ? [] : movesOfPod(member, world)),
    ...movesOfJob(member, world),
  ];
}

export function faultsOf(member: Member, world: MemberWorld): readonly Move[] {
  const { agent, worker, isExiting, stored, disk, writing } = member;
  if (stored === null) return [];
  const faults: Move[] = [];
  const fault = (text: string, to: Outcome, more: Partial<Move> = {}): void => {
    faults.push(checked(member, move(text, to, { isFault: true, ...more })));
  };
  if (worker > 0 && !isExiting) {
    const ended = { ...member, worker: 0, isStopping: false };
    const to =
      world.mode === 'Sidecar'
        ? { member: { ...ended, isExiting: true }, starts: 0 }
        : told(ended, { type: 'workerEnded', end: endOf(worker, 'Exited') }, world);
    fault('its worker fails', to, { mayEnd: [worker], lost: worker });
  }
  if (agent !== undefined) {
    const crash = (text: string, kept: Marker): void => {
      const mayEnd = kept.started === kept.announced ? [kept.started] : [];
      const to = { member: withoutAgent({ ...member, disk: kept }, world.mode), starts: 0 };
      fault(text, to, { mayEnd, lost: worker });
    };
    const [written] = writing;
    crash(written ? 'its agent crashes before its marker is on disk' : 'its agent crashes', disk);
    if (written) crash('its agent crashes after its marker is on disk', written);
  }
  fault('its Pod is lost', withoutPod(member, world), {
    mayEnd: [disk.started, disk.announced],
    lost: worker,
  });
  return faults;
}

/** The operator starts: it lists all Pods. */
export function listed(member: Member): Member {
  return { ...member, seen: member.stored, unseen: [] };
}

interface Outcome {
  readonly member: Member;
  /** See `Move.starts`. */
  readonly starts: number;
}

const NO_POD = {
  writing: [],
  disk: NO_MARKER,
  sent: [],
  worker: 0,
  isStopping: false,
  liftedFor: 0,
  isExiting: false,
} as const;

function move(text: string, { member, starts }: Outcome, more: Partial<Move> = {}): Move {
  return { text, to: member, starts, isFault: false, mayEnd: [], lost: 0, ...more };
}

function movesOfWatch(member: Member): readonly Move[] {
  const [next, ...unseen] = member.unseen;
  if (next === undefined) return [];
  const what = next === null ? 'has no Pod' : `is at epoch ${next.epoch}`;
  const to = { ...member, seen: next, unseen };
  return [move(`the operator sees that it ${what}`, { member: to, starts: 0 })];
}

function movesOfJob(member: Member, world: MemberWorld): readonly Move[] {
  if (member.stored === null) return world.isJobGone ? [] : [create(member)];
  return world.isJobGone ? [move('its Pod ends with its Job', withoutPod(member, world))] : [];
}

function withoutPod(member: Member, { mode }: MemberWorld): Outcome {
  return { member: shown({ ...withoutAgent(member, mode), ...NO_POD }, null), starts: 0 };
}

function create(member: Member): Move {
  const pods = member.pods + 1;
  const to = shown({ ...member, ...NO_POD, pods }, { number: pods, epoch: 0, starts: 0 });
  return move('the Job controller creates its Pod', { member: to, starts: 0 });
}

function movesOfPod(member: Member, world: MemberWorld): readonly Move[] {
  const { agent, writing, sent, isStopping, liftedFor, isExiting, worker } = member;
  const moves: Move[] = [];
  const add = (text: string, to: Outcome, mayEnd: readonly number[] = []): void => {
    moves.push(checked(member, move(text, to, { mayEnd })));
  };
  if (isExiting) {
    const gone = withoutAgent({ ...member, worker: 0, liftedFor: 0 }, world.mode);
    add('its Pod restarts in place', { member: { ...gone, isExiting: false }, starts: 0 });
  }
  const newest = world.snapshots.length - 1;
  if (agent === undefined && !isExiting) {
    const started = { ...member, agent: newAgent(member.disk, world.mode) };
    add('its agent starts and reads the JobSet', seeing(started, newest, world));
  }
  if (agent !== undefined) {
    for (let version = Number(agent.known?.version); version <= newest; version++) {
      add(`its agent sees version ${version + 1}`, seeing(member, version, world));
    }
  }
  const [marker] = writing;
  if (marker !== undefined) {
    const written = { ...member, disk: marker, writing: writing.slice(1) };
    add('its marker is on disk', told(written, { type: 'markerWritten' }, world));
  }
  for (const [index, { isAwaited, epoch, starts }] of sent.entries()) {
    // A request of a crashed agent can overtake requests of the next agent, and the reverse.
    if (sent.findIndex((each) => each.isAwaited === isAwaited) !== index) continue;
    const text = `its ${isAwaited ? '' : 'late '}announcement of epoch ${epoch} arrives`;
    add(text, arrived(member, index, world), starts > MAX_AGENT_STARTS ? [epoch] : []);
  }
  if (isStopping) {
    const stopped = { ...member, worker: 0, isStopping: false };
    const event = { type: 'workerEnded', end: endOf(worker, 'Stopped') } as const;
    add('its worker has stopped', told(stopped, event, world));
  }
  if (liftedFor > 0) {
    const to = { ...member, liftedFor: 0, worker: liftedFor };
    add('the kubelet starts its worker', { member: to, starts: liftedFor });
  }
  return moves;
}

/** A slot runs one worker in an epoch, unless its failure was lost. */
function checked({ lastStart }: Member, move: Move): Move {
  const { starts } = move;
  if (starts === 0) return move;
  const to = { ...move.to, lastStart: starts };
  if (starts > lastStart) return { ...move, to };
  const detail = `a worker starts in epoch ${starts} after one in epoch ${lastStart}`;
  return {
    ...move,
    to,
    violation: { property: 'No slot starts two workers in one epoch', detail },
  };
}

function newAgent(marker: Marker, mode: Mode): Barrier {
  return {
    mode,
    jobSetUid: undefined,
    marker,
    known: undefined,
    isPodEnding: false,
    isCutOff: false,
    stage: { name: 'Unsynced' },
  };
}

function seeing(member: Member, version: number, world: MemberWorld): Outcome {
  const snapshot = world.snapshots[version];
  if (snapshot === undefined) throw new Error(`the JobSet has no version ${version}`);
  return told(member, { type: 'snapshot', snapshot }, world);
}

/** The request of an announcement takes effect, unless a newer one was there before it. */
function arrived(member: Member, index: number, world: MemberWorld): Outcome {
  const { sent, stored, reached } = member;
  const arriving = sent[index];
  if (arriving === undefined || stored === null) throw new Error('nothing arrives at no Pod');
  const { epoch, starts, isAwaited } = arriving;
  const left = { ...member, sent: sent.toSpliced(index, 1), reached: Math.max(reached, epoch) };
  const isNews = epoch > stored.epoch || (epoch === stored.epoch && starts > stored.starts);
  const next = isNews ? shown(left, { ...stored, epoch, starts }) : left;
  return isAwaited ? told(next, { type: 'announced', epoch }, world) : { member: next, starts: 0 };
}

/** The Pod changes, which the operator sees later. */
function shown(member: Member, stored: PodView | null): Member {
  return { ...member, stored, unseen: [...member.unseen, stored] };
}

/** The agent, if it runs, handles an event. */
function told(member: Member, event: BarrierEvent, world: MemberWorld): Outcome {
  if (member.agent === undefined) return { member, starts: 0 };
  const { state, effects } = world.step(member.agent, event);
  let outcome: Outcome = { member: { ...member, agent: state }, starts: 0 };
  for (const effect of effects) outcome = carriedOut(outcome, effect, world.mode);
  return outcome;
}

function carriedOut({ member, starts }: Outcome, effect: Effect, mode: Mode): Outcome {
  switch (effect.type) {
    case 'writeMarker':
      return { member: { ...member, writing: [...member.writing, effect.marker] }, starts };
    case 'announce': {
      const { epoch, starts: agents } = effect.announcement;
      const sent = [...member.sent, { epoch, starts: agents, isAwaited: true }];
      return { member: { ...member, sent }, starts };
    }
    case 'lift': {
      const { epoch } = effect;
      return mode === 'Sidecar'
        ? { member: { ...member, liftedFor: epoch }, starts }
        : { member: { ...member, worker: epoch }, starts: epoch };
    }
    case 'stopWorker':
      return { member: { ...member, isStopping: true }, starts };
    case 'leave':
      return { member: withoutAgent(member, mode), starts };
    case 'missNumbers':
    case 'killHung':
    case 'preflight':
    case 'cutPreflight':
    case 'giveNotice':
      throw new Error(`unexpected effect ${effect.type}`);
  }
}

/** A sidecar's worker ends when the kubelet restarts the Pod, and a supervisor's worker at once. */
function withoutAgent(old: Member, mode: Mode): Member {
  const { agent: _, ...member } = old;
  const sent = member.sent.map((each) => ({ ...each, isAwaited: false }));
  const gone = { ...member, sent, writing: [] };
  return mode === 'Sidecar'
    ? { ...gone, isExiting: true }
    : { ...gone, worker: 0, isStopping: false };
}

function endOf(epoch: number, how: OwnEnd['how']): OwnEnd {
  return { epoch, how, exit: { exitCode: 1 }, atMs: 0, restartsGroup: true };
}
