/**
 * One run of a credential plugin, with limits of time and output. The plugin learns of us from its
 * environment, and writes its errors to ours. Errors of this file and their causes hold no secret and
 * no argument; errors of the system contain the whole command.
 */

import { unlessAborted } from '../deadline.ts';
import type { Clock } from '../ports/clock.ts';
import {
  type ProcessExit,
  type ProcessRunner,
  ProcessStartError,
  type RunningProcess,
} from '../ports/process-runner.ts';
import type { ClientCertificate } from '../ports/transport.ts';
import { ClusterAccessError } from './cluster-access.ts';
import {
  type CredentialPlugin,
  EXEC_INFO,
  type ExecAnswer,
  type ExecCluster,
  execAnswer,
  execInfo,
} from './exec-credential.ts';

export interface PluginRunOptions {
  readonly plugin: CredentialPlugin;
  /** Shown to plugins that ask for it. */
  readonly cluster: ExecCluster;
  readonly processes: Pick<ProcessRunner, 'start'>;
  readonly clock: Clock;
  /** The environment of this process, as is the working directory. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Whether standard input is a terminal, so that a user may be there to log in. */
  readonly hasTerminal: boolean;
  readonly isKeyPair: (pair: ClientCertificate) => boolean;
  /** Called with what is waited for when it takes long. */
  readonly onSlow?: ((what: string) => void) | undefined;
}

/** For a program without a user, which asks a cloud. */
export const RUN_TIMEOUT_MS = 60_000;
/** For a user who logs in with a browser, a second factor, or a device in another room. */
export const LOGIN_TIMEOUT_MS = 300_000;
/** After this time the user learns what the command waits for. */
export const SLOW_AFTER_MS = 10_000;
/** A key and a chain of certificates have some ten thousand. */
export const MAX_OUTPUT_BYTES = 1024 * 1024;
/** From SIGTERM to SIGKILL. */
export const END_GRACE_MS = 2_000;

/** Rejects with `ClusterAccessError`, and with the reason of `signal`, which ends the plugin. */
export async function runPlugin(
  options: PluginRunOptions,
  signal: AbortSignal,
): Promise<ExecAnswer> {
  const { plugin, hasTerminal, isKeyPair } = options;
  if (plugin.interactiveMode === 'Always' && !hasTerminal) {
    const why = 'the plugin asks at a terminal, and standard input is none';
    throw new ClusterAccessError(
      `${plugin.place}.interactiveMode: "Always": ${why}: ${WITHOUT_TERMINAL}`,
    );
  }
  const answer = execAnswer(await outputOf(options, signal), plugin.apiVersion);
  if ('problem' in answer) throw failed(plugin, answer.problem);
  const { clientCertificate } = answer.credentials;
  if (clientCertificate !== undefined && !isKeyPair(clientCertificate)) {
    const why = 'that are no certificate in PEM with its key';
    throw failed(plugin, `answered with clientCertificateData and clientKeyData ${why}`);
  }
  return answer;
}

/** Advice for a plugin that needs a terminal and has none. */
const WITHOUT_TERMINAL =
  'run the command in a terminal, or use a kubeconfig with a token ("kubectl create token ACCOUNT")';

/** Standard output of a successful run. */
async function outputOf(options: PluginRunOptions, signal: AbortSignal): Promise<string> {
  const { plugin, clock, hasTerminal } = options;
  const limit = new AbortController();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const child = await started(options, (chunk) => {
    size += chunk.byteLength;
    if (size <= MAX_OUTPUT_BYTES) chunks.push(chunk);
    else limit.abort(failed(plugin, `wrote more than ${MAX_OUTPUT_BYTES} bytes`));
  });
  const limitMs = hasTerminal ? LOGIN_TIMEOUT_MS : RUN_TIMEOUT_MS;
  const timers = [
    clock.setTimer(limitMs, () =>
      limit.abort(failed(plugin, `did not end within ${limitMs / 1000} s`)),
    ),
    clock.setTimer(SLOW_AFTER_MS, () => {
      // Never interrupt the questions of an interactive plugin.
      if (isInteractive(options)) return;
      options.onSlow?.(`waiting for ${nameOf(plugin)}, for at most ${limitMs / 1000} s`);
    }),
  ];
  try {
    const exit = await unlessAborted(child.exited, AbortSignal.any([signal, limit.signal]));
    if (exit.exitCode !== 0) throw failed(plugin, endOf(exit));
    limit.signal.throwIfAborted();
    return Buffer.concat(chunks).toString();
  } finally {
    for (const timer of timers) timer.cancel();
    if (signal.aborted || limit.signal.aborted) end(child, clock);
  }
}

async function started(
  options: PluginRunOptions,
  onStandardOutput: (chunk: Uint8Array) => void,
): Promise<RunningProcess> {
  const { plugin, cluster, processes, workingDirectory } = options;
  const told = plugin.provideClusterInfo ? cluster : undefined;
  const info = execInfo(plugin.apiVersion, isInteractive(options), told);
  const own = Object.entries(options.env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  try {
    return await processes.start({
      argv: [plugin.command, ...plugin.args],
      env: { ...Object.fromEntries(own), ...plugin.env, [EXEC_INFO]: info },
      cwd: workingDirectory,
      user: isInteractive(options) ? 'Asked' : 'Told',
      onOutput: (_stream, chunk) => onStandardOutput(chunk),
    });
  } catch (error) {
    if (!(error instanceof ProcessStartError)) throw error;
    const hint = plugin.installHint?.trim() ?? 'install this credential plugin';
    const more = error.code === 'ENOENT' ? `\n${hint}` : '';
    throw new ClusterAccessError(`${plugin.place}.command: ${whyNotStarted(error)}${more}`);
  }
}

function isInteractive({ plugin, hasTerminal }: PluginRunOptions): boolean {
  return hasTerminal && plugin.interactiveMode !== 'Never';
}

/** Node's own words for a wrong argument would show it. */
function whyNotStarted({ code, message }: ProcessStartError): string {
  return code.startsWith('ERR_') ? 'args and env must not hold the character NUL' : message;
}

function end(child: RunningProcess, clock: Clock): void {
  child.signalGroup('SIGTERM');
  const timer = clock.setTimer(END_GRACE_MS, () => child.signalGroup('SIGKILL'));
  void child.exited.then(() => timer.cancel());
}

function endOf(exit: ProcessExit): string {
  const how =
    exit.signal === undefined ? `failed with exit code ${exit.exitCode}` : `died of ${exit.signal}`;
  return `${how}; its standard error says why`;
}

function failed(plugin: CredentialPlugin, what: string): ClusterAccessError {
  return new ClusterAccessError(`${plugin.place}: ${nameOf(plugin)} ${what}`);
}

function nameOf({ command }: CredentialPlugin): string {
  return `credential plugin ${JSON.stringify(command)}`;
}
