import { describe, expect, it } from 'vitest';
import {
  replicatedJob,
  SURROUNDINGS,
  storedJobSet,
} from '../../../test/fixtures/jobset-objects.ts';
import { actionsOf, COMPLETE, planOf } from '../../../test/fixtures/planned.ts';
import type { Stored } from '../../kube/meta.ts';
import type { Job } from '../../kube/objects/job.ts';
import { withDefaults } from '../defaults.ts';
import { MemberCounts } from '../epoch/members.ts';
import type { PodFacts } from '../epoch/pod-facts.ts';
import type { JobSetSpec } from '../jobset.ts';
import type { Snapshot } from '../snapshot.ts';
import { agentRights } from './agent-rights.ts';

const TRAIN = { name: 'train', namespace: 'ml', uid: 'u' };
const IN_PLACE = { failurePolicy: { restartStrategy: 'InPlaceRestart' } } as const;
const CREATED = '2026-01-01T00:00:00Z';
const OWNER = { kind: 'JobSet', name: 'train', uid: 'u', controller: true };

/** A JobSet with a ReplicatedJob for each Pod spec. */
function specOf(...pods: readonly object[]): JobSetSpec {
  return {
    ...IN_PLACE,
    replicatedJobs: pods.map((pod, i) => ({
      name: `r${i}`,
      template: {
        spec: { template: { spec: { containers: [{ name: 'w', image: 'i' }], ...pod } } },
      },
    })),
  };
}

const rightsOf = (spec: JobSetSpec, annotations = {}) =>
  agentRights(TRAIN, withDefaults(spec), annotations, undefined);
const subjectsOf = (...pods: readonly object[]) =>
  rightsOf(specOf(...pods))?.granted?.binding.subjects.map(({ name }) => name);

describe('the rights of agents', () => {
  it.each<['Auto' | 'Hub', boolean]>([
    ['Auto', true],
    ['Hub', false],
  ])('are none where they speak to the hub alone: %s', (channel, isGranted) => {
    const rights = agentRights(TRAIN, withDefaults(specOf({})), {}, { channel });
    expect(rights?.serviceAccount?.metadata.name).toBe('train-lockstep-agent');
    expect(rights?.granted !== undefined).toBe(isGranted);
  });

  it('are those of one JobSet, and belong to it', () => {
    const rights = rightsOf(specOf({}));
    expect(rights?.granted?.role.rules).toEqual([
      { apiGroups: [''], resources: ['pods'], verbs: ['patch'] },
      {
        apiGroups: ['jobset.x-k8s.io'],
        resources: ['jobsets'],
        resourceNames: ['train'],
        verbs: ['list', 'watch'],
      },
    ]);
    expect(rights?.granted?.binding).toMatchObject({
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'Role',
        name: 'train-lockstep-agent',
      },
      subjects: [{ kind: 'ServiceAccount', namespace: 'ml', name: 'train-lockstep-agent' }],
    });
    for (const object of [
      rights?.serviceAccount,
      rights?.granted?.role,
      rights?.granted?.binding,
    ]) {
      expect(object?.metadata).toMatchObject({
        name: 'train-lockstep-agent',
        namespace: 'ml',
        ownerReferences: [OWNER],
      });
    }
  });

  it('are those of the account that a template names, each once', () => {
    const own = { serviceAccountName: 'trainer' };
    expect(subjectsOf(own, own, { serviceAccount: 'old-name' })).toEqual(['old-name', 'trainer']);
    expect(rightsOf(specOf(own))?.serviceAccount).toBeUndefined();
    expect(subjectsOf(own, {})).toEqual(['train-lockstep-agent', 'trainer']);
    expect(rightsOf(specOf(own, {}))?.serviceAccount?.metadata.name).toBe('train-lockstep-agent');
  });

  it('are given only where an agent is injected', () => {
    const { replicatedJobs = [] } = specOf({});
    expect(rightsOf({ replicatedJobs })).toBeUndefined();
    expect(rightsOf(specOf({}), { 'lockstep/agent-injection': 'Disabled' })).toBeUndefined();
    const ownAgent = { initContainers: [{ name: 'in-place-restart-agent', image: 'i' }] };
    expect(rightsOf(specOf(ownAgent))).toBeUndefined();
    expect(subjectsOf({ ...ownAgent, serviceAccountName: 'theirs' }, {})).toEqual([
      'train-lockstep-agent',
    ]);
  });
});

describe('a plan', () => {
  const spec: JobSetSpec = { ...IN_PLACE, replicatedJobs: [replicatedJob('w', 1, 1)] };
  const begun = { ...storedJobSet(spec), status: { executionAttempts: 1 } };
  const without = { surroundings: { ...SURROUNDINGS, hasAgentRights: false } };

  it('gives the rights with the first Jobs, whose Pods use them', () => {
    const { actions } = planOf(begun, without);
    const create = actions.find((action) => action.kind === 'CreateJob');
    expect(actions.map(({ kind }) => kind)).toEqual(['GrantAgentRights', 'CreateJob']);
    expect(create?.job.spec.template.spec.serviceAccountName).toBe('train-lockstep-agent');
  });

  it('gives them once, and none to a JobSet without agents', () => {
    expect(actionsOf(planOf(begun))).toEqual(['CreateJob train-w-0']);
    const plain = { ...storedJobSet({ ...spec, failurePolicy: {} }), status: begun.status };
    expect(actionsOf(planOf(plain, without))).toEqual(['CreateJob train-w-0']);
  });
});

describe('where new agents speak to the hub alone, a plan', () => {
  const spec: JobSetSpec = { ...IN_PLACE, replicatedJobs: [replicatedJob('w', 1, 2)] };
  const begun = { ...storedJobSet(spec), status: { executionAttempts: 1 } };
  const UNSETTLED = { ...SURROUNDINGS, hasRevokedAgentRights: false };

  const access = (channel: 'Auto' | 'Hub') => ({ url: 'https://hub', authorities: '', channel });
  const agentOf = (channel: 'Auto' | 'Hub' | 'API') => ({
    image: 'agent',
    ...(channel === 'API' ? {} : { hub: access(channel) }),
  });

  /** A Job as a plan makes it, whose agents use that channel. */
  function jobUnder(channel: 'Auto' | 'Hub' | 'API', status: Job['status'] = {}): Stored<Job> {
    const { actions } = planOf(begun, { agent: agentOf(channel) });
    const create = actions.find((action) => action.kind === 'CreateJob');
    if (create === undefined) throw new Error('no Job is made');
    const identity = { uid: 'job-uid', resourceVersion: '1', creationTimestamp: CREATED };
    const metadata = { ...create.job.metadata, name: 'train-w-0', ...identity };
    return { ...create.job, metadata, status };
  }

  function rightsIn(more: Partial<Snapshot>): readonly string[] {
    const { actions } = planOf(begun, { agent: agentOf('Hub'), surroundings: UNSETTLED, ...more });
    return actions.map(({ kind }) => kind).filter((kind) => kind.endsWith('AgentRights'));
  }

  it.each<[string, readonly Stored<Job>[], readonly string[]]>([
    ['there is no Job', [], ['RevokeAgentRights']],
    ['no agent was told otherwise', [jobUnder('Hub')], ['RevokeAgentRights']],
    ['an agent may fall back to the API server', [jobUnder('Auto')], []],
    ['an agent knows the API server alone', [jobUnder('API')], []],
    ['such a Job is being deleted', [deleting(jobUnder('Auto'))], []],
    ['such a Job has ended', [jobUnder('Auto', COMPLETE)], ['RevokeAgentRights']],
  ])('takes rights away that no agent needs: %s', (_what, jobs, expected) => {
    expect(rightsIn({ jobs })).toEqual(expected);
  });

  it('takes them away once', () => {
    expect(rightsIn({ surroundings: SURROUNDINGS, jobs: [jobUnder('Hub')] })).toEqual([]);
  });

  it('grants them as long as an agent may need them', () => {
    const surroundings = { ...UNSETTLED, hasAgentRights: false };
    const { actions } = planOf(begun, {
      agent: agentOf('Hub'),
      surroundings,
      jobs: [jobUnder('Auto')],
    });
    const grant = actions.find((action) => action.kind === 'GrantAgentRights');
    expect(grant?.rights.granted).toBeDefined();
  });

  it('takes them from a JobSet that is over, when its Jobs have ended', () => {
    const completed = { type: 'Completed', status: 'True', reason: 'AllJobsCompleted' } as const;
    const conditions = [{ ...completed, message: '', lastTransitionTime: CREATED }];
    const over = { ...begun, status: { ...begun.status, conditions } };
    const rightsOver = (jobs: readonly Stored<Job>[]) =>
      planOf(over, { agent: agentOf('Hub'), surroundings: UNSETTLED, jobs }).actions.map(
        ({ kind }) => kind,
      );
    expect(rightsOver([jobUnder('Auto', COMPLETE)])).toEqual(['RevokeAgentRights']);
    expect(rightsOver([jobUnder('Auto')])).toEqual(['DeleteJob']);
  });

  it('waits for Pods with an unknown Job', () => {
    const members = new MemberCounts();
    members.observe(podOf('gone-job'), 0);
    expect(rightsIn({ members })).toEqual([]);
    members.forget('pod-uid');
    expect(rightsIn({ members })).toEqual(['RevokeAgentRights']);
  });

  it('does not think of it where agents may fall back, or have their own', () => {
    expect(rightsIn({ agent: agentOf('Auto') })).toEqual([]);
    expect(rightsIn({ agent: agentOf('API') })).toEqual([]);
  });
});

function deleting(job: Stored<Job>): Stored<Job> {
  return { ...job, metadata: { ...job.metadata, deletionTimestamp: CREATED } };
}

function podOf(jobUid: string): PodFacts {
  return {
    namespace: 'default',
    name: 'pod',
    uid: 'pod-uid',
    jobUid,
    jobName: 'job',
    slot: '0',
    epoch: 1,
    malformedEpoch: undefined,
    notice: undefined,
    isTerminating: false,
  };
}
