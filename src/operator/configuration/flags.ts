/**
 * Parses the operator's command line, and the Configuration file that it may name. Names are
 * controller-runtime's if upstream has the flag. A flag on the command line wins over the file.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import { Command, CommanderError, Option } from 'commander';
import { AGENT_COMMAND } from '../../jobset/names.ts';
import { parseConfiguration } from './configuration.ts';
import { addressConflict, hubConflict, webhookConflict } from './flag-conflicts.ts';
import { httpsUrl, namespaceNames, nonEmpty, optionOf, optionsOf } from './flag-values.ts';
import { defaultAgentImage, HUB_SECRET_NAME } from './object-names.ts';
import type { OperatorFlags } from './operator-flags.ts';
import { address, type Setting, secret, service } from './setting-types.ts';
import { SETTINGS } from './settings.ts';

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
  const command = new Command('lockstep-operator')
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
      '--agent-command <program>',
      `program of injected agents (default: "${AGENT_COMMAND}")`,
      nonEmpty,
    )
    .option(
      '--native-restart-rules',
      'the nodes know the action Terminate of restart rules, like those of `lockstep up`',
      false,
    )
    .addOption(
      new Option(
        '--webhooks <whether>',
        'off serves and publishes none, whatever other flags and the file say',
      )
        .choices(['on', 'off'])
        .default('on'),
    )
    .addOption(
      optionOf({
        flag: '--webhook-bind-address',
        type: address(),
        default: '0',
        help: 'address of the admission webhooks (HTTPS); 0 serves none',
      }),
    )
    .option('--install-webhooks', 'create or update the webhook configurations first', false)
    .option(
      '--webhook-url <url>',
      'https://HOST:PORT at which API servers reach the webhooks instead; by default the bind address',
      httpsUrl,
    )
    .addOption(
      optionOf({
        flag: '--hub-bind-address',
        type: address(),
        default: '0',
        help: 'address of the hub for agents (HTTPS), see --agent-channel; 0 serves none',
      }),
    )
    .addOption(
      optionOf({
        flag: '--hub-service',
        type: service(),
        help: "Service of the operator's namespace through which agents reach the hub; it has the hub's port and no selector",
      }),
    )
    .option(
      '--hub-url <url>',
      'https://HOST:PORT at which agents reach the hub instead; by default the bind address',
      httpsUrl,
    )
    .addOption(
      optionOf({
        flag: '--hub-secret-name',
        type: secret(),
        default: HUB_SECRET_NAME,
        help: "Secret of the operator's namespace that holds the certificates of the hub",
      }),
    )
    .addOption(
      new Option('--log-level <level>', 'lowest level to log')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    );
  const image = { ...SETTINGS.agentImage, default: defaultAgentImage(version) };
  const settings = Object.values<Setting>({ ...SETTINGS, agentImage: image });
  for (const option of settings.flatMap(optionsOf)) command.addOption(option);
  return command;
}
