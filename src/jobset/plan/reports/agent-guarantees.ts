/**
 * Upstream's agent works with our controller, but with fewer guarantees
 * (`docs/design/upstream.md#upstreams-agent-under-our-operator`). It reads from a cache of any age
 * and remembers nothing, and it knows no stages. A condition says so while the group restarts in
 * place. The operator sees only the container's environment, not the program that it runs.
 */

import type { DefaultedSpec } from '../../defaults.ts';
import { hasStartupOrder } from '../../epoch/startup-stages.ts';
import { speaksUpstreamsDialect, templateAgent } from '../../injection/template-agent.ts';
import { cleared } from '../../status/conditions.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';

export function reportGuarantees({ spec, group }: Facts): readonly Decision[] {
  const type = 'GuaranteesReduced';
  const found = group === undefined ? [] : upstreamsAgents(spec);
  if (found.length === 0) {
    const message =
      group === undefined
        ? 'the group does not restart in place'
        : "no template has an agent that speaks upstream's dialect";
    return [{ conditions: [cleared(type, 'NoUpstreamAgent', message)] }];
  }
  const message =
    `${found.join(', ')} in upstream's dialect: with upstream's agent, a restarted worker may join an ` +
    'epoch that is under way, its failure may go unnoticed, workers of two epochs may run at a time, ' +
    'an agent that crashes at the barrier costs another restart, and Pods left over by an earlier ' +
    `JobSet of this name may take part${hasStartupOrder(spec) ? `; ${STAGES}` : ''}. ` +
    'lockstep-agent instead has none of these faults except the costly crash';
  const reason = 'UpstreamAgent';
  return [{ conditions: [{ type, status: 'True', reason, message, event: 'Warning' }] }];
}

const STAGES =
  'and the startup order stops after its first ReplicatedJob, since that agent waits for all of them';

function upstreamsAgents({ replicatedJobs }: DefaultedSpec): readonly string[] {
  return replicatedJobs.flatMap(({ name, template }) => {
    const agent = templateAgent(template.spec.template);
    return agent !== undefined && speaksUpstreamsDialect(agent)
      ? [`agent container "${agent.name}" of replicatedJob ${name}`]
      : [];
  });
}
