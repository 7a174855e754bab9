/**
 * Credentials from a plugin, as in client-go: kept in memory until they expire or a server refuses
 * them. Simultaneous callers share one run of the plugin (`plugin-run.ts`), which ends when the
 * last of them gives up.
 */

import { unlessAborted } from '../deadline.ts';
import type { CredentialSource, Credentials } from './credential-source.ts';
import type { ExecAnswer } from './exec-credential.ts';
import { type PluginRunOptions, runPlugin } from './plugin-run.ts';

/** How long before their expiry credentials are renewed: they have to last for a request. */
export const EXPIRY_MARGIN_MS = 10_000;
/**
 * How long credentials are used at least. Expired ones may be valid by the server's clock, and a
 * plugin must not run for each request.
 */
export const MIN_USE_MS = 5_000;
/** How long requests fail with a plugin's failure before the plugin runs again. */
export const FAILURE_PAUSE_MS = 5_000;
/**
 * How long a plugin is not run again after a server refused its newest credentials too: it would
 * refuse the next ones as well, and users would have to log in again.
 */
export const REFUSAL_PAUSE_MS = 10_000;

export function pluginCredentials(options: PluginRunOptions): CredentialSource {
  return new PluginCredentials(options);
}

interface CachedCredentials {
  readonly credentials: Credentials;
  /** Wall times: a machine that sleeps does not stop the server's clock. */
  readonly renewAtMs: number;
  readonly expiresAtMs: number;
}

interface Run {
  readonly known: Promise<CachedCredentials>;
  readonly stop: AbortController;
  waiting: number;
}

class PluginCredentials implements CredentialSource {
  readonly #options: PluginRunOptions;
  #known: CachedCredentials | undefined;
  #run: Run | undefined;
  #failure: { readonly error: unknown; readonly untilMs: number } | undefined;
  #isRefused = false;
  /** Before this time, refusals do not count. */
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
      // The margin before the expiry is for this.
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

  async #renewed(signal: AbortSignal | undefined): Promise<CachedCredentials> {
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

  #took({ credentials, expiresAtMs = Number.POSITIVE_INFINITY }: ExecAnswer): CachedCredentials {
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
    run.stop.abort(new Error('the credentials are not needed any more'));
  }
}
