/** The chart, rendered by Helm: it makes what `lockstep install` makes, and refuses what that refuses. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { type InstallFlags, parseInstallFlags } from '../../src/cli/install/options.ts';
import { manifest, manifestYaml } from '../../src/deploy/manifest.ts';
import { DEFAULT_NAMESPACE, type InstallationSettings } from '../../src/deploy/settings.ts';
import { readConfiguration } from '../../src/operator/configuration/configuration.ts';
import { FILE_HEAD } from '../../src/operator/configuration/configuration-text.ts';
import { SETTINGS } from '../../src/operator/configuration/settings.ts';
import { isGoInstalled } from '../../tools/go-module.ts';
import { isInChart } from '../../tools/helm/templates.ts';
import { KUBERNETES } from '../kubernetes.ts';
import { CHART, HELM, objectsOf, runHelm } from './helm.fixture.ts';

const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;
const KEPT = 'CustomResourceDefinition /jobsets.jobset.x-k8s.io';

if (HELM === undefined) {
  process.stderr.write(
    'skipped: Helm is tried on a real Kubernetes: npm run test:kubernetes -- test/e2e/helm\n',
  );
}

test.runIf(KUBERNETES !== undefined && isGoInstalled())('Helm is there to be tried', () => {
  expect(HELM, 'give --helm to tools/control-plane/main.ts').toBeDefined();
});

describe.skipIf(HELM === undefined)('the chart', () => {
  let home: string;

  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'lockstep-helm-'));
  });
  afterAll(() => rmSync(home, { recursive: true }));

  /** What the chart makes of values, which JSON says as YAML would. */
  async function render(values: object, namespace = DEFAULT_NAMESPACE) {
    const file = join(home, 'values.yaml');
    writeFileSync(file, JSON.stringify(values));
    return runHelm(home, 'template', 'mine', CHART, '--namespace', namespace, '--values', file);
  }

  test('passes Helm, strictly', async () => {
    const { stdout, stderr, exitCode } = await runHelm(home, 'lint', '--strict', CHART);
    expect(exitCode, stdout + stderr).toBe(0);
    expect(stdout).not.toMatch(/WARNING|ERROR/);
  });

  const cases: readonly (readonly [string, Partial<InstallFlags>, object])[] = [
    ['nothing', {}, {}],
    [
      'images with tags',
      { operatorImage: 'r.example:5000/a/op:1', agentImage: 'r.example/ag:1e3' },
      {
        operatorImage: { repository: 'r.example:5000/a/op', tag: '1' },
        agentImage: { repository: 'r.example/ag', tag: '1e3' },
      },
    ],
    [
      'images with digests',
      { operatorImage: `op@${DIGEST}`, agentImage: `r.example/ag:2@${DIGEST}` },
      {
        operatorImage: { repository: 'op', digest: DIGEST },
        agentImage: { repository: 'r.example/ag', tag: '2', digest: DIGEST },
      },
    ],
    [
      'a registry and its pull secrets',
      { registry: 'r.example:5000/a', imagePullSecret: ['one', 'two'], operatorImage: 'op:1' },
      {
        registry: 'r.example:5000/a',
        imagePullSecrets: [{ name: 'one' }, { name: 'two' }],
        operatorImage: { repository: 'op', tag: '1' },
      },
    ],
    ['one agent', { maxStreams: '1' }, { maxStreams: 1 }],
    ['as many agents as there can be', { maxStreams: '262144' }, { maxStreams: 262_144 }],
    ['as many agents as need no more memory', { maxStreams: '1966' }, { maxStreams: 1966 }],
    ['one agent more than that', { maxStreams: '1967' }, { maxStreams: 1967 }],
    [
      'memory',
      { maxStreams: '5000', operatorMemory: '3Gi' },
      { maxStreams: 5000, operatorMemory: '3Gi' },
    ],
    ['the least memory', { operatorMemory: '2048Mi' }, { operatorMemory: '2048Mi' }],
    ['no webhooks', { webhooks: 'off' }, { webhooks: false }],
    ['monitoring', { monitoring: true }, { monitoring: true }],
    ['a network policy', { networkPolicy: true }, { networkPolicy: true }],
    ['rights for agents', { agentRights: true }, { configuration: { agent: { rights: true } } }],
    [
      'another channel, and rights for agents of one namespace',
      { agentChannel: 'Auto', agentRights: true, watchNamespace: ['a'] },
      { configuration: { agent: { channel: 'Auto', rights: true } }, watchNamespaces: ['a'] },
    ],
    ["a pilot beside upstream's controller", { onlyManaged: true }, { onlyManaged: true }],
    ['one namespace', { watchNamespace: ['123'] }, { watchNamespaces: ['123'] }],
    [
      'some namespaces, without webhooks',
      { watchNamespace: ['team-a', 'true', '1e3'], webhooks: 'off' },
      { watchNamespaces: ['team-a', 'true', '1e3'], webhooks: false },
    ],
    [
      'everything, in a namespace whose name looks like a number',
      {
        namespace: '1e3',
        watchNamespace: ['1e3', 'b'],
        monitoring: true,
        networkPolicy: true,
        maxStreams: '64',
      },
      { watchNamespaces: ['1e3', 'b'], monitoring: true, networkPolicy: true, maxStreams: 64 },
    ],
  ];

  /** With each setting of the table, so that none is missing in the chart. */
  type File = readonly [what: string, flags: Partial<InstallFlags>, text: string];
  const files: readonly [File, ...File[]] = [
    [
      'all settings of the file',
      { monitoring: true, networkPolicy: true, maxStreams: '64', agentImage: 'r.example/ag:2' },
      `webhook: { port: 1001, host: "::", certDir: "/a&b" }
leaderElection: { leaderElect: true, leaseDuration: 10s, renewDeadline: 8s, retryPeriod: 2s,
  resourceLock: leases, resourceName: our-lease, resourceNamespace: elsewhere }
metrics: { bindAddress: "[::1]:1002", secure: false, certDir: /metrics }
health: { healthProbeBindAddress: ":1003", readinessEndpointName: ready, livenessEndpointName: "1" }
internalCertManagement: { enable: true, webhookServiceName: hooks, webhookSecretName: "1e3" }
clientConnection: { qps: 20.5, burst: 30 }
tls: { minVersion: VersionTLS12, cipherSuites: [TLS_AES_128_GCM_SHA256] }
featureGates: { RestartJob: false, ElasticJobSet: true }
limits: { maxJobs: 1, maxPods: 1000000 }
unknownAnnotations: Warn
agent: { mode: Supervisor, injection: Disabled, delivery: Copy, channel: API, rights: true,
  resources: { requests: { cpu: 10m }, limits: { memory: 1Gi, cpu: "2" } } }`,
    ],
    [
      'metrics and probes that are off',
      { monitoring: true, networkPolicy: true },
      'metrics: { bindAddress: "0" }\nhealth: { healthProbeBindAddress: "0" }\nlimits: {}',
    ],
    [
      'the same without webhooks, in one namespace',
      { monitoring: true, networkPolicy: true, webhooks: 'off', watchNamespace: ['a'] },
      'metrics: { bindAddress: "0", secure: false }\nwebhook: { port: 1 }',
    ],
  ];

  test('is tried with each setting', () => {
    const [[, flags, text]] = files;
    const tried = Object.keys(settingsOf(flags, text).configuration);
    // A pilot is more than a setting of the file: another lease, and other webhooks.
    const { onlyManaged: _, ...others } = SETTINGS;
    expect(tried.toSorted()).toEqual(Object.keys(others).toSorted());
  });

  test.each(files)('makes what lockstep install makes of: %s', async (_, flags, text) => {
    const { maxStreams, agentImage, webhooks, watchNamespace, ...values } = flags;
    const [repository, tag] = agentImage?.split(':') ?? [];
    await expectSame(settingsOf(flags, text), {
      ...values,
      configuration: parse(text),
      ...(maxStreams && { maxStreams: Number(maxStreams) }),
      ...(agentImage && { agentImage: { repository, tag } }),
      ...(webhooks && { webhooks: false }),
      ...(watchNamespace && { watchNamespaces: watchNamespace }),
    });
  });

  function settingsOf(flags: Partial<InstallFlags>, text = ''): InstallationSettings {
    const namespace = flags.namespace ?? DEFAULT_NAMESPACE;
    const parsed = parseInstallFlags({ ...flags, namespace }, packageJson.version);
    if ('errors' in parsed) throw new Error(parsed.errors.join());
    const { settings } = parsed.options;
    const read = readConfiguration(`${FILE_HEAD}${text}`);
    if ('problems' in read) throw new Error(read.problems.join());
    return { ...settings, configuration: { ...settings.configuration, ...read.given } };
  }

  test.each(cases)('makes what lockstep install makes of: %s', async (_, flags, values) => {
    await expectSame(settingsOf(flags), values);
  });

  async function expectSame(settings: InstallationSettings, values: object): Promise<void> {
    const wanted = objectsOf(
      manifestYaml(manifest(settings).filter(({ object }) => isInChart(object))),
    );
    const { stdout, stderr } = await render(values, settings.namespace);
    const found = objectsOf(stdout);
    expect([...found.keys()].toSorted(), stderr).toEqual([...wanted.keys()].toSorted());
    for (const [title, object] of wanted) {
      const annotations = { 'helm.sh/resource-policy': 'keep' };
      const kept = { ...object, metadata: { ...object.metadata, annotations } };
      expect(found.get(title), title).toEqual(title === KEPT ? kept : object);
    }
  }

  test('places the operator where its values say', async () => {
    const tolerations = [{ key: 'control', operator: 'Exists' }];
    const affinity = { nodeAffinity: {} };
    const { stdout } = await render({
      replicas: 3,
      resources: { requests: { cpu: '1' } },
      imagePullSecrets: [{ name: 'registry' }],
      priorityClassName: 'high',
      nodeSelector: { pool: '1' },
      affinity,
      tolerations,
    });
    const deployment = objectsOf(stdout).get('Deployment lockstep-system/lockstep-operator');
    expect(deployment).toMatchObject({
      spec: {
        replicas: 3,
        template: {
          spec: {
            imagePullSecrets: [{ name: 'registry' }],
            priorityClassName: 'high',
            nodeSelector: { pool: '1' },
            affinity,
            tolerations,
            containers: [
              {
                resources: {
                  requests: { cpu: '1', memory: '128Mi' },
                  limits: { cpu: '2', memory: '2048Mi' },
                },
              },
            ],
          },
        },
      },
    });
  });

  test.each([
    [{ maxStreams: 0 }, "at '/maxStreams': minimum: got 0, want 1"],
    [{ maxStreams: 262_145 }, "at '/maxStreams': maximum: got 262,145, want 262,144"],
    [{ maxStreams: null }, "missing property 'maxStreams'"],
    [{ operatorMemory: '3e9' }, "at '/operatorMemory': '3e9' does not match pattern"],
    [
      { operatorMemory: '1Gi' },
      'operatorMemory is "1Gi", allowed is 2048Mi or more with 32768 streams',
    ],
    [{ operatorImage: 'a/b:1' }, "at '/operatorImage': got string, want object"],
    [{ operatorImage: { tag: 1 } }, "at '/operatorImage/tag': got number, want string"],
    [{ agentImage: { repository: 'a b' } }, "at '/agentImage/repository': 'a b' does not match"],
    [{ webhooks: 'off' }, "at '/webhooks': got string, want boolean"],
    [{ watchNamespaces: ['A'] }, "at '/watchNamespaces/0': 'A' does not match pattern"],
    [{ watchNamespaces: ['a', 'a'] }, "at '/watchNamespaces': items at 0 and 1 are equal"],
    [{ watchNamespace: ['a'] }, "additional properties 'watchNamespace' not allowed"],
    [
      { configuration: { agent: { mode: 'Fast' } } },
      "at '/configuration/agent/mode': value must be",
    ],
    [{ configuration: { limits: { maxPod: 1 } } }, "additional properties 'maxPod' not allowed"],
    [{ configuration: { limits: { maxStreams: 1 } } }, "properties 'maxStreams' not allowed"],
    [{ replicas: 1 }, "at '/replicas': minimum: got 1, want 2"],
    [{ nodeSelector: { a: 1 } }, "at '/nodeSelector/a': got number, want string"],
  ])('refuses %j', async (values, message) => {
    const { exitCode, stderr } = await render(values);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(message);
  });
});
