/** The schema of `config.jobset.x-k8s.io/v1alpha1 Configuration`, with Lockstep's own keys. */

import { AGENT_DELIVERIES, type AgentDelivery } from '../../jobset/injection/agent-delivery.ts';
import type { ContainerResources } from '../../jobset/injection/agent-resources.ts';
import { RESTART_MODES, type RestartMode } from '../../jobset/jobset.ts';
import { DEFINITION_LIMITS, type SizeLimits } from '../../jobset/size-limits.ts';
import {
  boolean,
  int32,
  list,
  map,
  number,
  object,
  oneOf,
  string,
} from '../../kube/schema/builders.ts';
import { HIGHEST_MAX_STREAMS } from './stream-memory.ts';
import { TLS_VERSIONS } from './tls-settings.ts';

const PORT_MAX = 65_535;

export const CONFIGURATION_SCHEMA = object(
  {
    apiVersion: oneOf(['config.jobset.x-k8s.io/v1alpha1']),
    kind: oneOf(['Configuration']),
    webhook: object({
      port: { ...int32('Port of the webhooks.'), minimum: 1, maximum: PORT_MAX },
      host: string('Address of the webhooks; empty: all.'),
      certDir: string(
        'Directory of tls.crt and tls.key, where certificates are not made internally.',
      ),
    }),
    leaderElection: object({
      leaderElect: boolean('Act only while holding the lease.'),
      leaseDuration: string('How long others wait for a silent leader.'),
      renewDeadline: string('How long a leader tries to renew before it gives up.'),
      retryPeriod: string('From one renewal to the next.'),
      resourceLock: oneOf(['leases', ''], 'The kind that holds the lease; empty: leases.'),
      resourceName: string('Its name.'),
      resourceNamespace: string("Its namespace; empty: the operator's."),
    }),
    metrics: object({
      bindAddress: string('Address of /metrics; 0: none.'),
      certDir: string(
        'Directory of tls.crt and tls.key; empty: a certificate that clients cannot verify.',
      ),
      secure: boolean('Serve over HTTPS, to accounts that may read them.'),
    }),
    health: object({
      healthProbeBindAddress: string('Address of the probes; 0: none.'),
      readinessEndpointName: string('The path of the readiness probe, without its slash.'),
      livenessEndpointName: string('The path of the liveness probe, without its slash.'),
    }),
    internalCertManagement: object({
      enable: boolean('Create, rotate and publish the certificates of the webhooks.'),
      webhookServiceName: string('The Service through which API servers call.'),
      webhookSecretName: string('The Secret that holds the certificates.'),
    }),
    clientConnection: object({
      qps: number('Requests a second that the operator sends at most, on average.'),
      burst: int32('Requests that may come at once.'),
    }),
    tls: object({
      minVersion: oneOf(
        [...Object.keys(TLS_VERSIONS), ''],
        'The oldest version that servers speak; empty: TLS 1.2.',
      ),
      cipherSuites: list(string(), 'IANA names of the suites that they offer up to TLS 1.2.'),
    }),
    featureGates: map(boolean(), 'Features by name.'),
    limits: object({
      maxJobs: {
        ...int32('Jobs of one JobSet: the sum of replicas.'),
        minimum: 1,
        maximum: DEFINITION_LIMITS.maxJobs,
      },
      maxPods: {
        ...int32('Pods of one JobSet: the sum of replicas times parallelism.'),
        minimum: 1,
        maximum: DEFINITION_LIMITS.maxPods,
      },
      maxStreams: {
        ...int32('Agents that the hub serves at a time.'),
        minimum: 1,
        maximum: HIGHEST_MAX_STREAMS,
      },
    }),
    agent: object({
      image: string('The image of injected agents.'),
      mode: oneOf(['Auto', ...RESTART_MODES], 'For JobSets that do not say.'),
      injection: oneOf(
        ['Enabled', 'Disabled'],
        'Whether templates get an agent, for JobSets that do not say.',
      ),
      delivery: oneOf(
        AGENT_DELIVERIES,
        "How a supervising agent comes into the worker's container: copied, mounted, or there.",
      ),
      resources: object({
        requests: map(string(), 'What a sidecar agent is given.'),
        limits: map(string(), 'What it may use.'),
      }),
      channel: oneOf(
        ['Auto', 'Hub', 'API'],
        'How agents speak to the operator: over its hub, the API server, or whichever works.',
      ),
    }),
  },
  { required: ['apiVersion', 'kind'] },
);

/** A file that the schema accepts. Everything is optional, as in the schema. */
export interface ConfigurationFile {
  readonly webhook?: { readonly port?: number; readonly host?: string; readonly certDir?: string };
  readonly leaderElection?: {
    readonly leaderElect?: boolean;
    readonly leaseDuration?: string;
    readonly renewDeadline?: string;
    readonly retryPeriod?: string;
    readonly resourceName?: string;
    readonly resourceNamespace?: string;
  };
  readonly metrics?: {
    readonly bindAddress?: string;
    readonly certDir?: string;
    readonly secure?: boolean;
  };
  readonly health?: {
    readonly healthProbeBindAddress?: string;
    readonly readinessEndpointName?: string;
    readonly livenessEndpointName?: string;
  };
  readonly internalCertManagement?: {
    readonly enable?: boolean;
    readonly webhookServiceName?: string;
    readonly webhookSecretName?: string;
  };
  readonly clientConnection?: { readonly qps?: number; readonly burst?: number };
  readonly tls?: {
    readonly minVersion?: keyof typeof TLS_VERSIONS | '';
    readonly cipherSuites?: readonly string[];
  };
  readonly featureGates?: Readonly<Record<string, boolean>>;
  readonly limits?: Partial<SizeLimits> & { readonly maxStreams?: number };
  readonly agent?: {
    readonly image?: string;
    readonly mode?: RestartMode | 'Auto';
    readonly injection?: 'Enabled' | 'Disabled';
    readonly delivery?: AgentDelivery;
    readonly resources?: ContainerResources;
    readonly channel?: 'Auto' | 'Hub' | 'API';
  };
}
