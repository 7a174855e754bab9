/** What the command line and the Configuration file say together. */
import type { FeatureGates } from '../../jobset/feature-gates.ts';
import type { AgentDelivery } from '../../jobset/injection/agent-delivery.ts';
import type { ContainerResources } from '../../jobset/injection/agent-resources.ts';
import type { RestartMode } from '../../jobset/jobset.ts';
import type { SizeLimits } from '../../jobset/size-limits.ts';
import type { LeaseTimes } from '../../runtime/controller/leader-election.ts';
import type { BindAddress } from './bind-address.ts';
import type { TlsSettings } from './tls-settings.ts';

export interface OperatorFlags extends SizeLimits {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** The namespaces in which the operator acts; absent: all. */
  readonly namespaces?: readonly string[];
  readonly installCrd: boolean;
  readonly agentImage: string;
  readonly agentCommand?: string;
  readonly agentDelivery: AgentDelivery;
  /** Only in the Configuration file. */
  readonly agentResources?: ContainerResources;
  /** For JobSets that do not set a mode. */
  readonly agentMode: RestartMode | 'Auto';
  readonly agentInjection: 'Enabled' | 'Disabled';
  readonly nativeRestartRules: boolean;
  readonly featureGates: FeatureGates;
  readonly webhookBindAddress: BindAddress | 'off';
  readonly installWebhooks: boolean;
  /** `https://HOST:PORT`, without a path. */
  readonly webhookUrl?: string;
  readonly webhookService?: string;
  readonly webhookSecretName: string;
  readonly hubBindAddress: BindAddress | 'off';
  /** `https://HOST:PORT`, without a path. */
  readonly hubUrl?: string;
  readonly hubService?: string;
  readonly hubSecretName: string;
  readonly agentChannel: 'Auto' | 'Hub' | 'API';
  /** The most streams of the hub. */
  readonly maxStreams: number;
  /** The directory of the webhooks' certificate; absent: the operator makes its own. */
  readonly webhookCertDir?: string;
  readonly metricsBindAddress: BindAddress | 'off';
  /** Metrics over HTTPS, for clients that the cluster allows to read them. */
  readonly metricsSecure: boolean;
  /** Absent: the certificate is self-signed. */
  readonly metricsCertDir?: string;
  readonly healthProbeBindAddress: BindAddress | 'off';
  readonly livenessEndpoint?: string;
  readonly readinessEndpoint?: string;
  /** Requests per second; negative: no limit. */
  readonly kubeApiQps: number;
  readonly kubeApiBurst: number;
  /** For all servers; absent: TLS 1.2 and newer. */
  readonly tls?: TlsSettings;
  readonly leaderElect: boolean;
  readonly leaderElectionNamespace?: string;
  readonly leaderElectionId: string;
  readonly leaseTimes?: LeaseTimes;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}
