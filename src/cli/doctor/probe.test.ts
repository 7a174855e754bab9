import type { KubeList, KubeObject, Stored } from '@lockstep/kube/meta.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import type { Pod, PodStatus } from '@lockstep/kube/objects/pod.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { failure } from '@lockstep/kube/status.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { replicatedJob, storedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { type ProbeReport, probeLine } from '../../agent/probe-report.ts';
import { NETWORK_POLICIES } from '../../deploy/kinds.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { ENV_HUB_CA, ENV_HUB_URL, JOBSET_UID } from '../../jobset/names.ts';
import type { Finding } from './finding.ts';
import { reportFindings, runProbe } from './probe.ts';

/** Its Pods have the status and the output of the test. */
class Cluster extends MemoryClient {
  status: PodStatus = { phase: 'Succeeded' };
  output = '';

  override create<T extends KubeObject>(of: Resource<T>, object: T): Promise<Stored<T>> {
    return super.create(of, Object.assign({}, object, { status: this.status }));
  }

  /** By kind, and by one label. */
  override list<T extends KubeObject>(
    { kind }: Resource<T>,
    { labelSelector = '' }: { readonly labelSelector?: string } = {},
  ): Promise<KubeList<Stored<T>>> {
    const [key = '', value] = labelSelector.split('=');
    const items = [...this.objects.values()].filter(
      (one) => one.kind === kind && (value === undefined || one.metadata.labels?.[key] === value),
    );
    return Promise.resolve({ items, metadata: { resourceVersion: '1' } } as never);
  }

  override logs(): never {
    const chunk = Buffer.from(this.output);
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(chunk);
    }
    return chunks() as never;
  }
}

const HUB = { url: 'https://hub:1', authorities: 'pem' };
const REPORT: ProbeReport = { version: '1.2.3', apiServer: { status: 200 } };

let client: Cluster;
let clock: VirtualClock;
let end: AbortController;
let warned: string[];

beforeEach(() => {
  client = new Cluster();
  clock = new VirtualClock();
  end = new AbortController();
  warned = [];
});

/** Runs it to its end under the virtual clock. */
async function probed(
  jobSet?: Stored<JobSet>,
): Promise<readonly Finding[] | { readonly failed: unknown }> {
  let outcome: readonly Finding[] | { readonly failed: unknown } | undefined;
  void runProbe({
    client,
    clock,
    signal: end.signal,
    random: new SeededRandom(1),
    place: { type: 'Cluster', namespace: 'lockstep-system' },
    namespace: 'team',
    ...(jobSet && { jobSet }),
    image: 'agent:1',
    warn: (line) => warned.push(line),
  }).then(
    (findings) => {
      outcome = findings;
    },
    (failed: unknown) => {
      outcome = { failed };
    },
  );
  await clock.runUntil(() => outcome !== undefined, 300_000);
  return outcome ?? [];
}

function pods(): readonly string[] {
  return [...client.objects.values()]
    .filter(({ kind }) => kind === 'Pod')
    .map(({ metadata }) => metadata.name);
}

describe('the Pod of a probe', () => {
  test('reports, and is removed', async () => {
    client.output = probeLine(REPORT);
    expect(await probed()).toMatchObject([
      { check: 'probe-pod', level: 'ok' },
      { check: 'hub-reachable', level: 'not-checked' },
      { check: 'api-server-reachable', level: 'ok' },
    ]);
    expect(pods()).toEqual([]);
    expect(warned).toEqual([]);
  });

  test.each([
    ['never runs', { phase: 'Pending' }, /in 60 s: its phase is Pending/],
    [
      'has no image',
      {
        phase: 'Pending',
        containerStatuses: [
          {
            name: 'probe',
            image: '',
            imageID: '',
            ready: false,
            restartCount: 0,
            state: { waiting: { reason: 'ErrImagePull', message: 'none' } },
          },
        ],
      },
      /ErrImagePull: none/,
    ],
  ] satisfies [string, PodStatus, RegExp][])(
    'that %s is removed too',
    async (_what, status, text) => {
      client.status = status;
      const [found] = (await probed()) as readonly Finding[];
      expect(found).toMatchObject({ check: 'probe-pod', level: 'problem' });
      expect(found?.text).toMatch(text);
      expect(pods()).toEqual([]);
    },
  );

  test('of an older agent says so', async () => {
    client.output = 'lockstep-agent: "--probe": what?';
    expect(await probed()).toMatchObject([
      { level: 'not-checked', text: expect.stringMatching(/older version: lockstep-agent/) },
    ]);
    expect(pods()).toEqual([]);
  });

  test.each(['before the Pod exists', 'while it runs'])(
    'is removed after Ctrl-C %s',
    async (when) => {
      client.status = { phase: 'Running' };
      client.after = (verb) => {
        if (verb === (when === 'while it runs' ? 'GET' : 'POST')) end.abort(new Error('Ctrl-C'));
      };
      expect(await probed()).toMatchObject({ failed: { message: 'Ctrl-C' } });
      expect(client.calls.some((call) => call.startsWith('POST'))).toBe(true);
      expect(pods()).toEqual([]);
    },
  );

  test('is removed if the answer to its creation was lost', async () => {
    client.after = (verb) => {
      if (verb === 'POST') throw new Error('connection lost');
    };
    await probed();
    expect(pods()).toEqual([]);
  });

  test('that cannot be removed is named, with the command', async () => {
    client.output = probeLine(REPORT);
    client.before = (verb) => {
      if (verb === 'DELETE') throw failure('Forbidden', 'you may not');
    };
    expect(await probed()).toContainEqual(
      expect.objectContaining({ check: 'probe-removed', level: 'problem' }),
    );
    const [name = ''] = pods();
    expect(warned.join('\n')).toContain(`kubectl -n team delete pod ${name}`);
  });

  test('that the user may not make is not checked', async () => {
    client.before = (verb) => {
      if (verb === 'POST') throw failure('Forbidden', 'no');
    };
    expect(await probed()).toEqual([
      {
        topic: 'Probe',
        check: 'probe-pod',
        level: 'not-checked',
        text: 'you may not create pods in namespace team',
      },
    ]);
    expect(client.calls.some((call) => call.startsWith('DELETE'))).toBe(false);
  });
});

describe('a probe like the Pods of a JobSet', () => {
  const TEMPLATE = {
    metadata: {
      labels: {
        app: 'trainer',
        'app.kubernetes.io/name': 'trainer',
        'jobset.sigs.k8s.io/jobset-name': 'train',
        'batch.kubernetes.io/job-name': 'train-w-0',
        'job-name': 'train-w-0',
        'kueue.x-k8s.io/queue-name': 'team',
        'lockstep/replace-after': 'true',
      },
    },
    spec: {
      restartPolicy: 'Always',
      serviceAccountName: 'cloud',
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: 'registry' }],
      nodeSelector: { pool: 'gpu' },
      tolerations: [{ key: 'gpu', operator: 'Exists' }],
      hostNetwork: true,
      schedulingGates: [{ name: 'wait' }],
      priority: 7,
      containers: [{ name: 'worker', image: 'worker' }],
    },
  } as const;
  const [WORKERS] = [replicatedJob('w', 1)];
  const TRAIN = storedJobSet(
    { replicatedJobs: [{ ...WORKERS, template: { spec: { template: TEMPLATE } } }] },
    { namespace: 'team' },
  );

  /** As it was made. */
  let made: Pod | undefined;
  beforeEach(() => {
    made = undefined;
    client.output = probeLine(REPORT);
    client.after = (verb) => {
      if (verb !== 'POST') return;
      made = [...client.objects.values()].find(({ kind }) => kind === 'Pod') as Pod;
    };
  });

  test('runs where they run and as whom, and is no member', async () => {
    const [found] = (await probed(TRAIN)) as readonly Finding[];
    expect(found?.text).toMatch(/^a Pod like those of train ran/);
    expect(made?.metadata.labels).toEqual({
      app: 'trainer',
      'app.kubernetes.io/name': 'trainer',
      'lockstep/doctor': 'true',
    });
    expect(made?.metadata.ownerReferences).toBeUndefined();
    const { schedulingGates: _g, priority: _p, ...copied } = TEMPLATE.spec;
    expect(made?.spec).toMatchObject({
      ...copied,
      restartPolicy: 'Never',
      containers: [{ name: 'probe', image: 'agent:1' }],
      readinessGates: [{ conditionType: 'lockstep/doctor' }],
      activeDeadlineSeconds: 60,
    });
    expect(made?.spec).not.toHaveProperty('schedulingGates');
    expect(made?.spec).not.toHaveProperty('priority');
    expect(pods()).toEqual([]);
  });

  test('gets the hub of their Jobs', async () => {
    const jobOf = (uid: string, url: string) => {
      const job = storedJob(`job-of-${uid}`, 'w', {
        metadata: { namespace: 'team', labels: { [JOBSET_UID]: uid } },
      });
      const env = [
        { name: ENV_HUB_URL, value: url },
        { name: ENV_HUB_CA, value: 'PEM' },
      ];
      const containers = [{ name: 'worker', image: 'worker', env }];
      const template = { ...job.spec.template, spec: { containers } };
      return { ...job, spec: { ...job.spec, template } };
    };
    await client.create(JOBS, jobOf('another', 'https://other:1'));
    await client.create(JOBS, jobOf(TRAIN.metadata.uid, 'https://hub:1'));
    await probed(TRAIN);
    expect(made?.spec.containers[0]?.env).toContainEqual({
      name: ENV_HUB_URL,
      value: 'https://hub:1',
    });
  });

  test('names policies that select members by labels that it lacks', async () => {
    const policy = (name: string, podSelector: object) =>
      client.create(NETWORK_POLICIES, {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name, namespace: 'team' },
        spec: { podSelector },
      });
    await policy('all', {});
    await policy('app', { matchLabels: { app: 'trainer' } });
    await policy('other', { matchLabels: { 'jobset.sigs.k8s.io/jobset-name': 'other' } });
    await policy('train', { matchLabels: { 'jobset.sigs.k8s.io/jobset-name': 'train' } });
    const key = 'jobset.sigs.k8s.io/replicatedjob-name';
    await policy('workers', { matchExpressions: [{ key, operator: 'Exists' }] });
    const found = ((await probed(TRAIN)) as readonly Finding[]).find(
      ({ check }) => check === 'probe-policies',
    );
    expect(found).toMatchObject({
      level: 'note',
      text: expect.stringMatching(/: train, workers$/),
    });
  });
});

describe('what it reports', () => {
  test('says in plain words what the Pod saw, and what to look at', () => {
    const hub = { error: 'no connection within 5000 ms', code: 'ETIMEDOUT' };
    const [found] = reportFindings({ ...REPORT, hub }, HUB);
    expect(found?.text).toBe(
      'the Pod does not reach the hub at https://hub:1: nothing answered in time (no connection within 5000 ms)',
    );
    expect(found?.fix).toMatch(/^look at NetworkPolicies/);
  });

  test.each([
    [{ hub: { status: 401 } }, HUB, 'ok'],
    [{ hub: { status: 503 } }, HUB, 'note'],
    [{ hub: { error: 'refused' } }, HUB, 'problem'],
    [{ hub: { error: 'x', code: 'SELF_SIGNED_CERT_IN_CHAIN' } }, HUB, 'problem'],
    [
      { hub: { error: 'x', code: 'SELF_SIGNED_CERT_IN_CHAIN' } },
      { ...HUB, authorities: undefined },
      'ok',
    ],
    [{}, undefined, 'not-checked'],
  ] as const)('%j with %j is %s', (reached, hub, level) => {
    expect(reportFindings({ ...REPORT, ...reached }, hub)[0]).toMatchObject({ level });
  });

  test.each([
    [{ status: 403, aheadMs: 400, errorMs: 500 }, ['ok', 'ok']],
    [{ status: 200, aheadMs: -9_000, errorMs: 500 }, ['ok', 'note']],
    [{ error: 'refused' }, ['note']],
  ])('of the API server %j: %j', (apiServer, expected) => {
    const [, ...found] = reportFindings({ ...REPORT, apiServer }, undefined);
    expect(found.map(({ level }) => level)).toEqual(expected);
  });
});
