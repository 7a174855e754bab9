/**
 * Parses the operator's command line, and the Configuration file that it may name. Names are
 * controller-runtime's if upstream has the flag. A flag on the command line wins over the file.
 */

import { Command, CommanderError, Option } from 'commander';
import { DEFAULT_FEATURE_GATES } from '../../jobset/feature-gates.ts';
import { AGENT_DELIVERIES } from '../../jobset/injection/agent-delivery.ts';
import { RESTART_MODES } from '../../jobset/jobset.ts';
import { AGENT_COMMAND } from '../../jobset/names.ts';
import { DEFAULT_SIZE_LIMITS, DEFINITION_LIMITS } from '../../jobset/size-limits.ts';
import { defined } from '../../kube/json/defined.ts';
import { DEFAULT_BURST, DEFAULT_QPS, parseConfiguration } from './configuration.ts';
import { addressConflict, hubConflict, webhookConflict } from './flag-conflicts.ts';
import {
  address,
  countUpTo,
  featureGates,
  GATES,
  httpsUrl,
  leaseName,
  MAX_COUNT,
  namespaceName,
  namespaceNames,
  nonEmpty,
  number,
  secretName,
  serviceName,
} from './flag-values.ts';
import { HUB_SECRET_NAME, LEADER_ELECTION_ID, WEBHOOK_SECRET_NAME } from './object-names.ts';
import type { OperatorFlags } from './operator-flags.ts';
import { DEFAULT_MAX_STREAMS, HIGHEST_MAX_STREAMS, STREAM_KIB } from './stream-memory.ts';

export type ParsedFlags =
  | { readonly kind: 'Flags'; readonly flags: OperatorFlags }
  /** The text of `--help` or `--version`. */
  | { readonly kind: 'Text'; readonly text: string }
  /** Names the flag, the value and what was expected. */
  | { readonly kind: 'Error'; readonly message: string };

/** `readFile` returns the text of the file that `--config` names, or throws. */
export function parseFlags(
  args: readonly string[],
  version: string,
  readFile: (path: string) => string,
): ParsedFlags {
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
  const configured = withConfiguration(command, readFile);
  if ('problems' in configured) return { kind: 'Error', message: configured.problems };
  const { flags } = configured;
  const conflict = webhookConflict(flags) ?? hubConflict(flags) ?? addressConflict(flags);
  return conflict === undefined
    ? { kind: 'Flags', flags }
    : { kind: 'Error', message: `error: ${conflict}` };
}

/** Flags that only find or override the Configuration file. */
interface RawFlags extends OperatorFlags {
  readonly config?: string;
  readonly webhooks: 'on' | 'off';
  readonly namespace?: readonly string[];
}

function withConfiguration(
  command: Command,
  readFile: (path: string) => string,
): { readonly flags: OperatorFlags } | { readonly problems: string } {
  const { config, webhooks, namespace: namespaces, ...others } = command.opts<RawFlags>();
  const given = { ...others, ...defined({ namespaces }) };
  let settings: object = {};
  if (config !== undefined) {
    const parsed = configurationAt(config, readFile);
    if ('problems' in parsed) {
      return { problems: parsed.problems.map((line) => `error: ${config}: ${line}`).join('\n') };
    }
    // The file always names a Service, at least by default; a URL flag replaces it.
    const isFree = ([key]: readonly [string, unknown]): boolean =>
      command.getOptionValueSource(key) !== 'cli' &&
      (key !== 'webhookService' || given.webhookUrl === undefined);
    settings = Object.fromEntries(Object.entries(parsed.settings).filter(isFree));
  }
  const flags = { ...given, ...settings };
  if (webhooks === 'on') return { flags };
  const { webhookService: _service, webhookUrl: _url, ...rest } = flags;
  return { flags: { ...rest, webhookBindAddress: 'off', installWebhooks: false } };
}

function configurationAt(
  path: string,
  readFile: (path: string) => string,
): ReturnType<typeof parseConfiguration> {
  try {
    return parseConfiguration(readFile(path));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { problems: [`cannot be read: ${why}`] };
  }
}

function operatorCommand(version: string): Command {
  return new Command('lockstep-operator')
    .description(
      'The JobSet controller: runs groups of Jobs as one workload and restarts them in place.',
    )
    .version(version)
    .exitOverride()
    .allowExcessArguments(false)
    .option(
      '--kubeconfig <file>',
      'kubeconfig file; the service account of this Pod by default',
      nonEmpty,
    )
    .option('--context <name>', 'context to use instead of the current one', nonEmpty)
    .option(
      '--config <file>',
      'file with a Configuration of config.jobset.x-k8s.io/v1alpha1; flags override it',
      nonEmpty,
    )
    .option(
      '--namespace <names>',
      'namespaces to act in, separated by commas; all by default',
      namespaceNames,
    )
    .option('--install-crd', 'create or update the JobSet CRD first', false)
    .option(
      '--agent-image <image>',
      'image of injected agents',
      nonEmpty,
      `lockstep/agent:${version}`,
    )
    .option(
      '--agent-command <program>',
      `program of injected agents (default: "${AGENT_COMMAND}")`,
      nonEmpty,
    )
    .addOption(
      new Option(
        '--agent-delivery <way>',
        "how a supervising agent gets into the worker's container: Copy (an init container copies it), ImageVolume (the agent's image is mounted; Kubernetes 1.36 or later), WorkerImage (the worker's image contains it), Auto (ImageVolume where all nodes of a JobSet can, otherwise Copy)",
      )
        .choices(AGENT_DELIVERIES)
        .default('Auto'),
    )
    .addOption(
      new Option(
        '--agent-mode <mode>',
        'restart mode of JobSets without an annotation; Auto takes Supervisor where it suits all templates, otherwise Sidecar',
      )
        .choices(['Auto', ...RESTART_MODES])
        .default('Auto'),
    )
    .addOption(
      new Option(
        '--agent-injection <whether>',
        'whether templates of JobSets without an annotation get an agent',
      )
        .choices(['Enabled', 'Disabled'])
        .default('Enabled'),
    )
    .option(
      '--native-restart-rules',
      'the nodes know the action Terminate of restart rules, like those of `lockstep up`',
      false,
    )
    .option(
      '--feature-gates <gates>',
      `name=true or name=false, separated by commas; all are true by default: ${GATES.join(', ')}`,
      featureGates,
      DEFAULT_FEATURE_GATES,
    )
    .option(
      '--max-jobs <n>',
      'most Jobs of one JobSet: the sum of replicas',
      countUpTo(DEFINITION_LIMITS.maxJobs),
      DEFAULT_SIZE_LIMITS.maxJobs,
    )
    .option(
      '--max-pods <n>',
      'most Pods of one JobSet: the sum of replicas times parallelism',
      countUpTo(DEFINITION_LIMITS.maxPods),
      DEFAULT_SIZE_LIMITS.maxPods,
    )
    .option(
      '--max-streams <n>',
      `number of agents that the hub serves at a time; each takes ${STREAM_KIB} KiB of memory`,
      countUpTo(HIGHEST_MAX_STREAMS),
      DEFAULT_MAX_STREAMS,
    )
    .addOption(
      new Option(
        '--webhooks <whether>',
        'off serves and publishes none, whatever other flags and the file say',
      )
        .choices(['on', 'off'])
        .default('on'),
    )
    .addOption(address('--webhook-bind-address', 'address of the admission webhooks (HTTPS)'))
    .option('--install-webhooks', 'create or update the webhook configurations first', false)
    .option(
      '--webhook-service <name>',
      "Service of the operator's namespace through which API servers reach the webhooks",
      serviceName,
    )
    .option(
      '--webhook-url <url>',
      'https://HOST:PORT at which API servers reach the webhooks instead; by default the bind address',
      httpsUrl,
    )
    .option(
      '--webhook-secret-name <name>',
      "Secret of the operator's namespace that holds the certificates of the webhooks",
      secretName,
      WEBHOOK_SECRET_NAME,
    )
    .addOption(
      address('--hub-bind-address', 'address of the hub for agents (HTTPS), see --agent-channel'),
    )
    .option(
      '--hub-service <name>',
      "Service of the operator's namespace through which agents reach the hub; it has the hub's port and no selector",
      serviceName,
    )
    .option(
      '--hub-url <url>',
      'https://HOST:PORT at which agents reach the hub instead; by default the bind address',
      httpsUrl,
    )
    .option(
      '--hub-secret-name <name>',
      "Secret of the operator's namespace that holds the certificates of the hub",
      secretName,
      HUB_SECRET_NAME,
    )
    .addOption(
      new Option(
        '--agent-channel <channel>',
        'how agents of new Pods reach the operator: Hub, API (the API server), or Auto (the hub, and the API server while the hub is away)',
      )
        .choices(['Auto', 'Hub', 'API'])
        .default('Auto'),
    )
    .addOption(address('--metrics-bind-address', 'address of /metrics'))
    .option(
      '--metrics-secure',
      'serve metrics over HTTPS to accounts that may read them and show a token',
      false,
    )
    .option(
      '--no-metrics-secure',
      'serve metrics over plain HTTP to everyone, whatever the file says',
    )
    .addOption(address('--health-probe-bind-address', 'address of /healthz and /readyz'))
    .option(
      '--kube-api-qps <n>',
      'requests per second to the API server; a negative number is no limit',
      number,
      DEFAULT_QPS,
    )
    .option(
      '--kube-api-burst <n>',
      'requests to the API server at once',
      countUpTo(MAX_COUNT),
      DEFAULT_BURST,
    )
    .option('--leader-elect', 'act only while holding a lease', false)
    .option('--no-leader-elect', 'act at once, whatever the file says')
    .option('--leader-election-namespace <name>', 'namespace of the lease', namespaceName)
    .option('--leader-election-id <name>', 'name of the lease', leaseName, LEADER_ELECTION_ID)
    .addOption(
      new Option('--log-level <level>', 'lowest level to log')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    );
}
