/**
 * Walks a transition system at random: agents, a hub of status versions and two controllers. It
 * checks the barrier against the properties of the protocol. Faults are worker exits, workers that
 * hang, preflights, agent crashes, deleted and replaced Pods, agents that are cut off and announcements that
 * arrive late.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GroupRanks } from '../jobset/jobset-status.ts';
import { mayHang, step } from './barrier.ts';
import type { Barrier, Effect } from './barrier-state.ts';
import { type Marker, NO_MARKER } from './marker.ts';
import type { OwnRanks } from './own-ranks.ts';
import type { OwnEnd } from './worker-exit.ts';

interface Status {
  readonly deprecated: number;
  readonly released: number;
}

interface Pod {
  annotation: number;
  disk: Marker;
  /** Announcements on their way, oldest first; announcements of a dead agent arrive late or never. */
  inFlight: { readonly epoch: number; readonly isMine: boolean }[];
  agent: Barrier | undefined;
  todo: Effect[];
  /** Index of the newest status version that the agent has seen. */
  view: number;
  worker: number;
  /** A preflight runs, or is to be ended at once. */
  preflight: 'No' | 'Runs' | 'Cut';
  lastStarted: number;
  /** Lifted, but not running: the kubelet of a sidecar starts the worker when it gets to it. */
  liftedFor: number;
  /** Sidecar: a container has ended and the kubelet has not yet restarted all of them. */
  isExiting: boolean;
  /** The Pod is being deleted. */
  isEnding: boolean;
  /** Epochs in which its worker has hung, or never came up after the lift. */
  readonly hung: Set<number>;
}

interface World {
  readonly mode: Barrier['mode'];
  readonly pods: Pod[];
  readonly versions: Status[];
  readonly seen: number[][];
  faults: number;
  charges: number;
  readonly mayEnd: Set<number>;
  readonly mustEnd: Set<number>;
}

interface Transition {
  readonly isFault: boolean;
  readonly name: string;
  run(): void;
}

function freshPod(lastStarted = 0): Pod {
  return {
    annotation: 0,
    disk: NO_MARKER,
    inFlight: [],
    agent: undefined,
    todo: [],
    view: -1,
    worker: 0,
    preflight: 'No',
    lastStarted,
    liftedFor: 0,
    isExiting: false,
    isEnding: false,
    hung: new Set(),
  };
}

function world(mode: Barrier['mode'], size: number, faults: number): World {
  return {
    mode,
    pods: Array.from({ length: size }, () => freshPod()),
    versions: [{ deprecated: 0, released: 0 }],
    seen: [Array(size).fill(0), Array(size).fill(0)],
    faults,
    charges: 0,
    mayEnd: new Set(),
    mustEnd: new Set(),
  };
}

const UID = 'uid-1';

/** The end of the worker of that epoch. */
function endOf(epoch: number, how: OwnEnd['how']): OwnEnd {
  return { epoch, how, exit: { exitCode: 1 }, atMs: 0, restartsGroup: true };
}

function current(w: World): Status {
  return w.versions.at(-1) ?? { deprecated: 0, released: 0 };
}

/** Records that the work running, or about to run, in the Pod is lost by a failure. */
function lose(w: World, pod: Pod): void {
  if (pod.disk.started > 0) w.mayEnd.add(pod.disk.started);
  if (pod.disk.announced > 0) w.mayEnd.add(pod.disk.announced);
  if (pod.worker > current(w).deprecated) w.mustEnd.add(pod.worker);
  pod.worker = 0;
  pod.liftedFor = 0;
}

function tell(pod: Pod, event: Parameters<typeof step>[1]): void {
  if (pod.agent === undefined) return;
  const next = step(pod.agent, event);
  pod.agent = next.state;
  pod.todo.push(...next.effects);
}

/** A sidecar's worker ends only when the kubelet restarts the Pod, a supervisor's at once. */
function agentGone(w: World, pod: Pod): void {
  pod.agent = undefined;
  pod.todo = [];
  if (w.mode === 'Sidecar') pod.isExiting = true;
  else pod.worker = 0;
  pod.preflight = 'No';
  pod.inFlight = pod.inFlight.map(({ epoch }) => ({ epoch, isMine: false }));
}

function startWorker(w: World, pod: Pod, epoch: number): void {
  if (pod.preflight !== 'No') throw new Error('a worker starts beside a preflight');
  for (const other of w.pods) {
    if (other.worker !== 0 && other.worker !== epoch) {
      throw new Error(
        `one epoch at a time: a worker of ${epoch} starts while one of ${other.worker} runs`,
      );
    }
  }
  if (epoch <= pod.lastStarted)
    throw new Error(`no failure is lost: the slot ran in ${epoch} before`);
  pod.worker = epoch;
  pod.lastStarted = epoch;
}

function carryOut(w: World, pod: Pod, effect: Effect): void {
  switch (effect.type) {
    case 'writeMarker':
      pod.disk = effect.marker;
      tell(pod, { type: 'markerWritten' });
      return;
    case 'announce': {
      const { epoch, end } = effect.announcement;
      if (end !== undefined && end.epoch >= epoch) throw new Error('an end of a later epoch');
      if (end?.how === 'Hung' && !pod.hung.has(end.epoch)) {
        throw new Error(`no worker hung in ${end.epoch}`);
      }
      if (pod.preflight !== 'No') throw new Error('announced before the preflight ended');
      pod.inFlight.push({ epoch, isMine: true });
      return;
    }
    case 'missNumbers':
      throw new Error('a release without numbers');
    case 'lift':
      if (w.mode === 'Supervisor' && effect.ranks?.groupRank !== w.pods.indexOf(pod)) {
        throw new Error('a rank without its number');
      }
      if (w.mode === 'Sidecar') pod.liftedFor = effect.epoch;
      else startWorker(w, pod, effect.epoch);
      return;
    case 'killHung': {
      if (pod.worker === 0) return;
      tell(pod, { type: 'workerEnded', end: endOf(pod.worker, 'Hung') });
      pod.worker = 0;
      pod.todo = pod.todo.filter(({ type }) => type !== 'stopWorker');
      return;
    }
    case 'stopWorker':
      tell(pod, { type: 'workerEnded', end: endOf(pod.worker, 'Stopped') });
      pod.worker = 0;
      return;
    case 'preflight':
      if (pod.worker !== 0) throw new Error('a preflight runs beside the worker');
      pod.preflight = 'Runs';
      return;
    case 'cutPreflight':
      if (pod.preflight === 'Runs') pod.preflight = 'Cut';
      return;
    case 'leave':
      if (pod.preflight !== 'No') throw new Error('left a preflight behind');
      // A Pod that is being deleted need not restart in place: its successor announces the failure.
      if (!pod.isEnding && effect.reason.type === 'WorkerExit') throw new Error('left its Pod');
      if (effect.reason.type === 'Signal') throw new Error('the agent was not told to end');
      agentGone(w, pod);
      return;
    case 'giveNotice':
      throw new Error('the agent was not told to end');
  }
}

function podTransitions(w: World, pod: Pod): Transition[] {
  const found: Transition[] = [];
  const add = (name: string, run: () => void, isFault = false): void => {
    if (!isFault || w.faults > 0) found.push({ name, run, isFault });
  };
  const { agent, todo, inFlight } = pod;
  if (pod.isExiting) {
    add('Pod restarts in place', () => {
      pod.isExiting = false;
      pod.worker = 0;
      pod.liftedFor = 0;
      if (pod.agent !== undefined) agentGone(w, pod);
      pod.isExiting = false;
    });
  }
  if (agent === undefined && !pod.isExiting) {
    add('agent starts', () => {
      pod.agent = {
        mode: w.mode,
        hasPreflight: w.mode === 'Supervisor',
        jobSetUid: UID,
        marker: pod.disk,
        known: undefined,
        isPodEnding: pod.isEnding,
        isCutOff: false,
        stage: { name: 'Unsynced' },
        end: pod.disk.hung && endOf(pod.disk.hung.epoch, 'Hung'),
        ownRanks: w.mode === 'Supervisor' ? ranksIn(w, pod) : undefined,
      };
      pod.view = w.versions.length - 1;
      see(w, pod);
    });
  }
  if (agent !== undefined) {
    if (pod.view < w.versions.length - 1) {
      add('agent sees the next version', () => {
        pod.view++;
        see(w, pod);
      });
      add('agent sees the newest version', () => {
        pod.view = w.versions.length - 1;
        see(w, pod);
      });
    }
    const [effect] = todo;
    if (effect !== undefined) {
      add(effect.type, () => {
        todo.shift();
        carryOut(w, pod, effect);
      });
    }
    const { stage } = agent;
    if (stage.name === 'Running' && mayHang(agent) && pod.hung.has(stage.epoch)) {
      const worker = { epoch: stage.epoch, silentMs: 10_000, endedMs: 0 };
      add('the worker is found to hang', () => tell(pod, { type: 'hung', worker }));
    }
    if (pod.preflight !== 'No') {
      const unfit = pod.preflight === 'Cut' ? undefined : 'GPU lost';
      add('the preflight ends', () => {
        pod.preflight = 'No';
        tell(pod, { type: 'preflightEnded', unfit });
      });
    }
    if (agent.isCutOff) add('the Pod is there', () => tell(pod, { type: 'podLives' }));
    else add('agent is cut off', () => cutOff(w, pod), true);
    add(
      'agent crashes',
      () => {
        if (pod.disk.started > 0 && pod.disk.started === pod.disk.announced) {
          w.mayEnd.add(pod.disk.started);
        }
        if (pod.worker > current(w).deprecated) w.mustEnd.add(pod.worker);
        agentGone(w, pod);
      },
      true,
    );
  }
  const [arriving] = inFlight;
  if (arriving !== undefined) {
    add('announcement arrives', () => {
      inFlight.shift();
      // The channel's order: an older announcement never overwrites a newer one.
      pod.annotation = Math.max(pod.annotation, arriving.epoch);
      if (arriving.isMine) tell(pod, { type: 'announced', epoch: arriving.epoch });
    });
  }
  if (pod.liftedFor > 0) {
    add('the kubelet starts the worker', () => {
      const epoch = pod.liftedFor;
      pod.liftedFor = 0;
      startWorker(w, pod, epoch);
    });
  }
  if (pod.worker > 0) {
    add('worker fails', () => failWorker(w, pod), true);
  }
  const lifted = Math.max(pod.worker, pod.liftedFor);
  if (lifted > 0) add('worker hangs', () => hang(w, pod, lifted), true);
  const replace = (): void => {
    lose(w, pod);
    w.pods[w.pods.indexOf(pod)] = freshPod(pod.lastStarted);
  };
  if (pod.isEnding) add('Pod ends', replace);
  else {
    const endPod = (): void => {
      pod.isEnding = true;
      tell(pod, { type: 'podEnding' });
    };
    add('Pod is deleted', endPod, true);
  }
  add('Pod is replaced', replace, true);
  return found;
}

/** The worker makes no more progress. It may still fail, or be stopped, before it is found. */
function hang(w: World, pod: Pod, epoch: number): void {
  pod.hung.add(epoch);
  w.mayEnd.add(epoch);
  if (pod.worker > current(w).deprecated) w.mustEnd.add(pod.worker);
}

/** Cuts the agent off: a worker that runs, or whose barrier was lifted, is lost. */
function cutOff(w: World, pod: Pod): void {
  if (pod.agent?.stage.name === 'Running' || pod.agent?.stage.name === 'Starting') {
    w.mayEnd.add(pod.disk.started);
    w.mayEnd.add(pod.agent.stage.epoch);
    if (pod.worker > current(w).deprecated) w.mustEnd.add(pod.worker);
  }
  tell(pod, { type: 'cutOff' });
}

function failWorker(w: World, pod: Pod): void {
  const epoch = pod.worker;
  w.mayEnd.add(epoch);
  if (epoch > current(w).deprecated) w.mustEnd.add(epoch);
  pod.worker = 0;
  if (w.mode === 'Sidecar') {
    pod.isExiting = true;
    return;
  }
  tell(pod, { type: 'workerEnded', end: endOf(epoch, 'Exited') });
  // A stop that was ordered for this worker finds nothing to stop any more.
  pod.todo = pod.todo.filter(({ type }) => type !== 'stopWorker' && type !== 'killHung');
}

/** Each Pod is a member of two ranks. */
const PROCESSES = 2;

function ranksIn(w: World, pod: Pod): OwnRanks {
  const place = { replicatedJob: 'w', jobIndex: 0, completionIndex: w.pods.indexOf(pod) };
  return { ...place, processes: PROCESSES, hasLogPrefix: true };
}

/** As the write of the release stored them. */
function ranksOf({ pods }: World): GroupRanks {
  const counted = { firstGroupRank: 0, firstRank: 0, processesPerPod: PROCESSES };
  return {
    world: PROCESSES * pods.length,
    groups: pods.length,
    master: 'master',
    replicatedJobs: [{ name: 'w', ...counted, podsPerJob: pods.length }],
  };
}

function see(w: World, pod: Pod): void {
  const status = w.versions[pod.view];
  if (status === undefined) throw new Error('no such version');
  const snapshot = {
    ...status,
    uid: UID,
    version: String(pod.view + 1),
    isBypassed: false,
    isFresh: false,
    timeouts: {},
    members: w.pods.length,
    ...(status.released > 0 && { ranks: ranksOf(w) }),
  };
  tell(pod, { type: 'snapshot', snapshot });
}

function controllerTransitions(w: World, seen: number[]): Transition[] {
  const found: Transition[] = [];
  const add = (name: string, run: () => void): void => {
    found.push({ name, run, isFault: false });
  };
  if (w.pods.some((pod, i) => seen[i] !== pod.annotation)) {
    add('Pod cache catches up', () => {
      w.pods.forEach((pod, i) => {
        seen[i] = pod.annotation;
      });
    });
  }
  const { deprecated, released } = current(w);
  const epoch = deprecated + 1;
  if (seen.includes(epoch + 1)) {
    add(`controller ends ${epoch}`, () => {
      if (!w.mayEnd.has(epoch))
        throw new Error(`the budget holds: ${epoch} was ended without a failure in it`);
      w.charges++;
      w.versions.push({ deprecated: epoch, released });
    });
  }
  if (released < epoch && seen.every((known) => known === epoch)) {
    add(`controller releases ${epoch}`, () => w.versions.push({ deprecated, released: epoch }));
  }
  return found;
}

/** The failure policy restarts Jobs, released or not. Which Pods it replaces is another fault. */
function jobsRestart(w: World): Transition {
  return {
    name: 'the failure policy ends the epoch',
    isFault: true,
    run: () => {
      const { deprecated, released } = current(w);
      w.charges++;
      w.versions.push({ deprecated: deprecated + 1, released });
    },
  };
}

function transitions(w: World): Transition[] {
  return [
    ...(w.faults > 0 ? [jobsRestart(w)] : []),
    ...w.pods.flatMap((pod) => podTransitions(w, pod)),
    ...w.seen.flatMap((seen) => controllerTransitions(w, seen)),
  ];
}

/** Far more steps than any run needs to come to rest. */
const REST_LIMIT = 2_000;

interface Choice {
  readonly choice: number;
  readonly isFault: boolean;
}

/** Faults are rare, so that a group gets somewhere before the next one. */
const CHOICES: fc.Arbitrary<readonly Choice[]> = fc.array(
  fc.record({
    choice: fc.nat(999),
    isFault: fc.nat(15).map((n) => n === 0),
  }),
  { minLength: 30, maxLength: 200, size: 'max' },
);

function walk(w: World, choices: readonly Choice[]): readonly string[] {
  const trace: string[] = [];
  for (const { isFault, choice } of choices) {
    const all = transitions(w);
    const faults = all.filter((transition) => transition.isFault);
    const enabled = isFault && faults.length > 0 ? faults : all.filter((t) => !t.isFault);
    const next = enabled[choice % enabled.length];
    if (next === undefined) break;
    trace.push(next.name);
    if (next.isFault) w.faults--;
    next.run();
  }
  w.faults = 0;
  for (let i = 0; i < REST_LIMIT; i++) {
    const enabled = transitions(w);
    const next = enabled[(choices[i % choices.length]?.choice ?? 0) % enabled.length];
    if (next === undefined) return trace;
    trace.push(next.name);
    next.run();
  }
  throw new Error('the group does not come to rest');
}

function expectRest(w: World): void {
  const { deprecated, released } = current(w);
  expect(released).toBe(deprecated + 1);
  expect(w.pods.map((pod) => pod.worker)).toEqual(w.pods.map(() => released));
  expect([...w.mustEnd].filter((epoch) => epoch > deprecated)).toEqual([]);
  expect(w.charges).toBe(deprecated);
}

const RUNS = 1_000;

describe('the barrier under faults', () => {
  it.each<[Barrier['mode'], number]>([
    ['Sidecar', 2],
    ['Sidecar', 3],
    ['Supervisor', 2],
    ['Supervisor', 3],
  ])('keeps a group of %s agents in step (%i Pods)', (mode, size) => {
    fc.assert(
      fc.property(CHOICES, fc.integer({ min: 0, max: 4 }), (choices, faults) => {
        const w = world(mode, size, faults);
        walk(w, choices);
        expectRest(w);
      }),
      { numRuns: RUNS },
    );
  });
});
