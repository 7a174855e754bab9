import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { failure } from '@lockstep/kube/status.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { InstallationWorld, optionsOf } from '../install/installation.fixture.ts';
import { examine } from './examination.ts';
import type { Finding } from './finding.ts';

let world: InstallationWorld;
let metrics: HttpResponse;

beforeEach(() => {
  world = new InstallationWorld();
  metrics = { status: 403, headers: {}, body: new Uint8Array() };
});

function examined(): Promise<readonly Finding[]> {
  const context = world.context();
  const headers = { date: new Date(world.clock.now()).toUTCString() };
  return examine({
    ...context,
    connection: {
      transport: {
        send: ({ path }) =>
          Promise.resolve(
            path === '/metrics' ? metrics : { status: 200, headers, body: new Uint8Array() },
          ),
      },
      credentials: undefined,
    },
    version: '1.2.3',
    namespace: undefined,
    jobSetNamespace: 'default',
    hasProbe: false,
    image: undefined,
    random: new SeededRandom(1),
  });
}

describe('an examination', () => {
  test('without rights names what it may not read, and is no failure', async () => {
    world.client.before = () => {
      throw failure('Forbidden', 'no');
    };
    world.client.list = () => Promise.reject(failure('Forbidden', 'no'));
    const findings = await examined();
    expect(findings.filter(({ level }) => level === 'ok').map(({ check }) => check)).toEqual([
      'version',
      'clock',
    ]);
    expect(findings.filter(({ level }) => !['ok', 'not-checked'].includes(level))).toEqual([]);
    const texts = findings.map(({ text }) => text);
    expect(texts).toContain('you may not list nodes');
    expect(texts).toContain('you may not list jobsets in namespace default');
  });

  test('continues without what hangs', async () => {
    await world.bringUp();
    const list = world.client.list.bind(world.client);
    world.client.list = (of, options) =>
      of.kind === 'Node' ? new Promise(() => undefined) : list(of, options);
    let findings: readonly Finding[] | undefined;
    void examined().then((found) => {
      findings = found;
    });
    await world.clock.runUntil(() => findings !== undefined, 60_000);
    expect(findings).toContainEqual({
      topic: 'Nodes',
      check: 'restart-in-place',
      level: 'not-checked',
      text: 'no answer within 10 s to: list nodes',
    });
    expect(findings).toContainEqual(expect.objectContaining({ check: 'operator', level: 'ok' }));
  });

  test('asks for the Service of webhooks by the name that API servers know', async () => {
    await world.bringUp(optionsOf({}, 'internalCertManagement: { webhookServiceName: mine }'));
    const list = world.client.list.bind(world.client);
    const selectors: unknown[] = [];
    world.client.list = (of, options) => {
      if (of.kind === 'EndpointSlice') selectors.push(options?.labelSelector);
      return list(of, options);
    };
    const found = (await examined()).find(({ check }) => check === 'webhook-endpoints');
    expect(found?.text).toContain('lockstep-system/mine,');
    expect(selectors).toContain('kubernetes.io/service-name=mine');
  });

  test('changes nothing', async () => {
    await world.bringUp();
    const calls = world.client.calls.length;
    const patch = world.client.patch.bind(world.client);
    const dryRuns: unknown[] = [];
    world.client.patch = (of, at, body) => {
      dryRuns.push(body.dryRun);
      return patch(of, at, body);
    };
    await examined();
    expect(dryRuns).toEqual(['All', 'All']);
    const writes = world.client.calls.slice(calls).filter((call) => !/^(GET|PATCH) /.test(call));
    expect(new Set(writes)).toEqual(
      new Set(['POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews']),
    );
  });

  test('reads feature gates from metrics, and nothing else', async () => {
    const text = [
      '# HELP kubernetes_feature_enabled x',
      'kubernetes_feature_enabled{name="ContainerRestartRules",stage="BETA"} 1',
      'kubernetes_feature_enabled{name="NodeDeclaredFeatures",stage="BETA"} 0',
      'other{name="RestartAllContainersOnContainerExits"} 1',
    ].join('\n');
    metrics = { status: 200, headers: {}, body: Buffer.from(text) };
    const found = (await examined()).find(({ check }) => check === 'feature-gates');
    expect(found).toMatchObject({
      level: 'note',
      text: 'ContainerRestartRules on, NodeDeclaredFeatures off',
    });
  });
});
