/**
 * When agents get rights at the API server: with the first Jobs, whose Pods use them. The rights go
 * with the JobSet.
 */

import { agentRights } from '../../injection/agent-rights.ts';
import { identityOf } from '../../membership.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';

export function grantRights({ jobSet, spec, agent, surroundings }: Facts): readonly Decision[] {
  if (surroundings.hasAgentRights) return [];
  const rights = agentRights(identityOf(jobSet), spec, jobSet.metadata.annotations, agent);
  return rights === undefined ? [] : [{ actions: [{ kind: 'GrantAgentRights', rights }] }];
}
