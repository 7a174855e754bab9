/**
 * What a Pod does next, asked after everything that happens to it: `pod-actions.ts` says what is to
 * become of its containers, and this what has to be done and shown for that.
 */
import { neverStarting, removed } from '../container/container-transitions.ts';
import type { PodEnding } from '../status/pod-status.ts';
import { backOff, giveUp, start, stop } from './container-steps.ts';
import { type PodPlan, planPod, restartSources } from './pod-actions.ts';
import {
  graceMsOf,
  inOrder,
  isOver,
  MIN_GRACE_MS,
  type Move,
  type PodLife,
  perform,
  recordOf,
  type Step,
  stay,
  viewOf,
} from './pod-life.ts';
import { show } from './shown-status.ts';

/**
 * Restarts of all containers of one Pod begin at least this far apart: a command that fails at once
 * would otherwise restart as fast as the machine can.
 */
const RESTART_ALL_INTERVAL_MS = 500;

export function advance(before: PodLife): Step {
  if (before.stage.name === 'Adopting' || isOver(before)) return stay(before);
  const life: PodLife = { ...before, wakeAtMs: undefined };
  if (life.mode !== 'ending' && life.stage.name !== 'Prepared') return show('latest')(life);
  const plan = planPod(viewOf(life), life.at.nowMs);
  switch (plan.type) {
    case 'run':
      return run(life, plan);
    case 'restart-all':
      return restartAll(life);
    case 'replace-sandbox':
      return advance({ ...life, mode: 'replacing-sandbox' });
    case 'end':
      return inOrder(life, show('step'), endByContainers);
    case 'take-down':
      return plan.isDown ? onDown(life) : inOrder(life, ...plan.stop.map(stopOne), show('latest'));
  }
}

/** Begins the end, or brings it forward. The first reason stays. */
export function end(ending: PodEnding, graceMs: number): Move {
  return (life) => {
    if (isOver(life)) return stay(life);
    const leftMs = Math.max(graceMs, MIN_GRACE_MS);
    const killAtMs = life.at.monotonicMs + leftMs;
    const isEarlier = killAtMs < life.killAtMs;
    const next: PodLife = {
      ...life,
      mode: 'ending',
      ending: life.ending ?? ending,
      killAtMs: isEarlier ? killAtMs : life.killAtMs,
    };
    if (life.mode !== 'ending') {
      return inOrder(next, perform({ type: 'abandonPreparation' }), advance);
    }
    return { life: next, effects: isEarlier ? [{ type: 'killAfter', delayMs: leftMs }] : [] };
  };
}

function endByContainers(life: PodLife): Step {
  return end({ type: 'containers' }, graceMsOf(life.pod))(life);
}

function run(life: PodLife, plan: Extract<PodPlan, { type: 'run' }>): Step {
  // An exit code is shown before the next start or the back-off hides it.
  const hides = [...plan.start, ...plan.backOff.map(({ name }) => name)];
  const hidesExit = hides.some((name) => recordOf(life, name)?.life.state === 'exited');
  return inOrder(
    life,
    show(hidesExit ? 'must' : 'latest'),
    ...plan.stop.map(giveUp),
    ...plan.backOff.map(backOff),
    ...plan.start.map(start),
    plan.wakeMs === undefined ? stay : wakeAfter(plan.wakeMs - life.at.nowMs),
    show('latest'),
  );
}

function wakeAfter(delayMs: number): Move {
  return (life) => stay({ ...life, wakeAtMs: life.at.monotonicMs + delayMs });
}

function restartAll(life: PodLife): Step {
  const { monotonicMs } = life.at;
  const waitMs = life.lastRestartAllMs + RESTART_ALL_INTERVAL_MS - monotonicMs;
  if (waitMs > 0) return inOrder(life, show('latest'), wakeAfter(waitMs));
  return inOrder(
    { ...life, mode: 'restarting-all', lastRestartAllMs: monotonicMs },
    perform({ type: 'logRestartOfAll', sources: restartSources(viewOf(life)) }),
    show('must'),
    advance,
  );
}

function stopOne(name: string): Move {
  return (life) => {
    const note = `Stopping container ${name}`;
    switch (life.mode) {
      case 'ending': {
        const leftMs = Math.max(life.killAtMs - life.at.monotonicMs, MIN_GRACE_MS);
        return stop(name, 'PodEnd', leftMs, note)({ ...life, wasStopped: true });
      }
      case 'replacing-sandbox': {
        const graceMs = Math.max(graceMsOf(life.pod), MIN_GRACE_MS);
        return stop(name, 'SandboxChanged', graceMs, note)(life);
      }
      case 'running':
      case 'restarting-all':
        return stop(name, 'RestartAllContainers', MIN_GRACE_MS, 'killing')(life);
    }
  };
}

/** All are down that were to be. */
function onDown(life: PodLife): Step {
  switch (life.mode) {
    case 'ending':
      return showEnd(life);
    case 'replacing-sandbox':
      return replaceSandbox(life);
    case 'running':
    case 'restarting-all': {
      const records = life.records.map(removed);
      return inOrder({ ...life, mode: 'running', records }, show('latest'), advance);
    }
  }
}

/** All is down because nothing was left to keep; now the rules look at how it ended. */
function replaceSandbox(life: PodLife): Step {
  const next = planPod({ ...viewOf(life), mode: 'running' }, life.at.nowMs);
  if (next.type === 'end') return endByContainers({ ...life, wasStopped: true });
  return inOrder(
    { ...life, mode: next.type === 'restart-all' ? 'restarting-all' : 'running' },
    show('must', { isPrepared: false }),
    perform({
      type: 'event',
      about: undefined,
      severity: 'Normal',
      reason: 'SandboxChanged',
      note: 'Pod sandbox changed, it will be killed and re-created.',
    }),
    // A kubelet learns the new address a moment after the new sandbox.
    show('step'),
    perform({ type: 'renewAddress' }),
  );
}

/** As in a kubelet: first the conditions, then the phase, then the containers left waiting. */
function showEnd(life: PodLife): Step {
  const isPrepared = life.stage.name === 'Prepared' && !life.wasStopped;
  const verdict = { isPrepared: false, isVerdictShown: true };
  return inOrder(
    life,
    life.ending?.type === 'containers' ? show('step', { isPrepared }) : stay,
    show('must', verdict),
    settle,
    show('latest', verdict),
    (now) => stay({ ...now, stage: { name: 'Over' } }),
    perform({ type: 'cleanUp' }),
  );
}

/** What still waits for a start waits in vain. */
function settle(life: PodLife): Step {
  return stay({
    ...life,
    records: life.records.map((record) => neverStarting(record, life.at.nowMs)),
  });
}
