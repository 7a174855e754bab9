/** Signals of the user, as one AbortSignal that the whole command obeys. */
export interface Termination {
  readonly signal: AbortSignal;
  /** The exit code that a shell expects, if the end was asked for. */
  exitCode(): number | undefined;
  /** Ends the command as a signal does, with the exit code 0. */
  end(why: string): void;
  /** Back to the default: a second Ctrl-C ends the process at once. */
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
