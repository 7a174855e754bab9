import { describe, expect, it } from 'vitest';
import {
  replicatedJob,
  SURROUNDINGS,
  storedJobSet,
} from '../../../test/fixtures/jobset-objects.ts';
import { actionsOf, planOf } from '../../../test/fixtures/planned.ts';
import { withDefaults } from '../defaults.ts';
import type { JobSetSpec } from '../jobset.ts';
import { agentRights } from './agent-rights.ts';

const TRAIN = { name: 'train', namespace: 'ml', uid: 'u' };
const IN_PLACE = { failurePolicy: { restartStrategy: 'InPlaceRestart' } } as const;
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
