import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_FEATURE_GATES, type FeatureGates } from '../jobset/feature-gates.ts';
import { AGENT_COMMAND } from '../jobset/names.ts';
import { dns1035LabelErrors, dns1123LabelErrors, dns1123SubdomainErrors } from '../kube/names.ts';
import { quote } from '../kube/quote.ts';

/** The operator's command line. Names are controller-runtime's where upstream has them. */
export interface OperatorFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly installCrd: boolean;
  readonly agentImage: string;
  readonly agentCommand?: string;
  readonly nativeRestartRules: boolean;
  readonly featureGates: FeatureGates;
  readonly webhookBindAddress: BindAddress | 'off';
  readonly installWebhooks: boolean;
  /** `https://HOST:PORT`, without a path. */
  readonly webhookUrl?: string;
  readonly webhookService?: string;
  readonly webhookSecretName: string;
  readonly metricsBindAddress: BindAddress | 'off';
  readonly healthProbeBindAddress: BindAddress | 'off';
  readonly leaderElect: boolean;
  readonly leaderElectionNamespace?: string;
  readonly leaderElectionId: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}

export interface BindAddress {
  readonly host: string;
  readonly port: number;
}

export type ParsedFlags =
  | { readonly kind: 'Flags'; readonly flags: OperatorFlags }
  /** Help or version was asked for. */
  | { readonly kind: 'Text'; readonly text: string }
  /** Names the flag, the value and what was expected. */
  | { readonly kind: 'Error'; readonly message: string };

export function parseFlags(args: readonly string[], version: string): ParsedFlags {
  let text = '';
  let problem = '';
  const command = operatorCommand(version).configureOutput({
    writeOut: (part) => {
      text += part;
    },
    writeErr: (part) => {
      problem += part;
    },
  });
  try {
    command.parse([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0
      ? { kind: 'Text', text }
      : { kind: 'Error', message: problem.trim() };
  }
  const flags = command.opts<OperatorFlags>();
  const conflict = webhookConflict(flags);
  return conflict === undefined
    ? { kind: 'Flags', flags }
    : { kind: 'Error', message: `error: ${conflict}` };
}

/** The Secret in which the replicas share the certificates of their webhooks. */
const WEBHOOK_SECRET_NAME = 'lockstep-webhook-server-cert';

/** Upstream's lease, so that the two controllers never act at the same time. */
const LEADER_ELECTION_ID = '6d4f6a47.jobset.x-k8s.io';

function operatorCommand(version: string): Command {
  return new Command('lockstep-operator')
    .description('The JobSet controller: runs groups of Jobs as one, and restarts them in place.')
    .version(version)
    .exitOverride()
    .allowExcessArguments(false)
    .option('--kubeconfig <file>', 'kubeconfig; by default the service account of this Pod')
    .option('--context <name>', 'context of the kubeconfig instead of its current one')
    .option('--namespace <name>', 'act in this namespace only', namespaceName)
    .option('--install-crd', 'create or update the JobSet CRD first', false)
    .option('--agent-image <image>', 'image of injected agents', `lockstep/agent:${version}`)
    .option('--agent-command <program>', `program of injected agents (default: "${AGENT_COMMAND}")`)
    .option(
      '--native-restart-rules',
      'the nodes know the action Terminate of restart rules, as those of `lockstep up` do',
      false,
    )
    .option(
      '--feature-gates <gates>',
      `name=true or name=false, separated by commas; all are true by default: ${GATES.join(', ')}`,
      featureGates,
      DEFAULT_FEATURE_GATES,
    )
    .addOption(address('--webhook-bind-address', 'where admission webhooks are served over HTTPS'))
    .option('--install-webhooks', 'create or update the webhook configurations first', false)
    .option(
      '--webhook-service <name>',
      "Service of the operator's namespace through which API servers reach the webhooks",
      serviceName,
    )
    .option(
      '--webhook-url <url>',
      'https://HOST:PORT at which they reach them instead; by default the address of the server',
      webhookUrl,
    )
    .option(
      '--webhook-secret-name <name>',
      "Secret of the operator's namespace that holds the certificates of the webhooks",
      secretName,
      WEBHOOK_SECRET_NAME,
    )
    .addOption(address('--metrics-bind-address', 'where /metrics is served over HTTP'))
    .addOption(address('--health-probe-bind-address', 'where /healthz and /readyz are served'))
    .option('--leader-elect', 'act only while holding a lease', false)
    .option('--leader-election-namespace <name>', 'namespace of the lease', namespaceName)
    .option('--leader-election-id <name>', 'name of the lease', LEADER_ELECTION_ID)
    .addOption(
      new Option('--log-level <level>', 'least level that is logged')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    );
}

const GATES = Object.keys(DEFAULT_FEATURE_GATES);

function featureGates(text: string, before: FeatureGates): FeatureGates {
  const chosen: Record<string, boolean> = {};
  for (const part of text.split(',')) {
    const [name = '', value, ...more] = part.split('=').map((one) => one.trim());
    if (!Object.hasOwn(DEFAULT_FEATURE_GATES, name)) {
      throw new InvalidArgumentError(
        `unknown feature gate ${quote(name)}, allowed are ${GATES.join(', ')}.`,
      );
    }
    if ((value !== 'true' && value !== 'false') || more.length > 0) {
      throw new InvalidArgumentError(`expected ${name}=true or ${name}=false.`);
    }
    chosen[name] = value === 'true';
  }
  return { ...before, ...chosen };
}

/** What is wrong with the webhook flags together. */
function webhookConflict(flags: OperatorFlags): string | undefined {
  const { webhookBindAddress, webhookService, webhookUrl: url, installWebhooks } = flags;
  if (webhookService !== undefined && url !== undefined) {
    return "options '--webhook-service' and '--webhook-url' exclude each other";
  }
  if (webhookBindAddress === 'off') {
    const isUseless = installWebhooks || webhookService !== undefined || url !== undefined;
    return isUseless
      ? "options '--install-webhooks', '--webhook-service' and '--webhook-url' need '--webhook-bind-address'"
      : undefined;
  }
  const isSomewhere = webhookService !== undefined || url !== undefined;
  const isEverywhere = ANY_ADDRESS.has(webhookBindAddress.host);
  return isEverywhere && !isSomewhere
    ? `option '--webhook-bind-address' is on all addresses (${webhookBindAddress.host}): '--webhook-service' or '--webhook-url' has to say where API servers reach it`
    : undefined;
}

const ANY_ADDRESS: ReadonlySet<string> = new Set(['::', '0.0.0.0']);

function webhookUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || text.replace(/\/$/, '') !== url.origin) {
    throw new InvalidArgumentError('expected https://HOST or https://HOST:PORT.');
  }
  return url.origin;
}

function serviceName(text: string): string {
  const [problem] = dns1035LabelErrors(text);
  if (problem !== undefined) throw new InvalidArgumentError(`expected a Service: ${problem}.`);
  return text;
}

function secretName(text: string): string {
  const [problem] = dns1123SubdomainErrors(text);
  if (problem !== undefined) throw new InvalidArgumentError(`expected a Secret: ${problem}.`);
  return text;
}

function address(flag: string, description: string): Option {
  return new Option(`${flag} <address>`, `${description}: host:port or :port; 0 serves nothing`)
    .argParser(bindAddress)
    .default('off', '0');
}

function bindAddress(text: string): BindAddress | 'off' {
  if (text === '0') return 'off';
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:\s]*)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new InvalidArgumentError('expected host:port, :port or 0.');
  }
  return { host: match[1] ?? (match[2] === '' ? '::' : (match[2] ?? '::')), port };
}

function namespaceName(text: string): string {
  const [problem] = dns1123LabelErrors(text);
  if (problem !== undefined) throw new InvalidArgumentError(`expected a namespace: ${problem}.`);
  return text;
}
