/** How a command ends: by a signal of the user, or because its output cannot be written. */
import { once } from 'node:events';
import { tell } from './tell.ts';

/** The user's signals as one AbortSignal for the whole command. */
export interface Termination {
  readonly signal: AbortSignal;
  /** The exit code that a shell expects after a signal; undefined if none came. */
  exitCode(): number | undefined;
  /** Ends the command as a signal does, with the exit code 0. */
  end(why: string): void;
  /** Restores the default: a second Ctrl-C ends the process at once. */
  dispose(): void;
}

/** The user asked for the end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export function onTermination(): Termination {
  const controller = new AbortController();
  let code: number | undefined;
  const handlers = Object.entries(EXIT_CODES).map(([name, exitCode]) => {
    const handler = (): void => {
      code ??= exitCode;
      controller.abort(new Interrupted(`received ${name}`));
    };
    process.on(name, handler);
    return () => process.off(name, handler);
  });
  return {
    signal: controller.signal,
    exitCode: () => code,
    end: (why) => {
      code ??= 0;
      controller.abort(new Interrupted(why));
    },
    dispose: () => {
      for (const off of handlers) off();
    },
  };
}

export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

const EXIT_FAILURE = 1;

/**
 * Ends the command when its output cannot be written, and with it what it runs: the watchdog ends
 * `up`'s nodes and Pods. A reader that closes the pipe early, as `head` does, ends the command
 * quietly; a full disk ends it with a message instead of a stack trace.
 */
export function endWithOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    tell(`standard output: ${error.message}`);
    process.exit(EXIT_FAILURE);
  });
  // Without standard error there is no place for a message, and the command can still do its work.
  process.stderr.on('error', () => undefined);
}
