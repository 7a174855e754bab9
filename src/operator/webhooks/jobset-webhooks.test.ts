import type { KubeList, KubeObject, Stored } from '@lockstep/kube/meta.ts';
import type { AdmissionRequest } from '@lockstep/kube/objects/admission-webhooks.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '@lockstep/kube/objects/core.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { failure } from '@lockstep/kube/status.ts';
import { describe, expect, it } from 'vitest';
import { DEFAULT_FEATURE_GATES, type FeatureGates } from '../../jobset/feature-gates.ts';
import { DEFAULT_SIZE_LIMITS } from '../../jobset/size-limits.ts';
import type { AdmissionAnswer, AdmissionHandler } from './admission-handler.ts';
import { jobSetMutator, jobSetQuestions, jobSetValidator } from './jobset-webhooks.ts';

const TEMPLATE = {
  spec: {
    template: {
      spec: {
        containers: [
          { name: 'c', image: 'i', volumeMounts: [{ name: 'data', mountPath: '/data' }] },
        ],
      },
    },
  },
};
const CLAIM_SPEC = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

function jobSet(spec: object = {}, metadata: object = { name: 'train' }): KubeObject {
  const replicatedJobs = [{ name: 'w', replicas: 1, groupName: 'default', template: TEMPLATE }];
  const object = {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { namespace: 'ns', ...metadata },
    spec: { replicatedJobs, ...spec },
  };
  return object;
}

/** Shares the claim `data-train`. */
function sharing(whenDeleted: string): KubeObject {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: CLAIM_SPEC,
  };
  return jobSet({
    volumeClaimPolicies: [{ templates: [claim], retentionPolicy: { whenDeleted } }],
  });
}

async function ask(
  handler: AdmissionHandler,
  operation: AdmissionRequest['operation'],
  object?: KubeObject,
  oldObject?: KubeObject,
): Promise<AdmissionAnswer> {
  const of = { group: 'jobset.x-k8s.io', version: 'v1alpha2' };
  return handler(
    {
      uid: 'u',
      operation,
      kind: { ...of, kind: 'JobSet' },
      resource: { ...of, resource: 'jobsets' },
      namespace: 'ns',
      userInfo: {},
      ...(object === undefined ? {} : { object }),
      ...(oldObject === undefined ? {} : { oldObject }),
    },
    new AbortController().signal,
  );
}

function validator(client = new MemoryClient(), gates: FeatureGates = DEFAULT_FEATURE_GATES) {
  return jobSetValidator(jobSetQuestions(client), gates);
}

const ALLOWED = { kind: 'Allowed' };
const ANY_NODES = { restartAllProblem: () => Promise.resolve(undefined) };

describe('the mutating webhook of JobSets', () => {
  const mutator = jobSetMutator(ANY_NODES, DEFAULT_FEATURE_GATES);

  it('fills in defaults on creation only', async () => {
    const answer = await ask(mutator, 'CREATE', jobSet());
    expect(answer).toMatchObject({
      kind: 'Allowed',
      object: {
        spec: { successPolicy: { operator: 'All' }, network: { enableDNSHostnames: true } },
      },
    });
    expect(await ask(mutator, 'UPDATE', jobSet(), jobSet())).toMatchObject({ object: jobSet() });
    expect(await ask(mutator, 'DELETE', undefined, jobSet())).toEqual(ALLOWED);
  });

  it('fills in the names of rules again when a list without them is applied once more', async () => {
    const rules = [{ name: '', action: 'FailJobSet' as const }];
    const applied = jobSet({ failurePolicy: { rules } });
    const named = { spec: { failurePolicy: { rules: [{ name: 'failurePolicyRule0' }] } } };
    expect(await ask(mutator, 'CREATE', applied)).toMatchObject({ object: named });
    expect(await ask(mutator, 'UPDATE', applied, jobSet())).toMatchObject({ object: named });
  });

  it('keeps what it does not know, and what the schema will refuse', async () => {
    const unknown = { ...jobSet({ later: { a: 1 } }), status: { restarts: 1 } };
    expect(await ask(mutator, 'CREATE', unknown)).toMatchObject({
      object: { spec: { later: { a: 1 } }, status: { restarts: 1 } },
    });
    const wrong = { ...jobSet(), spec: 7 };
    expect(await ask(mutator, 'CREATE', wrong)).toEqual(ALLOWED);
  });

  it('completes a JobSet without a spec', async () => {
    const { spec: _, ...empty } = { ...jobSet(), spec: {} };
    expect(await ask(mutator, 'CREATE', empty)).toMatchObject({
      object: { spec: { startupPolicy: { startupPolicyOrder: 'AnyOrder' } } },
    });
  });

  describe('of a JobSet that restarts in place', () => {
    const annotation = 'lockstep/restart-mode';
    const withCommand = (command: readonly string[], annotations?: object): KubeObject => {
      const containers = [{ name: 'c', image: 'i', command }];
      const template = { spec: { template: { spec: { containers } } } };
      const replicatedJobs = [{ name: 'w', replicas: 1, groupName: 'default', template }];
      const failurePolicy = { restartStrategy: 'InPlaceRestart', maxRestarts: 1 };
      const metadata = { name: 'train', ...(annotations && { annotations }) };
      return jobSet({ replicatedJobs, failurePolicy }, metadata);
    };
    const storedMode = async (handler: AdmissionHandler, given: KubeObject) => {
      const answer = await ask(handler, 'CREATE', given);
      if (answer.kind !== 'Allowed') throw new Error('refused');
      return answer.object?.metadata.annotations?.[annotation];
    };

    it('stores the mode that suits its templates', async () => {
      expect(await storedMode(mutator, withCommand(['train']))).toBe('Supervisor');
      expect(await storedMode(mutator, withCommand([]))).toBe('Sidecar');
      const auto = withCommand(['train'], { [annotation]: 'Auto' });
      expect(await storedMode(mutator, auto)).toBe('Supervisor');
      const said = withCommand(['train'], { [annotation]: 'Sidecar' });
      expect(await storedMode(mutator, said)).toBe('Sidecar');
    });

    it.each<[string, () => Promise<string>]>([
      ['leave no choice', () => Promise.resolve('they are old')],
      ['cannot be asked', () => Promise.reject(failure('ServiceUnavailable', 'later'))],
    ])('leaves the mode to the controller where nodes %s', async (_, restartAllProblem) => {
      const other = jobSetMutator({ restartAllProblem }, DEFAULT_FEATURE_GATES);
      expect(await storedMode(other, withCommand([]))).toBeUndefined();
      const auto = withCommand(['train'], { [annotation]: 'Auto' });
      expect(await storedMode(other, auto)).toBe('Auto');
    });
  });

  it.each([
    ['another kind', { apiVersion: 'v1', kind: 'Pod', metadata: {} }],
    ['another version', { ...jobSet(), apiVersion: 'jobset.x-k8s.io/v1' }],
    ['nothing', undefined],
  ])('refuses to judge %s', async (_what, object) => {
    await expect(ask(mutator, 'CREATE', object)).rejects.toMatchObject({ code: 400 });
    await expect(ask(validator(), 'CREATE', object)).rejects.toMatchObject({ code: 400 });
  });
});

describe('the validating webhook of JobSets', () => {
  it.each<[string, AdmissionRequest['operation'], KubeObject | undefined, KubeObject | undefined]>([
    ['a good one', 'CREATE', jobSet(), undefined],
    ['one that gets its name later', 'CREATE', jobSet({}, { generateName: 'x-' }), undefined],
    ['a suspension', 'UPDATE', jobSet({ suspend: true }), jobSet()],
    ['a deletion', 'DELETE', undefined, jobSet({ managedBy: 'wrong' })],
  ])('allows %s', async (_what, operation, object, old) => {
    expect(await ask(validator(), operation, object, old)).toEqual(ALLOWED);
  });

  it('warns of what an agent asks for on top of the template', async () => {
    class Namespace extends MemoryClient {
      override async list<T extends KubeObject>(): Promise<KubeList<Stored<T>>> {
        const limits = [{ type: 'Container', min: { memory: '2Gi' } }];
        const items = [{ metadata: {}, spec: { limits } }];
        const list = { apiVersion: 'v1', kind: 'LimitRangeList', metadata: {}, items };
        return list as unknown as KubeList<Stored<T>>;
      }
    }
    const requesting = (memory: string): KubeObject => {
      const containers = [{ name: 'c', resources: { requests: { memory } } }];
      const podSpec = { restartPolicy: 'Never', containers };
      const template = { spec: { template: { spec: podSpec } } };
      const annotations = { 'lockstep/restart-mode': 'Sidecar' };
      const replicatedJobs = [{ name: 'w', replicas: 1, groupName: 'default', template }];
      const failurePolicy = { restartStrategy: 'InPlaceRestart', maxRestarts: 1 };
      return jobSet({ replicatedJobs, failurePolicy }, { name: 'train', annotations });
    };
    const ample = ask(validator(new Namespace()), 'CREATE', requesting('5Gi'));
    expect(await ample).toEqual(ALLOWED);
    const scarce = ask(validator(new Namespace()), 'CREATE', requesting('2Gi'));
    expect(await scarce).toMatchObject({
      warnings: [expect.stringMatching(/"c" would have less than the 2Gi.*LimitRange.*Supervisor/)],
    });
  });

  it('refuses with every cause, in the API’s own words', async () => {
    const bad = jobSet({ managedBy: 'wrong', network: { subdomain: 'a_b' } });
    const refusal = ask(validator(), 'CREATE', bad);
    await expect(refusal).rejects.toMatchObject({
      status: {
        code: 422,
        reason: 'Invalid',
        message: expect.stringContaining('JobSet.jobset.x-k8s.io "train" is invalid: ['),
        details: {
          name: 'train',
          causes: [
            { field: 'spec.network.subdomain' },
            { field: 'spec.network.subdomain' },
            { field: 'spec.managedBy', reason: 'FieldValueInvalid' },
          ],
        },
      },
    });
  });

  it('judges a change by what was there', async () => {
    await expect(
      ask(validator(), 'UPDATE', jobSet({ managedBy: 'a.b/c' }), jobSet()),
    ).rejects.toMatchObject({
      message: expect.stringContaining(
        'spec.managedBy: Invalid value: "a.b/c": field is immutable',
      ),
    });
  });

  it('warns of fields that are valid but probably wrong', async () => {
    const answer = await ask(validator(), 'CREATE', jobSet({ failurePolicy: { maxRestarts: -2 } }));
    expect(answer).toMatchObject({ kind: 'Allowed', warnings: [expect.stringContaining('-2')] });
  });

  it('keeps to its gates', async () => {
    const gates = { ...DEFAULT_FEATURE_GATES, RestartJob: false };
    const object = jobSet({ failurePolicy: { rules: [{ name: 'r', action: 'RestartJob' }] } });
    const refusal = ask(validator(new MemoryClient(), gates), 'CREATE', object);
    await expect(refusal).rejects.toMatchObject({
      message: expect.stringContaining('RestartJob feature gate is disabled'),
    });
  });

  it('looks up the claims that a JobSet shares', async () => {
    const client = new MemoryClient();
    expect(await ask(validator(client), 'CREATE', sharing('Delete'))).toEqual(ALLOWED);
    await client.create(PERSISTENT_VOLUME_CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data-train', namespace: 'ns' },
      spec: CLAIM_SPEC,
    });
    expect(await ask(validator(client), 'CREATE', sharing('Retain'))).toEqual(ALLOWED);
    await expect(ask(validator(client), 'CREATE', sharing('Delete'))).rejects.toMatchObject({
      message: expect.stringContaining('retentionPolicy must be retain when PVC exists'),
    });
  });

  it('refuses with a cause when claims cannot be looked up, beside all others', async () => {
    const client = new MemoryClient();
    client.before = () => {
      throw failure('ServiceUnavailable', 'etcd is away');
    };
    const object = sharing('Delete');
    const spec = { ...('spec' in object && typeof object.spec === 'object' ? object.spec : {}) };
    const bad = { ...object, spec: { ...spec, managedBy: 'wrong' } };
    await expect(ask(validator(client), 'CREATE', bad)).rejects.toMatchObject({
      status: {
        code: 422,
        details: {
          causes: [
            { field: 'spec.managedBy' },
            {
              field: 'spec.volumeClaimPolicies',
              reason: 'InternalError',
              message: expect.stringContaining('cannot look up PVC data-train: etcd is away'),
            },
          ],
        },
      },
    });
  });
});

describe('a JobSet beyond the limits of the operator', () => {
  const questions = jobSetQuestions(new MemoryClient());
  const limits = { maxJobs: 10, maxPods: 20 };
  const mutator = jobSetMutator(questions, DEFAULT_FEATURE_GATES, undefined, limits);
  const judge = jobSetValidator(questions, DEFAULT_FEATURE_GATES, {}, limits);
  const of = (replicas: number, more: object = {}): KubeObject => {
    const job = { name: 'w', replicas, groupName: 'default', template: TEMPLATE };
    return jobSet({ replicatedJobs: [job], ...more });
  };
  const message =
    'Invalid value: 11: the sum of replicas must not exceed 10 (limits.maxJobs of the operator)';
  const refusal = {
    status: { details: { causes: [{ field: 'spec.replicatedJobs', message }] } },
  };

  it.each([
    ['mutating', mutator],
    ['validating', judge],
  ])('is refused by the %s webhook when it is new', async (_which, handler) => {
    await expect(ask(handler, 'CREATE', of(11))).rejects.toMatchObject(refusal);
  });

  it('may not grow beyond them', async () => {
    await expect(ask(judge, 'UPDATE', of(11), of(10))).rejects.toMatchObject(refusal);
  });

  it.each([
    ['be suspended', of(20, { suspend: true })],
    ['shrink', of(15)],
  ])('may %s if it was stored before', async (_what, changed) => {
    expect(await ask(judge, 'UPDATE', changed, of(20))).toEqual(ALLOWED);
  });
});

describe('lists that are longer than the definition lets them', () => {
  const replicatedJobs = (count: number, name = 'w') =>
    Array.from({ length: count }, (_, index) => ({ name: `${name}${index}`, template: TEMPLATE }));
  const long = { replicatedJobs: replicatedJobs(257) };
  const tooMany = {
    status: {
      code: 422,
      details: {
        causes: [
          {
            field: 'spec.replicatedJobs',
            message: 'Too many: 257: must have at most 256 items',
          },
        ],
      },
    },
  };

  it('are refused before anything in them is looked at', async () => {
    const wrong = jobSet({ replicatedJobs: replicatedJobs(257, 'NO') });
    const mutator = jobSetMutator(ANY_NODES, DEFAULT_FEATURE_GATES);
    await expect(ask(mutator, 'CREATE', wrong)).rejects.toMatchObject(tooMany);
    await expect(ask(validator(), 'CREATE', wrong)).rejects.toMatchObject(tooMany);
  });

  it('may stay in a JobSet that was stored before, which is suspended and resumed, and no more', async () => {
    const suspended = jobSet({ ...long, suspend: true }, { name: 'train', labels: { a: 'b' } });
    expect(await ask(validator(), 'UPDATE', suspended, jobSet(long))).toEqual(ALLOWED);
    const changed = jobSet({ ...long, ttlSecondsAfterFinished: 5 });
    await expect(ask(validator(), 'UPDATE', changed, jobSet(long))).rejects.toMatchObject(tooMany);
  });
});

it('tells a hundred problems, and how many more there are', async () => {
  const rules = Array.from({ length: 128 }, (_, index) => ({
    name: `${index}`,
    action: 'FailJobSet',
  }));
  await expect(
    ask(validator(), 'CREATE', jobSet({ failurePolicy: { rules } })),
  ).rejects.toMatchObject({
    status: { message: expect.stringContaining('spec: Forbidden: there are 28 more problems') },
  });
});

describe('a JobSet that chooses the hub', () => {
  const annotations = { 'lockstep/agent-channel': 'Hub' };
  const choosing = jobSet({}, { name: 'train', annotations });
  const withoutHub = jobSetValidator(jobSetQuestions(new MemoryClient()), DEFAULT_FEATURE_GATES, {
    servesHub: false,
  });

  it('is refused where nobody serves one, when it is created or chooses it', async () => {
    const why = /metadata.annotations\[lockstep\/agent-channel\]: .*serves no hub/;
    await expect(ask(withoutHub, 'CREATE', choosing)).rejects.toThrow(why);
    await expect(ask(withoutHub, 'UPDATE', choosing, jobSet())).rejects.toThrow(why);
    expect(await ask(withoutHub, 'UPDATE', choosing, choosing)).toEqual(ALLOWED);
    expect(await ask(validator(), 'CREATE', choosing)).toEqual(ALLOWED);
  });

  it.each(['Auto', 'API'])('may choose %s anywhere', async (channel) => {
    const other = jobSet({}, { name: 'train', annotations: { 'lockstep/agent-channel': channel } });
    expect(await ask(withoutHub, 'CREATE', other)).toEqual(ALLOWED);
  });

  it('may choose nothing else', async () => {
    const wrong = jobSet({}, { name: 'train', annotations: { 'lockstep/agent-channel': 'api' } });
    await expect(ask(validator(), 'CREATE', wrong)).rejects.toThrow(
      'supported values: "Hub", "Auto", "API"',
    );
  });
});

describe('unknown annotations, where they are only warned of', () => {
  const limits = { ...DEFAULT_SIZE_LIMITS, unknownAnnotations: 'Warn' } as const;
  const judge = jobSetValidator(
    jobSetQuestions(new MemoryClient()),
    DEFAULT_FEATURE_GATES,
    {},
    limits,
  );
  const wrong = jobSet(
    {},
    { name: 'train', annotations: { 'lockstep/progress-timout': '5m', 'lockstep/standby': 'Off' } },
  );
  const warnings = [
    'metadata.annotations[lockstep/progress-timout] has no effect: no annotation of this version of Lockstep; did you mean lockstep/progress-timeout?',
  ];

  it('are accepted by both webhooks, with a warning', async () => {
    const mutator = jobSetMutator(ANY_NODES, DEFAULT_FEATURE_GATES, undefined, limits);
    expect(await ask(mutator, 'CREATE', wrong)).toMatchObject({ kind: 'Allowed', object: {} });
    expect(await ask(judge, 'CREATE', wrong)).toEqual({ kind: 'Allowed', warnings });
    expect(await ask(judge, 'UPDATE', wrong, jobSet())).toEqual({ kind: 'Allowed', warnings });
    const told = await ask(judge, 'UPDATE', { ...wrong, status: {} } as KubeObject, wrong);
    expect(told, 'an old one is not warned of again').toEqual(ALLOWED);
  });

  it('are refused by default', async () => {
    await expect(ask(validator(), 'CREATE', wrong)).rejects.toThrow('lockstep/progress-timeout');
  });
});
