import type { DefaultedSpec } from '../defaults.ts';
import type { StatusDraft } from '../status/status-draft.ts';
import { speaksUpstreamsDialect, templateAgent } from './template-agent.ts';

/**
 * Upstream's agent works with our controller, but not everything can be promised with it: it reads
 * from a cache of any age, remembers nothing, follows a JobSet by its name, and knows no startup
 * order (`docs/design/upstream.md#upstreams-agent-under-our-operator`). A condition says so for as
 * long as the group restarts in place. Only the environment of the container can be seen, not whose
 * program it runs.
 */
export function reportAgents(draft: StatusDraft, spec: DefaultedSpec, isGroup: boolean): void {
  const found = isGroup ? upstreamsAgents(spec) : [];
  if (found.length === 0) {
    const message = isGroup
      ? "no template has an agent that speaks upstream's dialect"
      : 'the group does not restart in place';
    draft.clear({ type: 'GuaranteesReduced', reason: 'NoUpstreamAgent', message });
    return;
  }
  const message =
    `${found.join(', ')} in upstream's dialect: with upstream's agent, a restarted worker may join an ` +
    'epoch that is under way, its failure may go unnoticed, workers of two epochs may run at a time, ' +
    'an agent that crashes at the barrier costs another restart, and Pods left over by an earlier ' +
    `JobSet of this name may take part${hasOrder(spec) ? `; ${STAGES}` : ''}. ` +
    'lockstep-agent instead has none of these faults except the costly crash';
  draft.condition(
    { type: 'GuaranteesReduced', status: 'True', reason: 'UpstreamAgent', message },
    'Warning',
  );
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

function hasOrder({ startupPolicy, replicatedJobs }: DefaultedSpec): boolean {
  return (
    startupPolicy.startupPolicyOrder === 'InOrder' ||
    replicatedJobs.some(({ dependsOn = [] }) => dependsOn.length > 0)
  );
}
