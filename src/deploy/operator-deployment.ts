/**
 * The operator's Pods and what they need besides rights: a namespace that admits nothing
 * privileged, the Configuration file, two replicas of which one leads, and Services for their
 * clients.
 */

import type { KubeObject } from '@lockstep/kube/meta.ts';
import { CONFIG_MAPS, NAMESPACES, SERVICES } from '@lockstep/kube/objects/core.ts';
import { sha1 } from '@lockstep/kube/runtime/adapters/sha1.ts';
import { ENV_POD_IP } from '../jobset/names.ts';
import type { BindAddress } from '../operator/configuration/bind-address.ts';
import { configurationText } from '../operator/configuration/configuration-text.ts';
import {
  CONFIGURATION_NAME,
  HUB_SERVICE_NAME,
  ONLY_MANAGED_LEASE,
  OPERATOR_NODE_OPTIONS,
  OPERATOR_POD_LABELS,
} from '../operator/configuration/object-names.ts';
import { settingValues } from '../operator/configuration/setting-values.ts';
import { DEPLOYMENTS, NETWORK_POLICIES, POD_DISRUPTION_BUDGETS } from './kinds.ts';
import { OPERATOR_NAME } from './permissions.ts';
import { type InstallationSettings, type Installed, installed } from './settings.ts';

export const METRICS_SERVICE_NAME = 'lockstep-metrics';
export const METRICS_LABELS = { 'app.kubernetes.io/component': 'metrics' } as const;

/** The label of namespaces whose Pods may read the metrics if there is a network policy. */
const METRICS_READERS_LABELS = { metrics: 'enabled' } as const;

export const HUB_PORT = 9445;
export const OPERATOR_REPLICAS = 2;
/** What each replica gets; the limit of its memory is a setting. */
export const OPERATOR_RESOURCES = {
  requests: { cpu: '100m', memory: '128Mi' },
  limits: { cpu: '2' },
} as const;
/** The operator ends within two seconds of SIGTERM. */
const TERMINATION_GRACE_SECONDS = 10;
/** The operator's argument if the API servers do not ask it. */
export const WEBHOOKS_OFF = '--webhooks=off';
/** The operator's argument if it runs beside upstream's controller. */
export const ONLY_MANAGED = '--only-managed';
/** Followed by the namespaces to which the operator is confined, separated by commas. */
export const NAMESPACES_ARGUMENT = '--namespace=';
const CONFIGURATION_DIRECTORY = '/etc/lockstep';
export const CONFIGURATION_FILE = 'configuration.yaml';

export function namespaceObject({ namespace }: InstallationSettings): Installed {
  const levels = ['enforce', 'audit', 'warn'].map((mode) => [
    `pod-security.kubernetes.io/${mode}`,
    'restricted',
  ]);
  return installed(NAMESPACES, { name: namespace, labels: Object.fromEntries(levels) });
}

export function operatorDeployment(settings: InstallationSettings): readonly Installed[] {
  const { namespace } = settings;
  const at = (name: string) => ({ namespace, name });
  const configuration = configurationText(settings.configuration);
  const { webhookService, metricsBindAddress } = settingValues(settings.configuration);
  const metricsPort = portOf(metricsBindAddress);
  return [
    installed(CONFIG_MAPS, at(CONFIGURATION_NAME), {
      data: { [CONFIGURATION_FILE]: configuration },
    }),
    ...(settings.webhooks
      ? [service(at(webhookService), { name: 'webhooks', port: 443, targetPort: 'webhooks' })]
      : []),
    // It has no selector: the leading replica writes its own address as the endpoint.
    installed(SERVICES, at(HUB_SERVICE_NAME), {
      spec: { ports: [{ name: 'hub', port: HUB_PORT, protocol: 'TCP' }] },
    }),
    ...metricsPort.map((port) =>
      service(
        { ...at(METRICS_SERVICE_NAME), labels: METRICS_LABELS },
        { name: 'metrics', port, targetPort: 'metrics' },
      ),
    ),
    ...(settings.networkPolicy ? [networkPolicy(settings)] : []),
    installed(POD_DISRUPTION_BUDGETS, at(OPERATOR_NAME), {
      spec: { minAvailable: 1, selector: { matchLabels: OPERATOR_POD_LABELS } },
    }),
    installed(DEPLOYMENTS, at(OPERATOR_NAME), {
      spec: {
        replicas: OPERATOR_REPLICAS,
        selector: { matchLabels: OPERATOR_POD_LABELS },
        template: podTemplate(settings, sha1(configuration)),
      },
    }),
  ];
}

/**
 * Webhooks and the hub stay open to everyone, because API servers, and agents of Pods on the host's
 * network, come from addresses that no selector covers. Metrics are for namespaces with the label
 * that kubebuilder projects use for this. A policy never blocks the kubelet's probes.
 */
function networkPolicy({ namespace, configuration }: InstallationSettings): Installed {
  const { webhookPort, metricsBindAddress } = settingValues(configuration);
  const toAll = [webhookPort, HUB_PORT].map((port) => ({ protocol: 'TCP', port }));
  const spec = {
    podSelector: { matchLabels: OPERATOR_POD_LABELS },
    policyTypes: ['Ingress'],
    ingress: [
      { ports: toAll },
      ...portOf(metricsBindAddress).map((port) => ({
        ports: [{ protocol: 'TCP', port }],
        from: [{ namespaceSelector: { matchLabels: METRICS_READERS_LABELS } }],
      })),
    ],
  };
  return installed(NETWORK_POLICIES, { namespace, name: OPERATOR_NAME }, { spec });
}

/** None where nothing is served. */
function portOf(address: BindAddress | 'off'): readonly number[] {
  return address === 'off' ? [] : [address.port];
}

function service(
  metadata: KubeObject['metadata'],
  port: { readonly name: string; readonly port: number; readonly targetPort: string },
): Installed {
  return installed(SERVICES, metadata, {
    spec: { selector: OPERATOR_POD_LABELS, ports: [{ ...port, protocol: 'TCP' }] },
  });
}

function podTemplate(settings: InstallationSettings, configurationHash: string): object {
  return {
    metadata: {
      labels: { ...OPERATOR_POD_LABELS, 'app.kubernetes.io/part-of': 'lockstep' },
      annotations: {
        // A changed ConfigMap restarts the operator.
        'lockstep/configuration': configurationHash,
        'kubectl.kubernetes.io/default-container': 'operator',
      },
    },
    spec: {
      serviceAccountName: OPERATOR_NAME,
      ...(settings.imagePullSecrets.length > 0 && {
        imagePullSecrets: settings.imagePullSecrets.map((name) => ({ name })),
      }),
      terminationGracePeriodSeconds: TERMINATION_GRACE_SECONDS,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: OPERATOR_POD_LABELS },
        },
      ],
      containers: [operatorContainer(settings)],
      volumes: [{ name: 'configuration', configMap: { name: CONFIGURATION_NAME } }],
    },
  };
}

function operatorContainer(settings: InstallationSettings): object {
  const { operatorImage, webhooks, onlyManaged, watchNamespaces, operatorMemory } = settings;
  const values = settingValues(settings.configuration);
  const healthPort = portOf(values.healthProbeBindAddress);
  const probe = (path: string) => ({
    httpGet: { path: `/${path}`, port: 'health' },
    timeoutSeconds: 2,
  });
  const { livenessEndpoint: alive, readinessEndpoint: ready } = values;
  return {
    name: 'operator',
    image: operatorImage,
    command: ['lockstep-operator'],
    args: [
      `--config=${CONFIGURATION_DIRECTORY}/${CONFIGURATION_FILE}`,
      ...(webhooks ? [] : [WEBHOOKS_OFF]),
      ...(onlyManaged ? [ONLY_MANAGED, `--leader-election-id=${ONLY_MANAGED_LEASE}`] : []),
      ...(watchNamespaces.length === 0
        ? []
        : [`${NAMESPACES_ARGUMENT}${watchNamespaces.join(',')}`]),
      `--hub-bind-address=:${HUB_PORT}`,
      `--hub-service=${HUB_SERVICE_NAME}`,
    ],
    env: [
      { name: ENV_POD_IP, valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'NODE_OPTIONS', value: OPERATOR_NODE_OPTIONS },
    ],
    ports: [
      ...(webhooks ? [{ name: 'webhooks', containerPort: values.webhookPort }] : []),
      { name: 'hub', containerPort: HUB_PORT },
      ...portOf(values.metricsBindAddress).map((containerPort) => ({
        name: 'metrics',
        containerPort,
      })),
      ...healthPort.map((containerPort) => ({ name: 'health', containerPort })),
    ],
    ...(healthPort.length > 0 && {
      // It is ready once its caches are filled, which takes a while in a large cluster.
      startupProbe: { ...probe(alive), periodSeconds: 2, failureThreshold: 30 },
      livenessProbe: { ...probe(alive), periodSeconds: 20, failureThreshold: 3 },
      readinessProbe: { ...probe(ready), periodSeconds: 5, failureThreshold: 2 },
    }),
    resources: {
      requests: OPERATOR_RESOURCES.requests,
      limits: { ...OPERATOR_RESOURCES.limits, memory: operatorMemory },
    },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [{ name: 'configuration', mountPath: CONFIGURATION_DIRECTORY, readOnly: true }],
  };
}
