/**
 * The messages between a node agent and the keeper of its processes, as plain objects in order. The
 * keeper lives in another process and continues when the agent is killed.
 */
import type { ProcessExit, ProcessSignal } from '@lockstep/kube/runtime/ports/process-runner.ts';

export interface MessagePort<Sent, Received> {
  /** Dropped once the other side has gone. */
  send(message: Sent): void;
  /** Calls come one at a time, in order. */
  onMessage(handler: (message: Received) => void): void;
}

/** `id` identifies a process: its key, or any other name that the agent chooses. */
export type AgentMessage =
  | {
      readonly type: 'start';
      readonly id: string;
      readonly isKept: boolean;
      readonly argv: readonly [string, ...string[]];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
      readonly takesInput: boolean;
    }
  | { readonly type: 'keys'; readonly request: number }
  | { readonly type: 'adopt'; readonly id: string }
  | { readonly type: 'forget'; readonly id: string }
  /** The agent has written the output up to this chunk to a file. */
  | { readonly type: 'taken'; readonly id: string; readonly chunk: number }
  | { readonly type: 'signal'; readonly id: string; readonly signal: ProcessSignal }
  | {
      readonly type: 'input';
      readonly id: string;
      readonly input: number;
      readonly bytes: Uint8Array;
    }
  | { readonly type: 'end-input'; readonly id: string }
  | {
      readonly type: 'kill';
      readonly request: number;
      readonly name: string;
      readonly value: string;
    };

export type KeeperMessage =
  | { readonly type: 'started'; readonly id: string; readonly pid: number }
  | {
      readonly type: 'not-started';
      readonly id: string;
      readonly message: string;
      readonly code: string;
    }
  | { readonly type: 'keys'; readonly request: number; readonly keys: readonly string[] }
  | {
      readonly type: 'adopted';
      readonly id: string;
      readonly pid: number;
      readonly argv: readonly [string, ...string[]];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
      readonly takesInput: boolean;
      readonly hasExited: boolean;
    }
  | { readonly type: 'unknown'; readonly id: string }
  | {
      readonly type: 'output';
      readonly id: string;
      /** Counts up from 0 for each process. */
      readonly chunk: number;
      readonly stream: 'stdout' | 'stderr';
      readonly bytes: Uint8Array;
    }
  /** Comes after all output, and again after each adoption. */
  | { readonly type: 'exited'; readonly id: string; readonly exit: ProcessExit }
  | { readonly type: 'input-taken'; readonly id: string; readonly input: number }
  | { readonly type: 'killed'; readonly request: number; readonly count: number };
