import { JOBS } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { failure } from '@lockstep/kube/status.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { storedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { podOf } from '../../../test/fixtures/snapshots.ts';
import type { Action } from '../../jobset/plan/decision.ts';
import { type ActionResult, carryOut, type FailedAction } from './carry-out.ts';

const JOBSET = storedJobSet({});
const JOB = storedJob('train-w-0', 'w');
const CREATE: Action = { kind: 'CreateJob', job: storedJob('train-w-1', 'w') };
const SERVICE: Action = {
  kind: 'CreateService',
  service: { apiVersion: 'v1', kind: 'Service', metadata: { name: 'train', namespace: 'default' } },
};
const CLAIM: Action = {
  kind: 'CreateClaim',
  claim: {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data-train', namespace: 'default' },
  },
};

let client: MemoryClient;
let results: ActionResult[];

beforeEach(() => {
  client = new MemoryClient();
  results = [];
});

function carried(...actions: readonly Action[]): Promise<readonly FailedAction[]> {
  const { signal } = new AbortController();
  const context = { client, clock: new VirtualClock(), jobSet: JOBSET, signal };
  return carryOut(context, actions, (result) => results.push(result));
}

function kinds(): readonly string[] {
  return results.map(({ kind }) => kind);
}

type FailureReason = 'Forbidden' | 'AlreadyExists' | 'Invalid' | 'NotFound';

function fail(on: string, reason: FailureReason, text = 'no'): void {
  client.before = (verb, path) => {
    if (`${verb} ${path}`.includes(on)) throw failure(reason, text);
  };
}

describe('Jobs are started last', () => {
  test('after the Service and the claims that their Pods need', async () => {
    expect(await carried(CREATE, CLAIM, SERVICE)).toEqual([]);
    expect(client.calls.map((call) => call.split('/').at(-1))).toEqual([
      'data-train',
      'train',
      'train-w-1',
    ]);
    expect(results).toEqual([
      { kind: 'ClaimExists', name: 'data-train' },
      { kind: 'JobWritten', job: expect.objectContaining({ kind: 'Job' }) },
    ]);
  });

  test.each([
    ['services', 'HeadlessServiceCreationFailed'],
    ['persistentvolumeclaims', 'PVCCreationFailed'],
  ])('and not at all without their %s, which is reported', async (on, reason) => {
    fail(on, 'Forbidden', '100% full');
    const failed = await carried(CREATE, CLAIM, SERVICE);
    expect(failed).toEqual([
      {
        kind: 'Failed',
        reason,
        error: expect.objectContaining({ message: expect.stringContaining('100% full') }),
      },
    ]);
    expect(client.calls.some((call) => call.includes('/jobs'))).toBe(false);
  });

  test('but one that exists is as good as made', async () => {
    fail('persistentvolumeclaims', 'AlreadyExists');
    expect(await carried(CREATE, CLAIM)).toEqual([]);
    expect(results[0]).toEqual({ kind: 'ClaimExists', name: 'data-train' });
    expect(client.calls.at(-1)).toContain('/jobs');
  });
});

test('what fails does not keep back the others, and is thrown in the end', async () => {
  fail('DELETE', 'Forbidden');
  const work = carried({ kind: 'DeleteJob', job: JOB }, CREATE);
  await expect(work).rejects.toThrow('no');
  expect(client.calls.at(-1)).toContain('POST');
});

test('rights that cannot be given are reported, and no Job is made without them', async () => {
  fail('rolebindings', 'Forbidden', 'rolebindings is forbidden');
  const of = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { namespace: 'default' } };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' } as const;
  const rights = {
    role: { ...of, kind: 'Role', rules: [] },
    binding: { ...of, kind: 'RoleBinding', roleRef, subjects: [] },
  };
  const [failed] = await carried(CREATE, { kind: 'GrantAgentRights', rights });
  expect(failed?.reason).toBe('AgentRightsFailed');
  expect(kinds()).toEqual(['Failed']);
});

test('a Pod that is deleted by force is counted, one that is gone is not', async () => {
  const at = { namespace: 'default', name: 'train-w-0-0' };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: at, spec: { containers: [] } };
  const { metadata } = await client.create(PODS, pod);
  // No finalizer has held it.
  client.patch = () => Promise.reject(failure('NotFound', 'gone'));
  const facts = podOf(JOB, 0, 1, { uid: metadata.uid, isTerminating: true });
  const action: Action = { kind: 'DeleteLostPod', pod: { ...facts, node: 'n4' } };
  await carried(action);
  expect(results).toEqual([{ kind: 'PodForced', reason: 'LostNodeDeadline' }]);
  fail('DELETE', 'NotFound');
  await carried(action);
  expect(results).toHaveLength(1);
});

describe('a member that leaves its node', () => {
  const action: Action = {
    kind: 'ReplaceMember',
    pod: podOf(JOB, 0, 4, { uid: 'u1' }),
    message: 'It leaves node n4: no GPU',
  };

  test('is said to be disrupted, and then deleted under its UID, with its usual grace', async () => {
    const asked: unknown[] = [];
    const recording = new Proxy<Client>(client, {
      get:
        (_, method) =>
        (...args: readonly unknown[]) => {
          asked.push([method, ...args.slice(1)]);
          return Promise.resolve();
        },
    });
    const { signal } = new AbortController();
    const context = { client: recording, clock: new VirtualClock(), jobSet: JOBSET, signal };
    expect(await carryOut(context, [action], () => undefined)).toEqual([]);
    const at = { namespace: 'default', name: 'train-w-0-0' };
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'MemberReplaced',
      message: 'It leaves node n4: no GPU',
      lastTransitionTime: expect.any(String),
    };
    const patch = { metadata: { uid: 'u1' }, status: { conditions: [condition] } };
    const preconditions = { uid: 'u1' };
    expect(asked).toEqual([
      ['patch', at, { type: 'strategic', patch }, { subresource: 'status', signal }],
      ['delete', at, { propagationPolicy: 'Background', preconditions, signal }],
    ]);
  });

  test('may be gone already', async () => {
    fail('PATCH', 'NotFound');
    expect(await carried(action)).toEqual([]);
  });

  test('is reported if it may not be deleted, and tried again after other errors', async () => {
    fail('PATCH', 'Forbidden', 'pods is forbidden');
    expect((await carried(action))[0]?.reason).toBe('MemberReplacementFailed');
    client.patch = () => Promise.reject(new Error('the network is down'));
    await expect(carried(action)).rejects.toThrow('the network is down');
  });
});

describe('a resume', () => {
  const resume = (more: object): Action => ({
    kind: 'ResumeJob',
    job: JOB,
    resume: {
      clearsStartTime: false,
      changesResources: false,
      patch: { metadata: { annotations: { a: 'b' } }, spec: { suspend: false } },
      ...more,
    },
  });

  test('clears the start time first', async () => {
    await client.create(JOBS, JOB);
    const patches: unknown[] = [];
    const patch = client.patch.bind(client);
    client.patch = (of, at, body) => {
      patches.push(body.patch);
      return patch(of, at, body);
    };
    await carried(resume({ clearsStartTime: true }));
    expect(patches).toEqual([
      { status: { startTime: null }, metadata: { uid: JOB.metadata.uid } },
      { spec: { suspend: false }, metadata: { annotations: { a: 'b' }, uid: JOB.metadata.uid } },
    ]);
  });

  test('whose resources are refused is reported, and the Job stays suspended (KEP-1150)', async () => {
    fail('PATCH', 'Invalid', 'resources are immutable');
    const [failed] = await carried(resume({ changesResources: true }));
    expect(failed?.reason).toBe('FailedResourcePropagation');
    await expect(carried(resume({}))).rejects.toThrow('resources are immutable');
  });
});
