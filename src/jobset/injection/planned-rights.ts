/**
 * When the agents of a JobSet get their rights at the API server, and when they lose them. If new
 * agents use only the hub they need none. But agents of earlier Jobs may still fall back to the API
 * server, and so may Pods with an unknown Job.
 */
import type { Decision } from '../decision.ts';
import { jobsOfUnknownPods } from '../epoch/unknown-pods.ts';
import type { Facts } from '../facts.ts';
import { identityOf } from '../membership.ts';
import { type AgentRights, agentRights, mayUseAgentRights } from './agent-rights.ts';

export function grantRights(facts: Facts): readonly Decision[] {
  const { agent, surroundings } = facts;
  if (surroundings.hasAgentRights) return [];
  const areUsed = isUnsettled(facts) && mayBeUsed(facts);
  const rights = rightsOf(facts, areUsed ? undefined : agent.hub);
  return rights === undefined ? [] : [{ actions: [{ kind: 'GrantAgentRights', rights }] }];
}

/** Whatever becomes of the JobSet. */
export function revokeRights(facts: Facts): readonly Decision[] {
  if (!isUnsettled(facts) || rightsOf(facts, facts.agent.hub) === undefined) return [];
  const areNeeded = mayBeUsed(facts) || jobsOfUnknownPods(facts).length > 0;
  return areNeeded ? [] : [{ actions: [{ kind: 'RevokeAgentRights' }] }];
}

/** Whether there may be rights that no new agent needs. */
function isUnsettled({ agent, surroundings }: Facts): boolean {
  return agent.hub?.channel === 'Hub' && !surroundings.hasRevokedAgentRights;
}

function rightsOf({ jobSet, spec }: Facts, hub: Facts['agent']['hub']): AgentRights | undefined {
  return agentRights(identityOf(jobSet), spec, jobSet.metadata.annotations, hub);
}

function mayBeUsed({ jobs, spec }: Facts): boolean {
  return jobs.some((job) => mayUseAgentRights(job, spec));
}
