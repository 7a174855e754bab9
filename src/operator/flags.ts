import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { AGENT_COMMAND } from '../jobset/names.ts';
import { dns1123LabelErrors } from '../kube/names.ts';

/** The operator's command line. Names are controller-runtime's where upstream has them. */
export interface OperatorFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly installCrd: boolean;
  readonly agentImage: string;
  readonly agentCommand?: string;
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
  return { kind: 'Flags', flags: command.opts<OperatorFlags>() };
}

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
