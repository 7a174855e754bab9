/** What makes the Pod of `lockstep doctor --probe` see what Pods of a JobSet see. */

import type { LabelSelector, Stored, StringMap } from '@lockstep/kube/meta.ts';
import { JOB_NAME_LABEL } from '@lockstep/kube/objects/job.ts';
import type { PodSpec } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { NETWORK_POLICIES } from '../../deploy/kinds.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import {
  EXCLUSIVE_TOPOLOGY,
  JOBSET_NAME,
  KUEUE_QUEUE_NAME,
  OWN_PREFIX,
} from '../../jobset/names.ts';
import { type Asking, checkOf, type Finding, fact, ifServed, named } from './finding.ts';

export interface Likeness {
  readonly labels: StringMap;
  readonly spec: Partial<PodSpec>;
}

/** Fields of a Pod that decide where it runs, as whom, and what it reaches. */
const COPIED: ReadonlySet<string> = new Set([
  'serviceAccountName',
  'serviceAccount',
  'automountServiceAccountToken',
  'imagePullSecrets',
  'nodeSelector',
  'tolerations',
  'runtimeClassName',
  'hostNetwork',
  'hostAliases',
  'dnsPolicy',
  'dnsConfig',
]);

/** Takes the first template: most JobSets have one kind of Pods, or put all into one network. */
export function likenessOf({ spec }: JobSet): Likeness {
  const template = spec?.replicatedJobs?.[0]?.template.spec.template;
  const labels = Object.entries(template?.metadata?.labels ?? {});
  const fields = Object.entries(template?.spec ?? {});
  return {
    labels: Object.fromEntries(labels.filter(([key]) => !marksMembers(key))),
    spec: Object.fromEntries(fields.filter(([key]) => COPIED.has(key))),
  };
}

const MEMBER_PREFIXES = [
  ...[JOBSET_NAME, EXCLUSIVE_TOPOLOGY, JOB_NAME_LABEL, KUEUE_QUEUE_NAME].map((key) =>
    key.slice(0, key.indexOf('/') + 1),
  ),
  OWN_PREFIX,
];
/** The old names of labels of the Job controller. */
const OLD_JOB_LABELS: ReadonlySet<string> = new Set(['job-name', 'controller-uid']);

/** By these keys controllers, webhooks, and the Service of a JobSet know its Pods. */
function marksMembers(key: string): boolean {
  return OLD_JOB_LABELS.has(key) || MEMBER_PREFIXES.some((prefix) => key.startsWith(prefix));
}

const MAX_POLICIES = 500;

/** The policies for Pods of the JobSet that the probe tells nothing of, because of its labels. */
export async function policyFindings(
  client: Client,
  asking: Asking,
  { metadata }: Stored<JobSet>,
): Promise<readonly Finding[]> {
  const { namespace = '', name } = metadata;
  const read = await fact(asking, 'list networkpolicies', (signal) =>
    ifServed(
      client
        .list(NETWORK_POLICIES, { namespace, limit: MAX_POLICIES, signal })
        .then(({ items }) => items),
      [],
    ),
  );
  const about = checkOf('Probe', 'probe-policies');
  if ('unknown' in read) return [about.unknown(read.unknown)];
  const unseen = read.value.filter(({ spec }) => selectsMembers(spec?.podSelector, name));
  if (unseen.length === 0) return [];
  const names = named(unseen.map((one) => one.metadata.name));
  const text = `the probe lacks labels by which these NetworkPolicies select Pods of JobSets, so they do not apply to it: ${names}`;
  const fix = `kubectl -n ${namespace} get networkpolicies -o yaml; look there for egress to the hub`;
  return [about.note(text, fix)];
}

function selectsMembers(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector = {},
  jobSet: string,
): boolean {
  if ((matchLabels[JOBSET_NAME] ?? jobSet) !== jobSet) return false;
  const keys = [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)];
  return keys.some(marksMembers);
}
