/**
 * The pid namespace of a Pod with `shareProcessNamespace`. A process that does nothing holds it,
 * like the pause container in a cluster. It lives as long as the Pod is on the node, even while the
 * agent is down; when it dies, all containers of the Pod die.
 */
import { endsWithin } from '@lockstep/kube/runtime/deadline.ts';
import type { RunningProcess } from '@lockstep/kube/runtime/ports/process-runner.ts';
import { MARKER_VARIABLE, markerOf } from '../container/container-launch.ts';
import type { NodeContext } from '../ports/node-context.ts';

/** No container can have this name. */
const HOLDER = '.processes';
/** It takes a few milliseconds. */
const HOLD_TIMEOUT_MS = 5_000;

/** Its name in the holder's environment and for the keeper. */
export function holderMarker(podUid: string): string {
  return markerOf(podUid, HOLDER, 0);
}

export class SharedProcesses {
  readonly #context: NodeContext;
  readonly #marker: string;
  readonly #directory: string;
  #holder: Promise<RunningProcess> | undefined;

  /** `directory` is the Pod's. */
  constructor(context: NodeContext, podUid: string, directory: string) {
    this.#context = context;
    this.#marker = holderMarker(podUid);
    this.#directory = directory;
  }

  /** The process that holds the pid namespace; started if there is none. */
  async holder(): Promise<number> {
    this.#holder ??= this.#hold();
    try {
      return (await this.#holder).pid;
    } catch (error) {
      this.#holder = undefined;
      throw error;
    }
  }

  async end(): Promise<void> {
    const holder = await this.#holder?.catch(() => undefined);
    if (holder === undefined) return;
    holder.signalGroup('SIGKILL');
    await holder.exited;
    this.#context.keeper?.forget(this.#marker);
  }

  async #hold(): Promise<RunningProcess> {
    const { keeper, processes, namespaces, clock } = this.#context;
    const kept = await keeper?.adopt(this.#marker, () => undefined);
    if (kept !== undefined && !kept.hasExited) return this.#followed(kept.child);
    keeper?.forget(this.#marker);
    if (namespaces?.type !== 'available') throw new Error('containers have no namespaces here');
    const directory = this.#directory;
    let isMade: () => void = () => undefined;
    const made = new Promise<void>((resolve) => {
      isMade = resolve;
    });
    const holder = this.#followed(
      await processes.start({
        argv: namespaces.namespaces.hold(),
        env: { LOCKSTEP_ROOT: `${directory}/`, [MARKER_VARIABLE]: this.#marker },
        cwd: directory,
        onOutput: isMade,
        ...(keeper === undefined ? {} : { key: this.#marker }),
      }),
    );
    // Before that, there is nothing to enter.
    const isOver = await endsWithin(clock, HOLD_TIMEOUT_MS, Promise.race([made, holder.exited]));
    if (isOver) return holder;
    holder.signalGroup('SIGKILL');
    throw new Error(`the Pod had no pid namespace within ${HOLD_TIMEOUT_MS} ms`);
  }

  /** If it has died, the next container gets a new one. */
  #followed(holder: RunningProcess): RunningProcess {
    void holder.exited.then(() => {
      this.#holder = undefined;
    });
    return holder;
  }
}
