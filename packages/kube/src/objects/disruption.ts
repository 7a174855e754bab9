/** The condition of a Pod that goes through no fault of its own, which a Pod failure policy may ignore. */
import { timeText } from '../time.ts';
import type { PodCondition } from './pod.ts';

export const DISRUPTION_TARGET = 'DisruptionTarget';

/** `nowMs`: milliseconds since 1970. */
export function disruption(reason: string, message: string, nowMs: number): PodCondition {
  return {
    type: DISRUPTION_TARGET,
    status: 'True',
    reason,
    message,
    lastTransitionTime: timeText(nowMs),
  };
}
