import { beforeEach, describe, expect, test } from 'vitest';
import { storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { type ProbeReport, probeLine } from '../../agent/probe-report.ts';
import { hubEnvironment } from '../../jobset/injection/agent-hub.ts';
import { HUB_AUTHORITIES_KEY, HUB_AUTHORITIES_NAME, JOBSET_UID } from '../../jobset/names.ts';
import type { KubeObject, Stored } from '../../kube/meta.ts';
import { CONFIG_MAPS } from '../../kube/objects/core.ts';
import { JOBS } from '../../kube/objects/job.ts';
import type { PodStatus } from '../../kube/objects/pod.ts';
import type { Resource } from '../../kube/resource.ts';
import { failure } from '../../kube/status.ts';
import { MemoryClient } from '../../runtime/memory/memory-client.ts';
import { SeededRandom } from '../../runtime/memory/seeded-random.ts';
import { VirtualClock } from '../../runtime/memory/virtual-clock.ts';
import { InstallationWorld } from '../install/installation.fixture.ts';
import type { Finding } from './finding.ts';
import { reportFindings, runProbe } from './probe.ts';
import { findHub } from './probe-pod.ts';

/** Its Pods have the status and the output of the test. */
class Cluster extends MemoryClient {
  status: PodStatus = { phase: 'Succeeded' };
  output = '';

  override create<T extends KubeObject>(of: Resource<T>, object: T): Promise<Stored<T>> {
    return super.create(of, Object.assign({}, object, { status: this.status }));
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

test('a Pod looks with the authorities that agents have now, not those of an old Job', async () => {
  const world = new InstallationWorld();
  const env = hubEnvironment({ ...HUB, channel: 'Hub' });
  const job = storedJob('train-w-0', 'w');
  const containers = [{ name: 'lockstep-agent', env }];
  const template = { ...job.spec.template, spec: { ...job.spec.template.spec, containers } };
  const metadata = { ...job.metadata, labels: { [JOBSET_UID]: 'u' } };
  await world.client.create(JOBS, {
    ...job,
    kind: JOBS.kind,
    metadata,
    spec: { ...job.spec, template },
  });
  const at = { namespace: 'team', name: HUB_AUTHORITIES_NAME };
  const place = { type: 'Cluster', namespace: 'lockstep-system' } as const;
  const found = () => findHub(world.client, world.context(), place, 'team');
  expect(await found()).toEqual(HUB);
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: at };
  await world.client.create(CONFIG_MAPS, { ...map, data: { [HUB_AUTHORITIES_KEY]: 'new' } });
  expect(await found()).toEqual({ ...HUB, authorities: 'new' });
});

/** Runs it to its end under the virtual clock. */
async function probed(): Promise<readonly Finding[] | { readonly failed: unknown }> {
  let outcome: readonly Finding[] | { readonly failed: unknown } | undefined;
  void runProbe({
    client,
    clock,
    signal: end.signal,
    random: new SeededRandom(1),
    place: { type: 'Cluster', namespace: 'lockstep-system' },
    namespace: 'team',
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

describe('what it reports', () => {
  test.each([
    [{ hub: { status: 401 } }, HUB, 'ok'],
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
