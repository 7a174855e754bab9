/**
 * Reports members whose agents have a hub and do not connect: behind a network policy, or after a
 * new installation with other authorities. Their restarts would be slower, or impossible, although
 * the status shows the epoch as released. A member counts whose agent runs, ready or not: a sidecar
 * that waits at the barrier never makes its Pod ready.
 */
import { namespaceOf } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { templateAgent } from '../../injection/template-agent.ts';
import {
  ENV_AGENT_CHANNEL,
  ENV_HUB_CA,
  ENV_HUB_URL,
  HUB_AUTHORITIES_NAME,
  HUB_TOKEN_VOLUME_NAME,
  JOBSET_NAME,
} from '../../names.ts';
import { cleared, isTrue } from '../../status/conditions.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';
import type { HubReach } from '../snapshot.ts';

/** An agent that can connect does so at once, and looks for a lost hub each second. */
export const HUB_SILENCE_MS = 20_000;
/** If a Job knows other authorities, a node shows its Pods the current ones within two minutes. */
export const AUTHORITIES_SPREAD_MS = 150_000;
/** From one look at members without a stream to the next. */
export const HUB_LOOK_MS = 5_000;
/** The most Pods that are read for one look, and the most that a message names. */
export const MAX_SILENT_READS = 8;
const MAX_NAMED = 5;

const TYPE = 'HubUnreachable';

/** Whether the Job gives its agents a hub. */
export function isToldOfHub(job: Job): boolean {
  return variable(job, ENV_HUB_URL) !== undefined;
}

export function reportHubReach(facts: Facts): readonly Decision[] {
  const { hubReach, spec, children, group, status, answer } = facts;
  const told = group === undefined || spec.suspend ? undefined : children.active.find(isToldOfHub);
  if (hubReach === undefined || told === undefined) {
    return [{ conditions: [cleared(TYPE, 'NoHub', 'no agent of the group is to use the hub')] }];
  }
  const again: Decision = { requeueAfterMs: HUB_LOOK_MS };
  if (hubReach.missing === 0) {
    // Without any stream, perhaps no agent has started yet.
    if (hubReach.streams === 0) return [again];
    const reached = cleared(TYPE, 'HubReached', 'agents of the group speak to the hub');
    return [{ conditions: [reached] }, ...(hubReach.isOld === true ? [again] : [])];
  }
  if (isTrue(status.conditions, TYPE)) return [again];
  const silent = overdue(hubReach, facts);
  const pods = silent.slice(0, MAX_SILENT_READS).map(({ pod }) => pod);
  const question = { kind: 'SilentAgents', pods } as const;
  const silentAgents = answer(question);
  if (silentAgents === undefined) {
    return pods.length === 0 || !hubReach.mayLook ? [again] : [{ question }];
  }
  const names = silent
    .filter(({ pod, patienceMs }) => (silentAgents.get(pod.uid) ?? 0) >= patienceMs)
    .map(({ pod }) => pod.name);
  if (names.length === 0) return [again];
  const message = messageOf(told, facts, hubReach, names);
  const reason = hubReach.streams === 0 ? 'NoAgentConnected' : 'AgentsNotConnected';
  return [
    { conditions: [{ type: TYPE, status: 'True', reason, message, event: 'Warning' }] },
    again,
  ];
}

/** Members that are without a stream for longer than their own Job explains. */
function overdue({ silent }: HubReach, facts: Facts) {
  const long = silent.filter(({ silentMs }) => silentMs >= HUB_SILENCE_MS);
  if (long.length === 0) return [];
  const jobs = new Map(facts.children.active.map((job) => [job.metadata.uid, job]));
  return long.flatMap((one) => {
    const job = jobs.get(one.pod.jobUid);
    const patienceMs = job === undefined ? AUTHORITIES_SPREAD_MS : patienceFor(job, facts);
    return one.silentMs >= patienceMs ? [{ ...one, patienceMs }] : [];
  });
}

/** How long an agent may be without a stream. */
function patienceFor(job: Job, { agent }: Facts): number {
  const isCurrent = variable(job, ENV_HUB_CA) === agent.hub?.authorities;
  return isCurrent ? HUB_SILENCE_MS : AUTHORITIES_SPREAD_MS;
}

function messageOf(
  job: Job,
  { jobSet }: Facts,
  { streams, missing }: HubReach,
  names: readonly string[],
): string {
  const url = variable(job, ENV_HUB_URL) ?? '';
  const more = names.length > MAX_NAMED ? ' and others' : '';
  const who =
    streams === 0
      ? `none of ${missing} members has`
      : `${missing} of ${streams + missing} members have not`;
  return (
    `${who} reached the hub at ${url}, though agents run, as in ` +
    `${names.slice(0, MAX_NAMED).join(', ')}${more}: ${consequence(job)}. ` +
    `${remedy(job, url, jobSet.metadata.name)}. The log of an agent says what it saw; ` +
    `lockstep doctor --probe ${jobSet.metadata.name} -n ${namespaceOf(jobSet.metadata)} looks from such a Pod`
  );
}

function consequence(job: Job): string {
  return variable(job, ENV_AGENT_CHANNEL) === 'Hub'
    ? 'the failure of such a worker restarts nothing'
    : 'they use the API server, over which the group restarts more slowly';
}

function remedy(job: Job, url: string, jobSet: string): string {
  const [, namespace, port] = /^https:\/\/[^./]+\.([^./]+)\.svc:(\d+)$/.exec(url) ?? [];
  const network =
    namespace === undefined
      ? `Let their network reach ${url}`
      : `Allow in NetworkPolicies egress from these Pods to TCP port ${port} of namespace ${namespace} and to the name service, and ingress to that port there`;
  const remake =
    'delete the Jobs, and the operator recreates them with the current authorities: ' +
    `kubectl delete jobs -l ${JOBSET_NAME}=${jobSet}`;
  return followsAuthorities(job)
    ? `${network}, and check that ConfigMap ${HUB_AUTHORITIES_NAME} is in the namespace; or ${remake}`
    : `Their Jobs know only the authorities that were valid when they were created. ${network}; or ${remake}`;
}

/** Jobs of earlier versions do not. */
export function followsAuthorities({ spec }: Job): boolean {
  const volume = spec.template.spec.volumes?.find(({ name }) => name === HUB_TOKEN_VOLUME_NAME);
  return volume?.projected?.sources?.some(({ configMap }) => configMap !== undefined) ?? false;
}

function variable({ spec }: Job, name: string): string | undefined {
  return templateAgent(spec.template)?.env?.find((one) => one.name === name)?.value;
}
