/** Runs the command of a tool as if the tool were the command. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** Shells report the end by a signal with this number added to the signal's. */
export const SIGNAL_CODES = 128;

/** Resolves with the exit code of the command, which has the tool's input, output and signals. */
export function exitCodeOf(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  // The terminal sends the signal to the child too, and we end when the child does.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      resolve(code ?? SIGNAL_CODES + (signal === null ? 0 : constants.signals[signal])),
    );
  });
}
