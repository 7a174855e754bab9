/**
 * What follows from everything that can happen to a Pod: `step(life, event)` gives its next life and
 * what has to be done, in order. Pure, so no restart waits for the API server or for anything else.
 *
 * Invariants: no container starts in a Pod that ends, nor before the Pod is prepared; nothing is
 * decided before it is known what an earlier life of the node has left; the first reason to end stays;
 * a Pod is over only when nothing of it runs.
 */
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { isAlive } from '../container/container-record.ts';
import type { TakeOver } from '../container/container-runs.ts';
import {
  onBlocked,
  onExited,
  onMissing,
  onNotStarted,
  onProbed,
  onStarted,
  onTakenOver,
  redefine,
} from './container-steps.ts';
import { advance, end } from './pod-advance.ts';
import {
  definitionOf,
  graceMsOf,
  inOrder,
  isOver,
  MIN_GRACE_MS,
  type Move,
  type PodEvent,
  type PodLife,
  perform,
  type Step,
  stay,
} from './pod-life.ts';
import { contradict, show } from './shown-status.ts';

export function step(before: PodLife, event: PodEvent): Step {
  const { at } = event;
  const known = event.type === 'woken' ? { ...before, wakeAtMs: undefined } : before;
  const { life, effects } = follow({ ...known, at }, event);
  const { wakeAtMs } = life;
  if (wakeAtMs === known.wakeAtMs) return { life, effects };
  const delayMs = wakeAtMs === undefined ? undefined : Math.max(0, wakeAtMs - at.monotonicMs);
  return { life, effects: [...effects, { type: 'wake', delayMs }] };
}

function follow(life: PodLife, event: PodEvent): Step {
  switch (event.type) {
    case 'begun':
      return onBegun(life);
    case 'takenOver':
      return onTakenOver(life, event);
    case 'missing':
      return onMissing(life, event);
    case 'allTakenOver':
      return life.stage.name === 'Adopting' ? onAllTakenOver(life) : stay(life);
    case 'notPrepared':
      return onNotPrepared(life, event.reason, event.problem);
    case 'prepared':
      return life.stage.name === 'Preparing'
        ? { life: { ...life, podIP: event.podIP }, effects: [{ type: 'introduce' }] }
        : stay(life);
    case 'introduced':
      return life.stage.name === 'Preparing'
        ? inOrder({ ...life, stage: { name: 'Prepared' } }, redefine, advance)
        : advance(life);
    case 'addressRenewed':
      return inOrder({ ...life, podIP: event.podIP }, show('must'), perform({ type: 'introduce' }));
    case 'started':
      return inOrder(life, (now) => onStarted(now, event), advance);
    case 'notStarted':
      return inOrder(life, (now) => onNotStarted(now, event), advance);
    case 'blocked':
      return inOrder(life, (now) => onBlocked(now, event), advance);
    case 'exited':
      return inOrder(life, (now) => onExited(now, event), advance);
    case 'probed':
      return inOrder(life, (now) => onProbed(now, event), advance);
    case 'updated':
      return onUpdated(life, event.pod);
    case 'gone':
      return end({ type: 'deleted' }, MIN_GRACE_MS)(life);
    case 'deadlineExceeded':
      return onDeadlineExceeded(life);
    case 'woken':
      return advance(life);
    case 'nodeStops':
      return isOver(life)
        ? stay(life)
        : stay({ ...life, stage: { name: 'Stopping' }, wakeAtMs: undefined });
    case 'allShutDown':
      return life.stage.name === 'Stopping'
        ? { life: { ...life, stage: { name: 'Over' } }, effects: [{ type: 'cleanUp' }] }
        : stay(life);
    case 'cleanedUp':
      return onCleanedUp(life);
  }
}

function onBegun(life: PodLife): Step {
  const phase = life.pod.status?.phase;
  if (phase === 'Succeeded' || phase === 'Failed') {
    return { life: { ...life, stage: { name: 'Over' } }, effects: [{ type: 'cleanUp' }] };
  }
  if (life.stage.name !== 'Adopting') return live(life);
  const runs = life.records.filter(isAlive).flatMap((record): readonly TakeOver[] => {
    const container = definitionOf(life, record.name)?.container;
    const run = record.life.state === 'running' ? record.life : undefined;
    return container === undefined ? [] : [{ container, restart: record.restartCount, run }];
  });
  return { life, effects: [{ type: 'takeOver', runs }] };
}

/** Continues where the earlier life of the node was. */
function onAllTakenOver(life: PodLife): Step {
  const taken: PodLife = { ...life, stage: { name: 'Preparing', problem: undefined } };
  if (life.mode !== 'ending') return live(taken);
  // A Pod that was about to end has its whole grace again, unless it was told to end meanwhile.
  const killAtMs = Number.isFinite(life.killAtMs)
    ? life.killAtMs
    : life.at.monotonicMs + Math.max(graceMsOf(life.pod), MIN_GRACE_MS);
  return inOrder({ ...taken, killAtMs }, perform({ type: 'abandonPreparation' }), advance, live);
}

function live(life: PodLife): Step {
  if (isOver(life)) return stay(life);
  const isDeleted = life.pod.metadata.deletionTimestamp !== undefined;
  return inOrder(life, perform({ type: 'prepare' }), isDeleted ? endDeleted : show('latest'));
}

function onNotPrepared(life: PodLife, reason: string, problem: string): Step {
  if (life.stage.name !== 'Preparing') return stay(life);
  return inOrder(
    { ...life, stage: { name: 'Preparing', problem } },
    perform({ type: 'event', about: undefined, severity: 'Warning', reason, note: problem }),
    show('latest'),
  );
}

function onUpdated(life: PodLife, pod: Pod): Step {
  const { metadata: before } = life.pod;
  const { metadata, spec } = pod;
  const isNews = metadata.generation !== before.generation || spec.readinessGates !== undefined;
  const isTold =
    metadata.deletionTimestamp !== undefined &&
    (before.deletionTimestamp === undefined ||
      before.deletionGracePeriodSeconds !== metadata.deletionGracePeriodSeconds);
  return inOrder(
    { ...life, pod },
    contradict,
    isNews && life.stage.name === 'Prepared' ? onNewSpec : stay,
    isTold ? onDeletion(before.deletionTimestamp === undefined) : stay,
  );
}

function onNewSpec(life: PodLife): Step {
  return life.mode === 'running'
    ? inOrder(life, redefine, show('latest'), advance)
    : show('latest')(life);
}

function onDeletion(isNew: boolean): Move {
  return (life) => {
    if (life.stage.name !== 'CleanedUp') return endDeleted(life);
    return { life, effects: isNew ? [{ type: 'confirmDeletion' }] : [] };
  };
}

function endDeleted(life: PodLife): Step {
  const seconds = life.pod.metadata.deletionGracePeriodSeconds;
  const graceMs = seconds === undefined ? graceMsOf(life.pod) : seconds * 1000;
  return end({ type: 'deleted' }, graceMs)(life);
}

function onDeadlineExceeded(life: PodLife): Step {
  if (isOver(life)) return stay(life);
  const reason = 'DeadlineExceeded';
  const message = 'Pod was active on the node longer than the specified deadline';
  return inOrder(
    life,
    perform({ type: 'event', about: undefined, severity: 'Normal', reason, note: message }),
    end({ type: 'failed', reason, message }, graceMsOf(life.pod)),
  );
}

function onCleanedUp(life: PodLife): Step {
  const isDeleted = life.pod.metadata.deletionTimestamp !== undefined;
  return inOrder(
    { ...life, stage: { name: 'CleanedUp' } },
    perform({ type: 'tellOthers' }),
    isDeleted ? perform({ type: 'confirmDeletion' }) : stay,
  );
}
