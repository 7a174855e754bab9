/**
 * The streams between a client of `kubectl exec` or `attach` and a process, over any protocol, and
 * the final outcome.
 */

import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import { parsedJson } from '@lockstep/kube/json/parsed-json.ts';

export interface RemoteStreams {
  /** Ends when the client goes, in any way. Read once; never throws. */
  readonly events: AsyncIterable<RemoteEvent>;
  /** Resolves once more may be sent. Has no effect for streams that the client does not read. */
  send(stream: 'stdout' | 'stderr', chunk: Uint8Array): Promise<void>;
  /** Sends the outcome, and ends. */
  finish(outcome: CommandResult): Promise<void>;
}

export type RemoteEvent =
  | { readonly type: 'stdin'; readonly chunk: Uint8Array }
  | { readonly type: 'stdin-end' }
  | { readonly type: 'resize'; readonly columns: number; readonly rows: number };

export type CommandResult =
  | { readonly type: 'exited'; readonly exitCode: number }
  | { readonly type: 'failed'; readonly message: string };

/** The client's options, with a kubelet's names for them. */
export interface StreamOptions {
  readonly input: boolean;
  readonly output: boolean;
  readonly error: boolean;
  readonly tty: boolean;
}

/** The options, or what is wrong with them. */
export function streamOptions(query: URLSearchParams): StreamOptions | string {
  const isSet = (name: string): boolean => ['1', 'true'].includes(query.get(name) ?? '');
  const tty = isSet('tty');
  const options = {
    input: isSet('input'),
    output: isSet('output'),
    // A terminal has one stream for both.
    error: isSet('error') && !tty,
    tty,
  };
  if (!options.input && !options.output && !options.error) {
    return 'you must specify at least 1 of stdin, stdout, stderr';
  }
  return options;
}

/** The `meta/v1 Status` that clients read exit codes from. */
export function outcomeStatus(outcome: CommandResult): JsonObject {
  if (outcome.type === 'failed') {
    return {
      metadata: {},
      status: 'Failure',
      message: `Internal error occurred: ${outcome.message}`,
      reason: 'InternalError',
      code: 500,
    };
  }
  const { exitCode } = outcome;
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

/** `{"Width":80,"Height":24}` as clients send it, or undefined for anything else. */
export function resizeOf(chunk: Uint8Array): RemoteEvent | undefined {
  const value = parsedJson(new TextDecoder().decode(chunk));
  if (typeof value !== 'object' || value === null) return undefined;
  const { Width: columns, Height: rows } = value as Readonly<Record<string, unknown>>;
  if (!isSize(columns) || !isSize(rows)) return undefined;
  return { type: 'resize', columns, rows };
}

/** A terminal's size is an unsigned short of the kernel. */
const MAX_TERMINAL_SIZE = 0xffff;

function isSize(value: unknown): value is number {
  return (
    typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_TERMINAL_SIZE
  );
}
