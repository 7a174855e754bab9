/** Starts attacks on the operator. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { bundle } from '../bundle.ts';
import type { Attack, AttackReport } from './attack-process.ts';

const PROGRAM = new URL('attack-process.ts', import.meta.url);

/** Each attack is a process; `directory` holds their program. */
export class Attacker {
  readonly #program: string;
  readonly #running = new Set<ChildProcess>();

  private constructor(program: string) {
    this.#program = program;
  }

  static async in(directory: string): Promise<Attacker> {
    return new Attacker(await bundle(PROGRAM, directory));
  }

  /** Returns a function that ends it. */
  start(attack: Attack): () => Promise<AttackReport> {
    const child = fork(this.#program);
    this.#running.add(child);
    child.send(attack);
    return async () => {
      child.send('stop');
      const [report] = (await once(child, 'message')) as [AttackReport];
      this.#end(child);
      return report;
    };
  }

  stop(): void {
    for (const child of this.#running) this.#end(child);
  }

  #end(child: ChildProcess): void {
    this.#running.delete(child);
    if (child.connected) child.disconnect();
  }
}
