/**
 * Reports a group whose agents have a hub and do not connect: after a new installation with other
 * authorities, or behind a network policy. Its restarts would be slower, or impossible, although
 * the status shows the epoch as released.
 */
import type { Job } from '../../kube/objects/job.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';
import { templateAgent } from '../injection/template-agent.ts';
import {
  ENV_AGENT_CHANNEL,
  ENV_HUB_URL,
  HUB_AUTHORITIES_NAME,
  HUB_TOKEN_VOLUME_NAME,
  JOBSET_NAME,
} from '../names.ts';
import { cleared } from '../status/conditions.ts';

/**
 * An agent that finds no hub tries every 10 s, and a node shows it new authorities within two
 * minutes.
 */
export const HUB_SILENCE_MS = 180_000;

export function reportHubReach({
  jobSet,
  hubReach,
  spec,
  children,
  group,
}: Facts): readonly Decision[] {
  const type = 'HubUnreachable';
  const told = group === undefined || spec.suspend ? undefined : children.active.find(isToldOfHub);
  if (hubReach === undefined || told === undefined || hubReach.streams > 0) {
    const [reason, message] =
      told === undefined || hubReach === undefined
        ? ['NoHub', 'no agent of the group is to speak to the hub']
        : ['HubReached', 'agents of the group speak to the hub'];
    return [{ conditions: [cleared(type, reason, message)] }];
  }
  const { silentMs, readyPods } = hubReach;
  if (silentMs < HUB_SILENCE_MS) return [{ requeueAfterMs: HUB_SILENCE_MS - silentMs }];
  // If no Pod was ready, perhaps no agent has started yet.
  if (readyPods === 0) return [];
  const message =
    `no agent has reached the hub for ${HUB_SILENCE_MS / 60_000} minutes, though Pods were ready: ` +
    `${consequence(told)}. ${remedy(told, jobSet.metadata.name)}`;
  const reason = 'NoAgentConnected';
  return [{ conditions: [{ type, status: 'True', reason, message, event: 'Warning' }] }];
}

function isToldOfHub(job: Job): boolean {
  return variable(job, ENV_HUB_URL) !== undefined;
}

function consequence(job: Job): string {
  return variable(job, ENV_AGENT_CHANNEL) === 'Hub'
    ? 'the failure of a worker restarts nothing'
    : 'the group restarts over the API server, which takes longer';
}

function remedy(job: Job, jobSet: string): string {
  const url = variable(job, ENV_HUB_URL) ?? '';
  const network = `Let their network reach ${url}`;
  const remake =
    'delete the Jobs, and the operator recreates them with the current authorities: ' +
    `kubectl delete jobs -l ${JOBSET_NAME}=${jobSet}`;
  return followsAuthorities(job)
    ? `${network}, and check that ConfigMap ${HUB_AUTHORITIES_NAME} is in the namespace; or ${remake}`
    : `Their Jobs know only the authorities that were valid when they were created. ${network}; or ${remake}`;
}

/** Jobs of earlier versions do not. */
function followsAuthorities({ spec }: Job): boolean {
  const volume = spec.template.spec.volumes?.find(({ name }) => name === HUB_TOKEN_VOLUME_NAME);
  return volume?.projected?.sources?.some(({ configMap }) => configMap !== undefined) ?? false;
}

function variable({ spec }: Job, name: string): string | undefined {
  return templateAgent(spec.template)?.env?.find((one) => one.name === name)?.value;
}
