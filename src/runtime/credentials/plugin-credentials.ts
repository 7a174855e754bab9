/**
 * Credentials that a plugin makes, as client-go has them: kept in memory until they expire or a server
 * refuses them. All who want them at the same time share one run of the plugin (`plugin-run.ts`),
 * which ends with the last of them.
 */

import { unlessAborted } from '../deadline.ts';
import type { CredentialSource, Credentials } from './credential-source.ts';
import type { ExecAnswer } from './exec-credential.ts';
import { type PluginRunOptions, runPlugin } from './plugin-run.ts';

/** They are asked for again so long before they expire: they have to last for a request. */
export const EXPIRY_MARGIN_MS = 10_000;
/**
 * So long they are used in any case. Those that have expired already may be good by the clock of the
 * server, and a plugin must not run for each request.
 */
export const MIN_USE_MS = 5_000;
/** After a failure, requests fail with it so long before the plugin runs again. */
export const FAILURE_PAUSE_MS = 5_000;
/**
 * A server that refuses what came in the place of what it had refused will do so again: so long the
 * plugin is not run for that, and nobody asked to log in.
 */
export const REFUSAL_PAUSE_MS = 10_000;

export function pluginCredentials(options: PluginRunOptions): CredentialSource {
  return new PluginCredentials(options);
}

interface Known {
  readonly credentials: Credentials;
  /** Wall times: a machine that sleeps does not stop the server's clock. */
  readonly renewAtMs: number;
  readonly expiresAtMs: number;
}

interface Run {
  readonly known: Promise<Known>;
  readonly stop: AbortController;
  waiting: number;
}

class PluginCredentials implements CredentialSource {
  readonly #options: PluginRunOptions;
  #known: Known | undefined;
  #run: Run | undefined;
  #failure: { readonly error: unknown; readonly untilMs: number } | undefined;
  #isRefused = false;
  /** Before, no refusal counts. */
  #believesServerFromMs = Number.NEGATIVE_INFINITY;

  constructor(options: PluginRunOptions) {
    this.#options = options;
  }

  async current(signal?: AbortSignal): Promise<Credentials> {
    const { clock } = this.#options;
    const known = this.#known;
    if (known !== undefined && clock.now() < known.renewAtMs) return known.credentials;
    try {
      return (await this.#renewed(signal)).credentials;
    } catch (error) {
      // Its last seconds are there for this.
      const isValid = known !== undefined && clock.now() < known.expiresAtMs;
      if (isValid && this.#known === known) return known.credentials;
      throw error;
    }
  }

  refused(credentials: Credentials): void {
    if (this.#known?.credentials !== credentials) return;
    if (this.#options.clock.monotonic() < this.#believesServerFromMs) return;
    this.#known = undefined;
    this.#isRefused = true;
  }

  async #renewed(signal: AbortSignal | undefined): Promise<Known> {
    const failure = this.#failure;
    if (failure !== undefined && this.#options.clock.monotonic() < failure.untilMs) {
      throw failure.error;
    }
    this.#run ??= this.#start();
    const run = this.#run;
    run.waiting++;
    try {
      return await unlessAborted(run.known, signal);
    } finally {
      run.waiting--;
      if (run.waiting === 0) this.#end(run);
    }
  }

  #start(): Run {
    const { clock } = this.#options;
    const stop = new AbortController();
    const known = runPlugin(this.#options, stop.signal).then(
      (answer) => this.#took(answer),
      (error: unknown) => {
        if (!stop.signal.aborted) {
          this.#failure = { error, untilMs: clock.monotonic() + FAILURE_PAUSE_MS };
        }
        throw error;
      },
    );
    return { known, stop, waiting: 0 };
  }

  #took({ credentials, expiresAtMs = Number.POSITIVE_INFINITY }: ExecAnswer): Known {
    const { clock } = this.#options;
    const renewAtMs = Math.max(expiresAtMs - EXPIRY_MARGIN_MS, clock.now() + MIN_USE_MS);
    const known = { credentials, renewAtMs, expiresAtMs };
    this.#known = known;
    if (this.#isRefused) {
      this.#isRefused = false;
      this.#believesServerFromMs = clock.monotonic() + REFUSAL_PAUSE_MS;
    }
    return known;
  }

  #end(run: Run): void {
    if (this.#run === run) this.#run = undefined;
    run.stop.abort(new Error('nobody waits for credentials any more'));
  }
}
