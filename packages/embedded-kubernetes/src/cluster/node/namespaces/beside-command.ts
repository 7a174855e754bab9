/**
 * Commands beside a container's process: probes, hooks, `exec`, and what sets a terminal's size.
 */
import type { ProcessCommand } from '@lockstep/kube/runtime/ports/process-runner.ts';
import type { NodeContext } from '../ports/node-context.ts';
import type { PlaceEntry } from '../ports/pod-namespaces.ts';

/** Where commands beside a container's process run. */
export interface RunningPlace {
  readonly env: ProcessCommand['env'];
  readonly cwd: string;
  /** Set if it has namespaces. */
  readonly entry?: PlaceEntry | undefined;
}

/** A command beside a container's process, as the machine starts it. */
export function besideCommand(
  { namespaces }: NodeContext,
  { env, cwd, entry }: RunningPlace,
  argv: ProcessCommand['argv'],
): Pick<ProcessCommand, 'argv' | 'env' | 'cwd'> {
  if (entry === undefined || namespaces?.type !== 'available') return { argv, env, cwd };
  return {
    argv: namespaces.namespaces.join(entry, { argv, env }),
    env,
    cwd: entry.directory,
  };
}
