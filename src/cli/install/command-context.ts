import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';

/** What the commands `install` and `uninstall` work with. */
export interface CommandContext {
  readonly client: Client;
  readonly serverVersion: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Lines for standard output and standard error. */
  readonly print: (line: string) => void;
  readonly warn: (line: string) => void;
}
