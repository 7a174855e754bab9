/**
 * Every setting of the Configuration file, once. From this table come its schema and types, its
 * defaults, the flags of the operator and of `lockstep install`, the values of the Helm chart, and
 * docs/reference/configuration.md. Settings of one section stand together, and have the name of their
 * flag.
 */

import { formatDuration } from '@lockstep/kube/duration.ts';
import { DEFAULT_LEASE_TIMES } from '@lockstep/kube/runtime/controller/leader-election.ts';
import {
  DEFAULT_SIZE_LIMITS,
  DEFINITION_LIMITS,
  UNKNOWN_ANNOTATIONS,
} from '../../jobset/size-limits.ts';
import { AGENT_SETTINGS } from './agent-settings.ts';
import { LEADER_ELECTION_ID, WEBHOOK_SECRET_NAME, WEBHOOK_SERVICE_NAME } from './object-names.ts';
import {
  address,
  choice,
  choiceOrEmpty,
  cipherSuites,
  duration,
  GATES,
  gates,
  host,
  lease,
  namespace,
  pathSegment,
  rate,
  type Setting,
  secret,
  service,
  text,
  wholeNumber,
  yesOrNo,
} from './setting-types.ts';
import { DEFAULT_MAX_STREAMS, HIGHEST_MAX_STREAMS, STREAM_KIB } from './stream-memory.ts';
import { TLS_VERSIONS, type TlsVersion } from './tls-settings.ts';

const PORT_MAX = 65_535;
/** The default of controller-runtime. */
const WEBHOOK_CERTIFICATES = '/tmp/k8s-webhook-server/serving-certs';
const CERTIFICATE_FILES = 'directory of tls.crt and tls.key';
const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = DEFAULT_LEASE_TIMES;

export const SETTINGS = {
  webhookPort: {
    path: 'webhook.port',
    type: wholeNumber(PORT_MAX),
    default: 9443,
    help: 'port of the webhooks',
  },
  webhookHost: {
    path: 'webhook.host',
    type: host(),
    default: '',
    defaultInWords: 'all addresses',
    help: 'address of the webhooks',
  },
  webhookCertDir: {
    path: 'webhook.certDir',
    type: text('a directory', 'directory'),
    default: WEBHOOK_CERTIFICATES,
    help: `${CERTIFICATE_FILES} for the webhooks, if internalCertManagement.enable is false`,
    see: '#certificates-that-others-make',
  },
  leaderElect: {
    path: 'leaderElection.leaderElect',
    type: yesOrNo(),
    default: true,
    help: 'act only while holding the lease',
    flag: '--leader-elect',
    withoutFile: false,
    negated: 'act at once, whatever the file says',
  },
  leaseDuration: {
    path: 'leaderElection.leaseDuration',
    type: duration(),
    default: formatDuration(leaseDurationMs),
    help: 'how long others wait for a silent leader; whole seconds',
  },
  renewDeadline: {
    path: 'leaderElection.renewDeadline',
    type: duration(),
    default: formatDuration(renewDeadlineMs),
    help: 'how long a leader tries to renew before it gives up; less than the lease lasts',
  },
  retryPeriod: {
    path: 'leaderElection.retryPeriod',
    type: duration(),
    default: formatDuration(retryPeriodMs),
    help: 'time between renewals; less than the deadline',
  },
  leaderElectionLock: {
    path: 'leaderElection.resourceLock',
    type: choiceOrEmpty(['leases']),
    default: 'leases',
    help: 'kind of the object that holds the lease; an empty text means the same',
  },
  leaderElectionId: {
    path: 'leaderElection.resourceName',
    type: lease(),
    default: LEADER_ELECTION_ID,
    help: 'name of the lease',
    flag: '--leader-election-id',
  },
  leaderElectionNamespace: {
    path: 'leaderElection.resourceNamespace',
    type: namespace(),
    defaultInWords: "the operator's",
    help: 'namespace of the lease',
    flag: '--leader-election-namespace',
  },
  metricsBindAddress: {
    path: 'metrics.bindAddress',
    type: address(),
    default: ':8443',
    help: 'address of /metrics; 0 serves none',
    flag: '--metrics-bind-address',
    withoutFile: '0',
  },
  metricsSecure: {
    path: 'metrics.secure',
    type: yesOrNo(),
    default: true,
    help: 'serve metrics over HTTPS to accounts that may read them and show a token; otherwise over plain HTTP, to everyone',
    see: '#who-may-read-metrics',
    own: true,
    flag: '--metrics-secure',
    withoutFile: false,
    negated: 'serve metrics over plain HTTP to everyone, whatever the file says',
  },
  metricsCertDir: {
    path: 'metrics.certDir',
    type: text('a directory', 'directory'),
    defaultInWords: 'none',
    help: `${CERTIFICATE_FILES} for metrics; without it, the operator makes a certificate that clients cannot verify`,
  },
  healthProbeBindAddress: {
    path: 'health.healthProbeBindAddress',
    type: address(),
    default: ':8081',
    help: 'address of the probes; 0 serves none',
    see: '#probes',
    flag: '--health-probe-bind-address',
    withoutFile: '0',
  },
  readinessEndpoint: {
    path: 'health.readinessEndpointName',
    type: pathSegment(),
    default: 'readyz',
    help: 'path of the readiness probe',
  },
  livenessEndpoint: {
    path: 'health.livenessEndpointName',
    type: pathSegment(),
    default: 'healthz',
    help: 'path of the liveness probe',
  },
  makesCertificates: {
    path: 'internalCertManagement.enable',
    type: yesOrNo(),
    default: true,
    help: 'create, rotate and publish the certificates of the webhooks',
    see: '#certificates-that-others-make',
  },
  webhookService: {
    path: 'internalCertManagement.webhookServiceName',
    type: service(),
    default: WEBHOOK_SERVICE_NAME,
    help: "Service of the operator's namespace through which API servers reach the webhooks",
    flag: '--webhook-service',
    withoutFile: undefined,
  },
  webhookSecretName: {
    path: 'internalCertManagement.webhookSecretName',
    type: secret(),
    default: WEBHOOK_SECRET_NAME,
    help: "Secret of the operator's namespace that holds the certificates of the webhooks",
    flag: '--webhook-secret-name',
  },
  kubeApiQps: {
    path: 'clientConnection.qps',
    type: rate(),
    default: 500,
    help: 'requests per second to the API server, on average; a negative number is no limit',
    see: '#requests-to-the-api-server',
    flag: '--kube-api-qps',
  },
  kubeApiBurst: {
    path: 'clientConnection.burst',
    type: wholeNumber(),
    default: 500,
    help: 'requests to the API server at once',
    see: '#requests-to-the-api-server',
    flag: '--kube-api-burst',
  },
  tlsMinVersion: {
    path: 'tls.minVersion',
    // The keys of a constant are known.
    type: choiceOrEmpty(Object.keys(TLS_VERSIONS) as readonly TlsVersion[]),
    default: 'VersionTLS12',
    help: 'oldest version of TLS that webhooks and metrics speak',
  },
  tlsCipherSuites: {
    path: 'tls.cipherSuites',
    type: cipherSuites(),
    default: [],
    defaultInWords: "Node's",
    help: 'suites offered up to TLS 1.2; must be empty with TLS 1.3',
  },
  featureGates: {
    path: 'featureGates',
    type: gates(),
    default: {},
    defaultInWords: 'all `true`',
    help: `features that are on: ${GATES.join(', ')}`,
    see: '#feature-gates',
    flag: '--feature-gates',
  },
  maxJobs: {
    path: 'limits.maxJobs',
    type: wholeNumber(DEFINITION_LIMITS.maxJobs),
    default: DEFAULT_SIZE_LIMITS.maxJobs,
    help: 'most Jobs of one JobSet: the sum of replicas',
    see: '#how-large-a-jobset-may-be',
    own: true,
    flag: '--max-jobs',
    install: true,
  },
  maxPods: {
    path: 'limits.maxPods',
    type: wholeNumber(DEFINITION_LIMITS.maxPods),
    default: DEFAULT_SIZE_LIMITS.maxPods,
    help: 'most Pods of one JobSet: the sum of replicas times parallelism',
    see: '#how-large-a-jobset-may-be',
    own: true,
    flag: '--max-pods',
    install: true,
  },
  maxStreams: {
    path: 'limits.maxStreams',
    type: wholeNumber(HIGHEST_MAX_STREAMS),
    default: DEFAULT_MAX_STREAMS,
    help: `number of agents that the hub serves at a time, three quarters of them of one JobSet; each takes ${STREAM_KIB} KiB of memory`,
    see: '#memory-of-the-operator',
    own: true,
    flag: '--max-streams',
    install: true,
    helm: 'maxStreams',
  },
  unknownAnnotations: {
    path: 'unknownAnnotations',
    type: choice(UNKNOWN_ANNOTATIONS, 'answer'),
    default: 'Refuse',
    help: 'answer to a new annotation below lockstep/ that is not known; Warn is for clusters that get JobSets from other versions, as with MultiKueue',
    see: 'names.md#unknown-annotations',
    own: true,
    flag: '--unknown-annotations',
    install: true,
  },
  onlyManaged: {
    path: 'onlyManaged',
    type: yesOrNo(),
    default: false,
    help: "act only on JobSets whose spec.managedBy is lockstep/jobset-controller, beside upstream's controller; needs webhooks",
    see: '../migrating-from-upstream.md#a-pilot-beside-upstreams-controller',
    own: true,
    flag: '--only-managed',
    helm: 'onlyManaged',
    negated: 'act on all JobSets of its namespaces, whatever the file says',
  },
  ...AGENT_SETTINGS,
} as const satisfies Readonly<Record<string, Setting>>;
