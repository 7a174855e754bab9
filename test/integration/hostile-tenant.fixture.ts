/** Objects that a tenant may create to look like parts of another user's JobSet. */

import type { KubeObject, OwnerReference, Stored, StringMap } from '@lockstep/kube/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '@lockstep/kube/objects/core.ts';
import { COMPLETION_INDEX, JOBS, type JobStatus } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { ROLE_BINDINGS, ROLES } from '@lockstep/kube/objects/rbac.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { AGENT_STARTS, EPOCH, NOTICE } from '../../src/jobset/names.ts';

/**
 * Each kind of object that the operator watches, with the UIDs and names of the victim. Finalizers
 * keep the garbage collector away, as an attacker would.
 */
export interface Victim {
  readonly jobSet: Stored<KubeObject>;
  readonly job: Stored<KubeObject>;
  /** The current epoch, C. */
  readonly epoch: number;
}

export interface Forgery {
  readonly what: string;
  /** The text of the Event about it, if one is due. */
  readonly told?: { readonly kind: string; readonly name: string };
  forge(client: Client, victim: Victim): Promise<unknown>;
}

export const HOSTILE_NAMESPACE = 'hostile';

const TIME = '2026-01-01T00:00:00Z';
const HELD = { finalizers: ['example.com/held'] };
const JOB_STATUSES: Readonly<Record<string, JobStatus>> = {
  complete: {
    startTime: TIME,
    completionTime: TIME,
    succeeded: 3,
    completedIndexes: '0-2',
    conditions: ['SuccessCriteriaMet', 'Complete'].map((type) => condition(type)),
  },
  failed: {
    startTime: TIME,
    failed: 1,
    conditions: ['FailureTarget', 'Failed'].map((type) => condition(type)),
  },
  running: { startTime: TIME, active: 3, ready: 3 },
  suspended: { conditions: [condition('Suspended')] },
};

function condition(type: string) {
  const times = { lastProbeTime: TIME, lastTransitionTime: TIME };
  return {
    type,
    status: 'True' as const,
    reason: 'BackoffLimitExceeded',
    message: 'forged',
    ...times,
  };
}

type Reference = (victim: Victim) => readonly OwnerReference[];

function toJobSet({ jobSet }: Victim): OwnerReference {
  const { name, uid } = jobSet.metadata;
  const apiVersion = `${JOBSETS.group}/${JOBSETS.version}`;
  return { apiVersion, kind: JOBSETS.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

function toJob({ job }: Victim): OwnerReference {
  const { name, uid } = job.metadata;
  return { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true };
}

/**
 * The labels by which the operator knows its own objects; Kubernetes itself adopts what a Job
 * selects.
 */
function labelsOf({ job }: Victim): StringMap {
  const labels = Object.entries(job.metadata.labels ?? {});
  return Object.fromEntries(labels.filter(([key]) => key.startsWith('jobset.sigs.k8s.io/')));
}

const OTHER_UID = '00000000-0000-4000-8000-000000000000';
const NO_OWNER: Reference = () => [];
const JOBSET: Reference = (victim) => [toJobSet(victim)];
const JOB: Reference = (victim) => [toJob(victim)];

function forgedJob(
  namespace: string,
  what: string,
  name: string,
  state: keyof typeof JOB_STATUSES,
  owners: Reference = JOBSET,
): Forgery {
  return {
    what,
    told: { kind: 'Job', name },
    forge: async (client, victim) => {
      const containers = [{ name: 'main', image: 'none', command: ['true'] }];
      const metadata = { ...HELD, name, namespace, labels: labelsOf(victim) };
      const made = await client.create(JOBS, {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { ...metadata, ownerReferences: owners(victim) },
        spec: {
          completionMode: 'Indexed',
          completions: 3,
          parallelism: 3,
          suspend: state === 'suspended',
          managedBy: 'example.com/forger',
          template: { spec: { restartPolicy: 'Never', containers } },
        },
      });
      const status = JOB_STATUSES[state] ?? {};
      await client.patch(
        JOBS,
        { namespace, name: made.metadata.name },
        { type: 'merge', patch: { status } },
        { subresource: 'status' },
      );
    },
  };
}

function forgedPod(
  namespace: string,
  what: string,
  name: string,
  annotations: (victim: Victim) => StringMap,
  owners: Reference = JOB,
  phase: 'Pending' | 'Succeeded' = 'Pending',
): Forgery {
  return {
    what,
    told: { kind: 'Pod', name },
    forge: async (client, victim) => {
      await client.create(PODS, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          ...HELD,
          name,
          namespace,
          labels: labelsOf(victim),
          annotations: { [COMPLETION_INDEX]: '0', ...annotations(victim) },
          ownerReferences: owners(victim),
        },
        // It never gets a node, so it lives as long as the attacker wants.
        spec: {
          containers: [{ name: 'main', image: 'none' }],
          schedulingGates: [{ name: 'example.com/gate' }],
        },
      });
      if (phase === 'Pending') return;
      const patch = { status: { phase } };
      const at = { namespace, name };
      await client.patch(PODS, at, { type: 'merge', patch }, { subresource: 'status' });
    },
  };
}

function forgedObject<T extends KubeObject>(
  of: Resource<T>,
  namespace: string,
  name: (victim: Victim) => string,
  body: object,
  told?: string,
): Forgery {
  return {
    what: `a ${of.kind}`,
    ...(told === undefined ? {} : { told: { kind: of.kind, name: told } }),
    forge: (client, victim) =>
      client.create(of, {
        apiVersion: of.group === '' ? of.version : `${of.group}/${of.version}`,
        kind: of.kind,
        metadata: {
          ...HELD,
          name: name(victim),
          namespace,
          labels: labelsOf(victim),
          ownerReferences: JOBSET(victim),
        },
        ...body,
      } as unknown as T),
  };
}

const gated = (): StringMap => ({});
const failing = ({ epoch }: Victim): StringMap => ({ [EPOCH]: String(epoch + 1) });
const ahead = ({ epoch }: Victim): StringMap => ({ [EPOCH]: String(epoch + 7) });
const arrived = ({ epoch }: Victim): StringMap => ({ [EPOCH]: String(epoch) });
const crashing = (victim: Victim): StringMap => ({
  ...arrived(victim),
  [AGENT_STARTS]: `${victim.epoch}:9`,
  [NOTICE]: String(victim.epoch),
});

const H = HOSTILE_NAMESPACE;
const CLAIM_SPEC = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const ROLE_REF = {
  apiGroup: 'rbac.authorization.k8s.io',
  kind: 'Role',
  name: 'train-lockstep-agent',
};

/** With the UIDs of the victim's objects, in a namespace of the attacker's. */
export const FROM_ANOTHER_NAMESPACE: readonly Forgery[] = [
  forgedJob(H, 'a Job that is complete', 'train-w-0', 'complete'),
  forgedJob(H, 'a Job that has failed', 'failed', 'failed'),
  forgedJob(H, 'a Job that runs', 'running', 'running'),
  forgedJob(H, 'a Job that is suspended', 'suspended', 'suspended'),
  forgedPod(H, 'a Pod that never gets to the barrier', 'gated', gated),
  forgedPod(H, 'a Pod that announces a failure', 'failing', failing),
  forgedPod(H, 'a Pod that is ahead of its time', 'ahead', ahead),
  forgedPod(H, 'a Pod that has arrived', 'arrived', arrived),
  forgedPod(H, 'a Pod whose agent crashes', 'crashing', crashing),
  forgedPod(H, 'a Pod that has succeeded', 'succeeded', gated, JOB, 'Succeeded'),
  forgedPod(H, 'a Pod of an unknown Job', 'unknown', gated, (victim) => [
    { ...toJob(victim), uid: OTHER_UID },
  ]),
  forgedPod(H, 'a Pod that only wears labels', 'labelled', failing, NO_OWNER),
  forgedObject(SERVICES, H, () => 'train', { spec: { clusterIP: 'None' } }, 'train'),
  forgedObject(PERSISTENT_VOLUME_CLAIMS, H, () => 'data-train', { spec: CLAIM_SPEC }, 'data-train'),
  forgedObject(SERVICE_ACCOUNTS, H, () => 'train-lockstep-agent', {}),
  forgedObject(ROLES, H, () => 'train-lockstep-agent', { rules: [] }),
  forgedObject(ROLE_BINDINGS, H, () => 'train-lockstep-agent', { roleRef: ROLE_REF, subjects: [] }),
];

const D = 'default';

/** In the victim's own namespace, with an owner reference that is wrong in some detail. */
export const FROM_THE_SAME_NAMESPACE: readonly Forgery[] = [
  ...(['complete', 'failed', 'suspended'] as const).flatMap((state) => [
    forgedJob(D, `a ${state} Job that only wears labels`, `labelled-${state}`, state, NO_OWNER),
    forgedJob(
      D,
      `a ${state} Job whose owner is no controller`,
      `owned-${state}`,
      state,
      (victim) => [{ ...toJobSet(victim), controller: false }],
    ),
    forgedJob(
      D,
      `a ${state} Job with another UID of its owner`,
      `uid-${state}`,
      state,
      (victim) => [{ ...toJobSet(victim), uid: OTHER_UID }],
    ),
    forgedJob(
      D,
      `a ${state} Job with another name of its owner`,
      `name-${state}`,
      state,
      (victim) => [{ ...toJobSet(victim), name: 'other' }],
    ),
    forgedJob(D, `a ${state} Job of another kind of owner`, `kind-${state}`, state, (victim) => [
      { ...toJobSet(victim), apiVersion: 'example.com/v1' },
    ]),
  ]),
  forgedPod(D, 'a failing Pod that only wears labels', 'labelled-failing', failing, NO_OWNER),
  forgedPod(D, 'a gated Pod that only wears labels', 'labelled-gated', gated, NO_OWNER),
  forgedPod(D, 'a failing Pod whose Job is no controller', 'owned-failing', failing, (victim) => [
    { ...toJob(victim), controller: false },
  ]),
  forgedPod(D, 'a failing Pod with another name of its Job', 'name-failing', failing, (victim) => [
    { ...toJob(victim), name: 'other' },
  ]),
  forgedPod(D, 'a gated Pod with another name of its Job', 'name-gated', gated, (victim) => [
    { ...toJob(victim), name: 'other' },
  ]),
  forgedPod(
    D,
    'a crashing Pod with another name of its Job',
    'name-crashing',
    crashing,
    (victim) => [{ ...toJob(victim), name: 'other' }],
  ),
  forgedPod(
    D,
    'a succeeded Pod with another name of its Job',
    'name-succeeded',
    gated,
    (victim) => [{ ...toJob(victim), name: 'other' }],
    'Succeeded',
  ),
  forgedPod(
    D,
    'a succeeded Pod of an unknown Job',
    'unknown-succeeded',
    gated,
    (victim) => [{ ...toJob(victim), uid: OTHER_UID }],
    'Succeeded',
  ),
];

/** In the victim's own namespace: it could be left over from a deleted Job. */
export function podOfUnknownJob(name: string, announces: 'Nothing' | 'Failure' | 'Arrival') {
  const said = { Nothing: gated, Failure: failing, Arrival: arrived }[announces];
  return forgedPod(D, 'a Pod of an unknown Job', name, said, (victim) => [
    { ...toJob(victim), uid: OTHER_UID },
  ]);
}

/** The attacker removes its finalizer. */
export async function takeAway(client: Client, name: string, namespace = 'default'): Promise<void> {
  const at = { namespace, name };
  await client.delete(PODS, at, { gracePeriodSeconds: 0 });
  await client.patch(PODS, at, { type: 'merge', patch: { metadata: { finalizers: null } } });
}

export function manyJobs(index: number): Forgery {
  return forgedJob(H, 'one of many Jobs', `many-${index}`, 'complete');
}
