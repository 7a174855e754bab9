import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';

/** They change nothing, so a death before one equals a death before the next change. */
export const READS: readonly string[] = ['kindOf', 'readEnd', 'readLog', 'logSize', 'logNames'];

/** One life of the agent: after its end none of its calls arrives, and none of its timers fires. */
export class Life {
  readonly #mayAct: () => boolean;
  #isOver = false;

  /** `mayAct` is called before each of its actions; false kills it. */
  constructor(mayAct: () => boolean = () => true) {
    this.#mayAct = mayAct;
  }

  /** Kills it now. */
  end(): void {
    this.#isOver = true;
  }

  bound<T extends object>(target: T, uncounted: readonly string[] = []): T {
    return new Proxy(target, {
      get: (_, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: readonly unknown[]): unknown => {
          if (!this.#isOver && !uncounted.includes(String(name))) this.#isOver = !this.#mayAct();
          // A dead process waits for ever.
          return this.#isOver ? new Promise(() => undefined) : member.apply(target, args);
        };
      },
    });
  }

  clock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      setTimer: (delayMs, fire) =>
        clock.setTimer(delayMs, () => {
          if (!this.#isOver) fire();
        }),
    };
  }
}
