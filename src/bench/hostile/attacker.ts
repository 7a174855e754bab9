/** Starts attacks on the operator. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Attack, AttackReport } from './attack-process.ts';

const PROGRAM = 'attack.mjs';

/** Each attack is a process; `directory` holds their program. */
export class Attacker {
  readonly #program: string;
  readonly #running = new Set<ChildProcess>();

  private constructor(program: string) {
    this.#program = program;
  }

  static async in(directory: string): Promise<Attacker> {
    const outfile = join(directory, PROGRAM);
    await build({
      entryPoints: [fileURLToPath(new URL('attack-process.ts', import.meta.url))],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20.19',
      logLevel: 'warning',
    });
    return new Attacker(outfile);
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
