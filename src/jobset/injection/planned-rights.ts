/**
 * When the agents of a JobSet get their rights at the API server, and when these are taken away: where
 * new agents speak to the hub alone they need none, but those of Jobs that were made before may still
 * fall back to the API server, and so may Pods whose Job is not known.
 */
import type { Action } from '../convergence.ts';
import type { Planning } from '../planning.ts';
import type { Snapshot } from '../snapshot.ts';
import { agentRights, mayUseAgentRights } from './agent-rights.ts';

type View = Pick<Planning, 'snapshot' | 'spec'>;

/** Of a JobSet that is to run. */
export function plannedRights(view: View): readonly Action[] {
  if (view.snapshot.surroundings.hasAgentRights) return unneededRights(view);
  const areUsed = isUnsettled(view.snapshot) && mayBeUsed(view);
  const rights = rightsOf(view, areUsed ? undefined : view.snapshot.agent.hub);
  const granted: readonly Action[] =
    rights === undefined ? [] : [{ kind: 'GrantAgentRights', rights }];
  return [...granted, ...unneededRights(view)];
}

/** To be taken away, whatever becomes of the JobSet. */
export function unneededRights(view: View): readonly Action[] {
  const { snapshot } = view;
  if (!isUnsettled(snapshot) || rightsOf(view, snapshot.agent.hub) === undefined) return [];
  const areNeeded = mayBeUsed(view) || hasPodsOfUnknownJobs(snapshot);
  return areNeeded ? [] : [{ kind: 'RevokeAgentRights' }];
}

/** Whether there may be rights that no new agent needs. */
function isUnsettled({ agent, surroundings }: Snapshot): boolean {
  return agent.hub?.channel === 'Hub' && !surroundings.hasRevokedAgentRights;
}

function rightsOf({ snapshot, spec }: View, hub: Snapshot['agent']['hub']) {
  const { name, namespace = '', uid, annotations } = snapshot.jobSet.metadata;
  return agentRights({ name, namespace, uid }, spec, annotations, hub);
}

function mayBeUsed({ snapshot, spec }: View): boolean {
  return snapshot.jobs.some((job) => mayUseAgentRights(job, spec));
}

function hasPodsOfUnknownJobs({ members, jobs }: Snapshot): boolean {
  const known = new Set(jobs.map(({ metadata }) => metadata.uid));
  for (const uid of members.jobsWithLivingPods()) if (!known.has(uid)) return true;
  return false;
}
