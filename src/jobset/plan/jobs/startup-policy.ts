/** The two conditions of the startup policy `InOrder`. */

import type { DefaultedReplicatedJob, DefaultedSpec } from '../../defaults.ts';
import type { Decision, PlannedEvent } from '../decision.ts';
import type { Facts } from '../facts.ts';

/**
 * The conditions follow each start and each restart of the JobSet, and stay unchanged while it is
 * suspended.
 */
export function reportStartup({ spec, startup }: Facts): readonly Decision[] {
  if (spec.startupPolicy.startupPolicyOrder !== 'InOrder' || spec.suspend) return [];
  return [{ conditions: [startup.inProgress === undefined ? COMPLETED : IN_PROGRESS] }];
}

const IN_PROGRESS = {
  type: 'StartupPolicyInProgress',
  status: 'True',
  reason: 'InOrderStartupPolicyInProgress',
  message: 'in order startup policy is in progress',
  event: 'Normal',
} as const;

const COMPLETED = {
  type: 'StartupPolicyCompleted',
  status: 'True',
  reason: 'InOrderStartupPolicyCompleted',
  message: 'in order startup policy has completed',
  event: 'Normal',
} as const;

/** Reports the start of a ReplicatedJob that waited, or may have waited, for others. */
export function eventsOfStart(
  { startupPolicy, suspend }: Pick<DefaultedSpec, 'startupPolicy' | 'suspend'>,
  { name, dependsOn = [] }: DefaultedReplicatedJob,
): readonly PlannedEvent[] {
  const isOrdered = startupPolicy.startupPolicyOrder === 'InOrder' || dependsOn.length > 0;
  if (suspend || !isOrdered) return [];
  const note = `starting replicatedJob ${name}`;
  return [{ type: 'Normal', reason: 'StartingReplicatedJob', note }];
}
