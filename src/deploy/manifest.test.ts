import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PolicyRule } from '@lockstep/kube/objects/rbac.ts';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { parseConfiguration, readConfiguration } from '../operator/configuration/configuration.ts';
import { ALL_SETTINGS } from '../operator/configuration/setting-values.ts';
import { AGENT_POLICY_SPEC } from './agent-policy.ts';
import { PANELS } from './dashboard.ts';
import { manifest, manifestYaml } from './manifest.ts';
import { ALERTS } from './monitoring.ts';
import { CLUSTER_RULES, NAMESPACE_RULES, OPERATOR_NAME, WEBHOOK_RULES } from './permissions.ts';
import { RUN_ALERTS } from './run-alerts.ts';
import { defaultSettings, type InstallationSettings } from './settings.ts';

const SETTINGS: InstallationSettings = { ...defaultSettings('1.2.3'), namespace: 'elsewhere' };
const ROOT = join(import.meta.dirname, '../..');
/** The operator, and what it takes from the package below. */
const SOURCES = ['src/operator', 'packages/kube/src/runtime'];

/** Objects of a kind, as they are in the file. */
function objects(kind: string, settings = SETTINGS): readonly Record<string, unknown>[] {
  const ofKind = manifest(settings).filter(({ of }) => of.kind === kind);
  return parseAllDocuments(manifestYaml(ofKind)).map(
    (document) => document.toJS() as Record<string, unknown>,
  );
}

describe('the manifest', () => {
  test('names each object once, and all that is namespaced in its namespace', () => {
    const names = manifest(SETTINGS).map(({ of, object }) => {
      const { namespace, name } = object.metadata;
      expect(namespace, `${of.kind} ${name}`).toBe(of.namespaced ? 'elsewhere' : undefined);
      return `${of.kind}/${name}`;
    });
    expect(new Set(names).size).toBe(names.length);
  });

  test('admits nothing privileged, and its own Pods are not', () => {
    expect(objects('Namespace')).toMatchObject([
      { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } },
    ]);
    expect(objects('Deployment')).toMatchObject([
      {
        spec: {
          replicas: 2,
          template: {
            spec: {
              securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
              containers: [
                {
                  securityContext: {
                    allowPrivilegeEscalation: false,
                    readOnlyRootFilesystem: true,
                    capabilities: { drop: ['ALL'] },
                  },
                },
              ],
            },
          },
        },
      },
    ]);
  });

  test('holds a Configuration that the operator understands, and that starts it again when it changes', () => {
    const hash = (settings: InstallationSettings): unknown => {
      const [deployment] = objects('Deployment', settings);
      return JSON.stringify(deployment).match(/"lockstep\/configuration":"([0-9a-f]+)"/)?.[1];
    };
    const [map] = objects('ConfigMap') as { data?: Record<string, string> }[];
    const parsed = parseConfiguration(map?.data?.['configuration.yaml'] ?? '');
    expect(parsed).toMatchObject({ settings: { agentMode: 'Auto', leaderElect: true } });
    const other = { ...SETTINGS, configuration: { agentImage: 'other' } };
    expect(hash(SETTINGS)).not.toBe(hash(other));
  });

  test.each(ALL_SETTINGS)('leaves %s at its documented default', (name, { path }) => {
    const [map] = objects('ConfigMap') as { data?: Record<string, string> }[];
    const read = readConfiguration(map?.data?.['configuration.yaml'] ?? '');
    if ('problems' in read) throw new Error(read.problems.join('\n'));
    expect(read.given[name], path).toBeUndefined();
  });

  test('says in its file what it is given, key by key', () => {
    const given = {
      webhookPort: 1,
      metricsSecure: false,
      featureGates: { RestartJob: false },
      maxPods: 3,
      agentImage: 'a: #b',
      agentRequests: { cpu: '1' },
      agentLimits: { memory: '1Gi' },
      agentMode: 'Supervisor',
    } as const;
    const [map] = objects('ConfigMap', { ...SETTINGS, configuration: given }) as {
      data?: Record<string, string>;
    }[];
    expect(readConfiguration(map?.data?.['configuration.yaml'] ?? '')).toEqual({ given });
  });

  test('has ports, probes and names that follow the settings', () => {
    const configuration = {
      webhookPort: 1001,
      metricsBindAddress: ':1002',
      metricsSecure: false,
      healthProbeBindAddress: ':1003',
      livenessEndpoint: 'alive',
      webhookService: 'hooks',
      webhookSecretName: 'hooks-secret',
      leaderElectionId: 'our-lease',
    };
    const all = { ...SETTINGS, networkPolicy: true, monitoring: true, configuration };
    const text = manifestYaml(manifest(all).filter(({ of }) => of.kind !== 'ConfigMap'));
    for (const usual of [
      '9443',
      '8443',
      '8081',
      '/healthz',
      'scheme: https',
      'lockstep-webhook-service',
      'lockstep-webhook-server-cert',
      '6d4f6a47.jobset.x-k8s.io',
    ])
      expect(text).not.toContain(usual);
    expect(objects('NetworkPolicy', all)).toMatchObject([
      { spec: { ingress: [{ ports: [{ port: 1001 }, {}] }, { ports: [{ port: 1002 }] }] } },
    ]);
    expect(objects('Service', all)).toMatchObject([
      { metadata: { name: 'hooks' } },
      {},
      { spec: { ports: [{ port: 1002 }] } },
    ]);
  });

  test('has nothing of metrics and probes that are off', () => {
    const off = {
      ...SETTINGS,
      networkPolicy: true,
      configuration: { metricsBindAddress: '0', healthProbeBindAddress: '0' },
    };
    const text = JSON.stringify([...objects('Deployment', off), ...objects('NetworkPolicy', off)]);
    expect(text).not.toMatch(/Probe|"health"|8443|8081/);
    expect(objects('Service', off)).toHaveLength(2);
  });

  test('has pull secrets if there are some', () => {
    expect(JSON.stringify(objects('Deployment'))).not.toContain('imagePullSecrets');
    const [deployment] = objects('Deployment', { ...SETTINGS, imagePullSecrets: ['a', 'b'] });
    expect(deployment).toMatchObject({
      spec: { template: { spec: { imagePullSecrets: [{ name: 'a' }, { name: 'b' }] } } },
    });
  });

  test('leaves it to the operator whom API servers are to trust', () => {
    const configurations = [
      ...objects('MutatingWebhookConfiguration'),
      ...objects('ValidatingWebhookConfiguration'),
    ];
    expect(configurations).toHaveLength(2);
    expect(JSON.stringify(configurations)).not.toContain('caBundle');
    expect(JSON.stringify(configurations)).toContain('"namespace":"elsewhere"');
  });

  test('without webhooks has nothing that leads to them', () => {
    const off = { ...SETTINGS, webhooks: false };
    expect(objects('MutatingWebhookConfiguration', off)).toEqual([]);
    expect(objects('Service', off)).toMatchObject([
      { metadata: { name: 'lockstep-hub' } },
      { metadata: { name: 'lockstep-metrics' } },
    ]);
    expect(JSON.stringify(objects('Deployment', off))).toContain('"--webhooks=off"');
    expect(JSON.stringify(objects('ClusterRole', off))).not.toContain('webhookconfigurations');
  });
});

describe('an operator that is confined to some namespaces', () => {
  const confined = { ...SETTINGS, watchNamespaces: ['team-a', 'team-b'] };

  test('has its rights there, and cluster-wide only for cluster-scoped resources', () => {
    const bound = objects('RoleBinding', confined).map(({ metadata }) => metadata);
    expect(bound).toMatchObject([
      { namespace: 'elsewhere', name: 'lockstep-operator' },
      { namespace: 'team-a', name: 'lockstep-operator-jobsets' },
      { namespace: 'team-b', name: 'lockstep-operator-jobsets' },
    ]);
    const roles = objects('ClusterRole', confined) as { metadata: object; rules: PolicyRule[] }[];
    const own = roles.find(({ metadata }) => 'name' in metadata && metadata.name === OPERATOR_NAME);
    expect(new Set(own?.rules.flatMap(({ resources }) => resources))).toEqual(
      new Set([
        'customresourcedefinitions',
        'nodes',
        'tokenreviews',
        'subjectaccessreviews',
        'mutatingwebhookconfigurations',
        'validatingwebhookconfigurations',
      ]),
    );
  });

  test('acts there, and is asked by API servers about these alone', () => {
    expect(JSON.stringify(objects('Deployment', confined))).toContain(
      '"--namespace=team-a,team-b"',
    );
    const [configuration] = objects('ValidatingWebhookConfiguration', confined);
    const selector = { operator: 'In', values: ['team-a', 'team-b'] };
    expect(configuration?.['webhooks']).toMatchObject([
      { namespaceSelector: { matchExpressions: [selector] } },
      { namespaceSelector: { matchExpressions: [selector] } },
    ]);
  });
});

test('a network policy leaves webhooks and hub open to all, and metrics to some', () => {
  expect(objects('NetworkPolicy')).toEqual([]);
  const [policy] = objects('NetworkPolicy', { ...SETTINGS, networkPolicy: true });
  expect(policy?.['spec']).toMatchObject({
    policyTypes: ['Ingress'],
    ingress: [
      { ports: [{ port: 9443 }, { port: 9445 }] },
      {
        ports: [{ port: 8443 }],
        from: [{ namespaceSelector: { matchLabels: { metrics: 'enabled' } } }],
      },
    ],
  });
  expect(JSON.stringify(policy?.['spec'])).not.toContain('egress');
});

describe('the rights of the operator', () => {
  const rules: readonly PolicyRule[] = [...CLUSTER_RULES, ...WEBHOOK_RULES, ...NAMESPACE_RULES];

  test('name what they are about: no wildcards, no escalation', () => {
    for (const { apiGroups, resources, verbs } of rules) {
      expect([...apiGroups, ...resources, ...verbs]).not.toContain('*');
      for (const verb of ['escalate', 'bind', 'impersonate']) expect(verbs).not.toContain(verb);
    }
  });

  test('let it read no Secret but its own, and make no Pod', () => {
    const about = (resource: string) =>
      rules.filter(({ resources }) => resources.includes(resource));
    const readable = about('secrets').filter(({ verbs }) => verbs.includes('get'));
    expect(readable.map(({ resourceNames }) => resourceNames?.length)).toEqual([2]);
    expect(about('pods').flatMap(({ verbs }) => verbs)).not.toContain('create');
    expect(CLUSTER_RULES.flatMap(({ resources }) => resources)).not.toContain('secrets');
  });
});

describe('the policy for agents', () => {
  test('has no variable whose expression uses an undeclared name', () => {
    const declared = AGENT_POLICY_SPEC.variables.map(({ name }) => name);
    const used = JSON.stringify(AGENT_POLICY_SPEC).match(/variables\.(\w+)/g) ?? [];
    expect(new Set(used)).toEqual(new Set(declared.map((name) => `variables.${name}`)));
  });
});

test.each(RUN_ALERTS.filter(({ name }) => name !== 'LockstepRunsNotMeasured'))(
  '$name tells of one JobSet, and which command says more',
  ({ expression, summary, description }) => {
    expect(expression).toMatch(/max by \(namespace, jobset(?:, (?:class|rank))?\)/);
    expect(summary).toContain('JobSet {{ $labels.namespace }}/{{ $labels.jobset }}');
    expect(description).toMatch(
      /lockstep (status|report) \{\{ \$labels\.jobset \}\} -n \{\{ \$labels\.namespace \}\}/,
    );
  },
);

test('alerts and panels are PromQL', () => {
  const wrong = (expression: string): boolean => {
    let hasError = false;
    parser.parse(expression).iterate({
      enter: ({ type }) => {
        hasError ||= type.isError;
      },
    });
    return hasError;
  };
  expect(wrong('sum by (a) (b'), 'the parser finds errors').toBe(true);
  const panels = PANELS.flatMap(({ queries }) => queries.map(([expression]) => expression));
  // Grafana's variables stand for durations.
  const texts = panels.map((text) => text.replaceAll(/\$__(rate_interval|range)\b/g, '5m'));
  const alerts = ALERTS.map(({ expression }) => expression);
  expect([...alerts, ...texts].filter(wrong)).toEqual([]);
});

test('alerts and panels ask for metrics that the operator has', () => {
  const sources = SOURCES.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => readFileSync(join(ROOT, folder, file), 'utf8')),
  ).join('\n');
  const known = new Set([...sources.matchAll(/name: '([a-z_]+)'/g)].map(([, name]) => name));
  const expressions = [
    ...ALERTS.map(({ expression }) => expression),
    ...PANELS.flatMap(({ queries }) => queries.map(([expression]) => expression)),
  ];
  const asked = expressions.flatMap(
    (expression) =>
      expression.match(/\b(jobset|lockstep|controller_runtime|workqueue)_[a-z_]+/g) ?? [],
  );
  expect(asked.length).toBeGreaterThan(15);
  for (const metric of asked) expect(known).toContain(metric.replace(/_bucket$/, ''));
});
