/**
 * Reads a `Configuration` file as strictly as upstream's controller does. Unknown, duplicate and
 * wrong keys are errors with their path, reported together. A missing key has the API's default.
 */

import { parseDocument } from 'yaml';
import { DEFAULT_FEATURE_GATES, type FeatureGates } from '../../jobset/feature-gates.ts';
import type { AgentDelivery } from '../../jobset/injection/agent-delivery.ts';
import type { ContainerResources } from '../../jobset/injection/agent-resources.ts';
import type { RestartMode } from '../../jobset/jobset.ts';
import { DEFAULT_SIZE_LIMITS, type SizeLimits } from '../../jobset/size-limits.ts';
import { parseDuration } from '../../kube/duration.ts';
import { formatFieldError, invalidValue, notSupported } from '../../kube/field-error.ts';
import { defined } from '../../kube/json/defined.ts';
import { isJsonObject } from '../../kube/json/json-value.ts';
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
} from '../../kube/name-rules.ts';
import { parseQuantity, QUANTITY_ERROR } from '../../kube/quantity.ts';
import { prune } from '../../kube/schema/prune.ts';
import { validate } from '../../kube/schema/validate.ts';
import type { FieldError } from '../../kube/status.ts';
import { DEFAULT_LEASE_TIMES, type LeaseTimes } from '../../runtime/controller/leader-election.ts';
import { ADDRESS_FORM, ANY_ADDRESS, type BindAddress, parseBindAddress } from './bind-address.ts';
import { CONFIGURATION_SCHEMA, type ConfigurationFile } from './configuration-schema.ts';
import { LEADER_ELECTION_ID, WEBHOOK_SECRET_NAME, WEBHOOK_SERVICE_NAME } from './object-names.ts';
import { DEFAULT_MAX_STREAMS } from './stream-memory.ts';
import { cipherSuiteErrors, type TlsSettings, tlsSettings } from './tls-settings.ts';

/** The contents of a file, under the names of the equivalent flags. */
export interface ConfigurationSettings extends SizeLimits {
  readonly webhookBindAddress: BindAddress;
  /** The directory of the webhooks' certificate; absent: the operator makes its own. */
  readonly webhookCertDir?: string;
  readonly webhookService: string;
  readonly webhookSecretName: string;
  readonly leaderElect: boolean;
  readonly leaderElectionId: string;
  readonly leaderElectionNamespace?: string;
  readonly leaseTimes: LeaseTimes;
  readonly metricsBindAddress: BindAddress | 'off';
  readonly metricsSecure: boolean;
  /** Absent: the certificate is self-signed. */
  readonly metricsCertDir?: string;
  readonly healthProbeBindAddress: BindAddress | 'off';
  readonly livenessEndpoint: string;
  readonly readinessEndpoint: string;
  readonly kubeApiQps: number;
  readonly kubeApiBurst: number;
  readonly tls: TlsSettings;
  readonly featureGates: FeatureGates;
  /** Absent: the default of the operator's version. */
  readonly agentImage?: string;
  readonly agentMode: RestartMode | 'Auto';
  readonly agentInjection: 'Enabled' | 'Disabled';
  readonly agentDelivery: AgentDelivery;
  /** Absent: derived from their workers'. */
  readonly agentResources?: ContainerResources;
  readonly agentChannel: 'Auto' | 'Hub' | 'API';
  readonly maxStreams: number;
}

/** Lines for the user, each with the path of its key. */
export type ParsedConfiguration =
  | { readonly settings: ConfigurationSettings }
  | { readonly problems: readonly string[] };

export function parseConfiguration(text: string): ParsedConfiguration {
  const document = parseDocument(text, { logLevel: 'error' });
  if (document.errors.length > 0) {
    return { problems: document.errors.map(({ message }) => message.trimEnd()) };
  }
  // A null counts as absent, as in Go.
  const reviver = (_key: unknown, member: unknown): unknown => member ?? undefined;
  const value: unknown = document.toJS({ reviver }) ?? {};
  if (!isJsonObject(value)) return { problems: ['expected a map'] };
  const { value: known, pruned } = prune(CONFIGURATION_SCHEMA, value);
  const shapeErrors = validate(CONFIGURATION_SCHEMA, known);
  const unknown = pruned.map((path) => `unknown key ${path}`);
  if (shapeErrors.length > 0) return { problems: [...unknown, ...shapeErrors.map(told)] };
  // The schema has just been checked.
  const file = known as ConfigurationFile;
  const problems = [...unknown, ...contentErrors(file).map(told)];
  return problems.length > 0 ? { problems } : { settings: settingsOf(file) };
}

const METRICS_ADDRESS = ':8443';
const HEALTH_ADDRESS = ':8081';
const WEBHOOK_PORT = 9443;
const LIVENESS_ENDPOINT = 'healthz';
const READINESS_ENDPOINT = 'readyz';
export const DEFAULT_QPS = 500;
export const DEFAULT_BURST = 500;
/** The default of controller-runtime. */
const WEBHOOK_CERTIFICATES = '/tmp/k8s-webhook-server/serving-certs';

function settingsOf(file: ConfigurationFile): ConfigurationSettings {
  const { webhook = {}, metrics = {}, health = {}, clientConnection = {}, tls = {} } = file;
  const { leaderElection = {}, internalCertManagement: certificates = {}, agent = {} } = file;
  return {
    webhookBindAddress: {
      host: webhook.host || ANY_ADDRESS,
      port: webhook.port ?? WEBHOOK_PORT,
    },
    ...(certificates.enable === false
      ? { webhookCertDir: webhook.certDir || WEBHOOK_CERTIFICATES }
      : {}),
    webhookService: certificates.webhookServiceName || WEBHOOK_SERVICE_NAME,
    webhookSecretName: certificates.webhookSecretName || WEBHOOK_SECRET_NAME,
    leaderElect: leaderElection.leaderElect ?? true,
    leaderElectionId: leaderElection.resourceName || LEADER_ELECTION_ID,
    ...stated('leaderElectionNamespace', leaderElection.resourceNamespace),
    leaseTimes: leaseTimesOf(leaderElection),
    metricsBindAddress: addressOf(metrics.bindAddress, METRICS_ADDRESS),
    metricsSecure: metrics.secure ?? true,
    ...stated('metricsCertDir', metrics.certDir),
    healthProbeBindAddress: addressOf(health.healthProbeBindAddress, HEALTH_ADDRESS),
    livenessEndpoint: health.livenessEndpointName || LIVENESS_ENDPOINT,
    readinessEndpoint: health.readinessEndpointName || READINESS_ENDPOINT,
    kubeApiQps: clientConnection.qps ?? DEFAULT_QPS,
    kubeApiBurst: clientConnection.burst ?? DEFAULT_BURST,
    tls: tlsSettings(tls.minVersion || 'VersionTLS12', tls.cipherSuites ?? []),
    featureGates: gatesOf(file.featureGates ?? {}),
    ...DEFAULT_SIZE_LIMITS,
    maxStreams: DEFAULT_MAX_STREAMS,
    ...file.limits,
    ...stated('agentImage', agent.image),
    agentMode: agent.mode ?? 'Auto',
    agentInjection: agent.injection ?? 'Enabled',
    agentDelivery: agent.delivery ?? 'Auto',
    ...defined({ agentResources: agent.resources }),
    agentChannel: agent.channel ?? 'Auto',
  };
}

/** An empty text counts as absent, as in Go. */
function stated<K extends string>(key: K, text: string | undefined): Partial<Record<K, string>> {
  return text === undefined || text === '' ? {} : ({ [key]: text } as Record<K, string>);
}

function addressOf(text: string | undefined, otherwise: string): BindAddress | 'off' {
  return parseBindAddress(text || otherwise) ?? 'off';
}

function leaseTimesOf({
  leaseDuration,
  renewDeadline,
  retryPeriod,
}: NonNullable<ConfigurationFile['leaderElection']>): LeaseTimes {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = DEFAULT_LEASE_TIMES;
  return {
    leaseDurationMs: durationOf(leaseDuration) ?? leaseDurationMs,
    renewDeadlineMs: durationOf(renewDeadline) ?? renewDeadlineMs,
    retryPeriodMs: durationOf(retryPeriod) ?? retryPeriodMs,
  };
}

/** Undefined if absent; 0 counts as absent, as in Go. */
function durationOf(text: string | undefined): number | undefined {
  const ms = parseDuration(text ?? '') ?? 0;
  return ms === 0 ? undefined : ms;
}

/** Upstream's gates with a fixed value: servers here always obey `tls`. */
const LOCKED_GATES: Readonly<Record<string, boolean>> = { TLSOptions: true };

function gatesOf(gates: Readonly<Record<string, boolean>>): FeatureGates {
  const own = Object.entries(gates).filter(([name]) => !Object.hasOwn(LOCKED_GATES, name));
  return { ...DEFAULT_FEATURE_GATES, ...Object.fromEntries(own) };
}

function contentErrors(file: ConfigurationFile): readonly FieldError[] {
  const { webhook, metrics, health, tls = {}, featureGates = {} } = file;
  const { minVersion, cipherSuites = [] } = tls;
  const isTls13 = minVersion === 'VersionTLS13' && cipherSuites.length > 0;
  const why = 'must be empty with VersionTLS13, which has no choice of suites';
  return [
    ...textErrors('webhook.host', webhook?.host, hostErrors),
    ...leaderElectionErrors(file.leaderElection ?? {}),
    ...addressErrors('metrics.bindAddress', metrics?.bindAddress),
    ...addressErrors('health.healthProbeBindAddress', health?.healthProbeBindAddress),
    ...textErrors('health.readinessEndpointName', health?.readinessEndpointName, pathErrors),
    ...textErrors('health.livenessEndpointName', health?.livenessEndpointName, pathErrors),
    ...certificateErrors(file.internalCertManagement ?? {}),
    ...clientErrors(file.clientConnection ?? {}),
    ...(isTls13 ? [invalidValue('tls.cipherSuites', cipherSuites, why)] : []),
    ...cipherSuiteErrors(cipherSuites, 'tls.cipherSuites'),
    ...gateErrors(featureGates),
    ...resourceErrors(file.agent?.resources ?? {}),
  ];
}

function leaderElectionErrors(
  section: NonNullable<ConfigurationFile['leaderElection']>,
): readonly FieldError[] {
  const errors = (['leaseDuration', 'renewDeadline', 'retryPeriod'] as const).flatMap((key) => {
    const text = section[key];
    const ms = text === undefined ? 0 : parseDuration(text);
    if (ms !== undefined && ms >= 0) return [];
    return [invalidValue(`leaderElection.${key}`, text, 'must be a duration such as 15s')];
  });
  if (errors.length > 0) return errors;
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = leaseTimesOf(section);
  const at = (key: string): string => `leaderElection.${key}`;
  return [
    ...(leaseDurationMs > renewDeadlineMs
      ? []
      : [invalidValue(at('leaseDuration'), `${leaseDurationMs}ms`, 'must exceed renewDeadline')]),
    ...(renewDeadlineMs > retryPeriodMs
      ? []
      : [invalidValue(at('renewDeadline'), `${renewDeadlineMs}ms`, 'must exceed retryPeriod')]),
    ...textErrors(at('resourceName'), section.resourceName, dns1123SubdomainErrors),
    ...textErrors(at('resourceNamespace'), section.resourceNamespace, dns1123LabelErrors),
  ];
}

function certificateErrors({
  enable = true,
  webhookServiceName,
  webhookSecretName,
}: NonNullable<ConfigurationFile['internalCertManagement']>): readonly FieldError[] {
  if (!enable) return [];
  const at = (key: string): string => `internalCertManagement.${key}`;
  return [
    ...textErrors(at('webhookServiceName'), webhookServiceName, dns1035LabelErrors),
    ...textErrors(at('webhookSecretName'), webhookSecretName, dns1123SubdomainErrors),
  ];
}

function clientErrors({
  qps,
  burst,
}: NonNullable<ConfigurationFile['clientConnection']>): readonly FieldError[] {
  const detail = 'must be greater than 0, or negative for no limit';
  return [
    ...(qps === 0 ? [invalidValue('clientConnection.qps', qps, detail)] : []),
    ...(burst !== undefined && burst <= 0 && (qps ?? DEFAULT_QPS) > 0
      ? [invalidValue('clientConnection.burst', burst, 'must be greater than 0')]
      : []),
  ];
}

function gateErrors(gates: Readonly<Record<string, boolean>>): readonly FieldError[] {
  const known = [...Object.keys(DEFAULT_FEATURE_GATES), ...Object.keys(LOCKED_GATES)];
  return Object.entries(gates).flatMap(([name, value]): readonly FieldError[] => {
    if (!known.includes(name)) return [notSupported('featureGates', name, known)];
    const locked = Object.hasOwn(LOCKED_GATES, name) ? LOCKED_GATES[name] : value;
    if (locked === value) return [];
    return [invalidValue(`featureGates.${name}`, value, `is locked to ${String(locked)}`)];
  });
}

function resourceErrors(resources: ContainerResources): readonly FieldError[] {
  return (['requests', 'limits'] as const).flatMap((list) =>
    Object.entries(resources[list] ?? {}).flatMap(([name, amount]): readonly FieldError[] =>
      parseQuantity(amount) === undefined
        ? [invalidValue(`agent.resources.${list}[${name}]`, amount, QUANTITY_ERROR)]
        : [],
    ),
  );
}

function addressErrors(path: string, text = ''): readonly FieldError[] {
  return textErrors(path, text, (given) =>
    parseBindAddress(given) === undefined ? [ADDRESS_FORM] : [],
  );
}

function textErrors(
  path: string,
  text: string | undefined,
  check: (text: string) => readonly string[],
): readonly FieldError[] {
  if (text === undefined || text === '') return [];
  return check(text).map((why) => invalidValue(path, text, why));
}

function hostErrors(host: string): readonly string[] {
  return parseBindAddress(host.includes(':') ? `[${host}]:1` : `${host}:1`) === undefined
    ? ['must be an address or a host name, without a port']
    : [];
}

function pathErrors(name: string): readonly string[] {
  return /^[A-Za-z0-9._-]+$/.test(name) ? [] : ['must be one segment of a path, without a slash'];
}

function told(error: FieldError): string {
  return formatFieldError(error);
}
