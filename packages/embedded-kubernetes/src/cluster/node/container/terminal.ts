/**
 * A terminal for a command, without native code: `script` of util-linux runs the command on a
 * pseudo-terminal, and `stty` sets its size.
 */
import type { ProcessCommand, ProcessRunner } from '@lockstep/kube/runtime/ports/process-runner.ts';

export interface CommandContext {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export const NO_TERMINAL =
  'this node has no "script" of util-linux, so it can give no terminal: leave out -t';

/** Whether this machine has the programs for terminals. */
export async function hasTerminals(
  processes: ProcessRunner,
  place: CommandContext,
): Promise<boolean> {
  let output = '';
  try {
    const child = await processes.start({
      argv: ['script', '--version'],
      ...place,
      onOutput: (_stream, chunk) => {
        output += new TextDecoder().decode(chunk);
      },
    });
    await child.exited;
  } catch {
    return false;
  }
  return output.includes('util-linux');
}

/** The command on a terminal whose name is written into `nameFile`. */
export function onTerminal(
  argv: readonly string[],
  nameFile: string,
): readonly [string, ...string[]] {
  const command = `tty > ${quoted(nameFile)}; exec ${argv.map(quoted).join(' ')}`;
  return ['script', '--quiet', '--return', '--flush', '--command', command, '/dev/null'];
}

/**
 * Sets the terminal's size, by a command on it. Never rejects: a wrong size is better than no
 * session.
 */
export async function resizeTerminal(
  processes: ProcessRunner,
  beside: (argv: ProcessCommand['argv']) => ProcessCommand,
  nameFile: string,
  size: { readonly rows: number; readonly columns: number },
): Promise<void> {
  // The first size may come before there is a terminal.
  const wait = `i=0; while [ ! -s "$0" ] && [ $i -lt ${NAME_ATTEMPTS} ]; do i=$((i+1)); sleep 0.05; done`;
  const set = `stty -F "$(cat "$0")" rows ${size.rows} cols ${size.columns}`;
  try {
    const child = await processes.start({
      ...beside(['sh', '-c', `${wait}; ${set}`, nameFile]),
      onOutput: () => undefined,
    });
    await child.exited;
  } catch {
    // There is no shell on this machine; the terminal keeps its size.
  }
}

/** In units of 50 ms: two seconds. */
const NAME_ATTEMPTS = 40;

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
