/**
 * The status of a Pod in the API: computed after every possible change, and written if it
 * differs.
 */
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { PodCondition, PodStatus } from '@lockstep/kube/objects/pod.ts';
import { podStatus } from '../status/pod-status.ts';
import type { StatusImportance } from '../status/status-writer.ts';
import { byName, type Move, type PodEffect, type PodLife, type Step, stay } from './pod-life.ts';

/** What is shown although it is not so, or not yet: a kubelet learns of some things later. */
export interface Shown {
  readonly isPrepared?: boolean;
  /** The Pod has ended, and the phase may say so. */
  readonly isVerdictShown?: boolean;
}

/** Shows the Pod as it is now, but for what `as` says. */
export function show(importance: StatusImportance, as: Shown = {}): Move {
  return (life) => {
    if (isSilent(life)) return stay(life);
    const { pod, stage, ending, podIP } = life;
    const shown = life.status ?? pod.status;
    const status = podStatus({
      pod,
      records: byName(life.records),
      isPrepared: as.isPrepared ?? stage.name === 'Prepared',
      preparationProblem: stage.name === 'Preparing' ? stage.problem : undefined,
      isRestartingAll: life.mode === 'restarting-all',
      ending,
      isVerdictShown: as.isVerdictShown ?? false,
      hostIP: life.node.hostIP,
      podIP,
      startedMs: life.seenMs,
      previous: {
        phase: shown?.phase ?? 'Pending',
        conditions: shown?.conditions ?? [],
        podIP: shown?.podIP,
      },
      nowMs: life.at.nowMs,
    });
    const next: PodLife = { ...life, status };
    if (importance !== 'must' && deepEqual(status, life.status)) return stay(next);
    const effects: PodEffect[] = [{ type: 'writeStatus', status, importance }];
    const isVisible = shown?.podIP !== status.podIP || isReady(shown) !== isReady(status);
    if (isVisible) effects.push({ type: 'tellOthers' });
    return { life: next, effects };
  };
}

/**
 * The control plane took the node for lost and marked the Pod as not ready: writes the status
 * again.
 */
export function contradict(life: PodLife): Step {
  const { status } = life;
  const ours = readyCondition(status);
  const theirs = readyCondition(life.pod.status);
  if (status === undefined || ours?.status !== 'True' || theirs?.status === 'True') {
    return stay(life);
  }
  const isNewer =
    Date.parse(theirs?.lastTransitionTime ?? '') > Date.parse(ours.lastTransitionTime ?? '');
  const effects: PodEffect[] = [{ type: 'writeStatus', status, importance: 'latest' }];
  return isNewer ? { life, effects } : stay(life);
}

/**
 * The last status of an earlier life of the node holds until all is there again, or the Pod ends.
 */
function isSilent({ stage, isResumed, mode }: PodLife): boolean {
  return (
    stage.name === 'Adopting' || (isResumed && stage.name === 'Preparing' && mode !== 'ending')
  );
}

function isReady(status: PodStatus | undefined): boolean {
  return readyCondition(status)?.status === 'True';
}

function readyCondition(status: PodStatus | undefined): PodCondition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}
