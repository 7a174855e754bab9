/**
 * Pods of the embedded nodes share the machine's network. Two that listen on one port of all
 * addresses with `SO_REUSEPORT`, as gRPC and so JAX do, silently get each other's connections. This
 * looks for such ports and reports them: in an Event on each Pod, in the condition `PortConflict`
 * of their JobSets, and in a line of output.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import {
  createEventRecorder,
  referenceTo,
} from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ClientPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { labelledOwner, ownerKey } from '../../jobset/membership.ts';
import { changeCondition, isFinished } from '../../jobset/status/conditions.ts';

/** Ports on which sockets of several processes listen. */
export interface SharedPorts {
  find(): readonly SharedPort[];
}

export interface SharedPort {
  readonly port: number;
  /** UIDs of the Pods that own the sockets, sorted; fewer than two: no conflict. */
  readonly podUids: readonly string[];
}

export interface PortWatchOptions extends ClientPorts {
  readonly ports: SharedPorts;
  /** Names of the nodes whose Pods share the network. */
  readonly nodes: readonly string[];
  readonly onConflict: (line: string) => void;
}

const INTERVAL_MS = 2_000;
const PASS_TIMEOUT_MS = 10_000;
/** Another writer may come in between. */
const MAX_WRITES = 5;
const REASON = 'PortConflict';

/** Returns a function that ends it. */
export function watchPorts(options: PortWatchOptions): () => Promise<void> {
  const stopping = new AbortController();
  const running = new PortWatch(options).run(stopping.signal);
  return async () => {
    stopping.abort(new Error('the watch of ports stops'));
    await running;
  };
}

class PortWatch {
  readonly #options: PortWatchOptions;
  /** Reported conflicts, by port and Pods. */
  #told: ReadonlySet<string> = new Set();
  /** By `ownerKey`, JobSets whose condition is True. */
  readonly #marked = new Set<string>();

  constructor(options: PortWatchOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    const events = createEventRecorder({ ...this.#options, controller: 'lockstep-up' });
    try {
      for (;;) {
        try {
          await withDeadline(clock, PASS_TIMEOUT_MS, signal, (limit) => this.#pass(events, limit));
        } catch (error) {
          signal.throwIfAborted();
          logger.warn('shared ports could not be told', { err: error });
        }
        await sleep(clock, INTERVAL_MS, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await events.stop();
    }
  }

  async #pass(events: ReturnType<typeof createEventRecorder>, signal: AbortSignal): Promise<void> {
    const shared = this.#options.ports.find().filter(({ podUids }) => podUids.length > 1);
    if (shared.length === 0 && this.#marked.size === 0) {
      this.#told = new Set();
      return;
    }
    const pods = shared.length === 0 ? new Map() : await this.#pods(signal);
    const messages = new Map<string, string[]>();
    const seen = new Set<string>();
    for (const { port, podUids } of shared) {
      const known = podUids.flatMap((uid) => pods.get(uid) ?? []);
      if (known.length < 2) continue;
      const message = `port ${port} is used by the Pods ${known.map(nameOf).join(' and ')}, which share this machine's network: each gets connections meant for the other`;
      for (const pod of known) {
        const owner = labelledOwner(pod);
        if (owner === undefined) continue;
        const key = ownerKey(owner);
        messages.set(key, [...(messages.get(key) ?? []), message]);
      }
      seen.add(message);
      if (this.#told.has(message)) continue;
      this.#options.onConflict(`${message}; give them different ports`);
      for (const pod of known) {
        const regarding = referenceTo(PODS, pod);
        events.record({
          regarding,
          type: 'Warning',
          reason: REASON,
          action: 'Watching',
          note: message,
        });
      }
    }
    this.#told = seen;
    for (const key of new Set([...this.#marked, ...messages.keys()])) {
      await this.#mark(key, [...new Set(messages.get(key))], signal);
    }
  }

  async #pods(signal: AbortSignal): Promise<Map<string, Stored<Pod>>> {
    const pods = new Map<string, Stored<Pod>>();
    for (const node of this.#options.nodes) {
      const fieldSelector = `spec.nodeName=${node}`;
      const { items } = await this.#options.client.list(PODS, { fieldSelector, signal });
      for (const pod of items) pods.set(pod.metadata.uid, pod);
    }
    return pods;
  }

  /** No messages mean that the conflict is over. */
  async #mark(key: string, messages: readonly string[], signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const [namespace = '', name = '', uid = ''] = key.split('/');
    const change =
      messages.length === 0
        ? ({
            status: 'False',
            reason: 'PortsApart',
            message: 'no port is shared any more',
          } as const)
        : ({ status: 'True', reason: 'SharedPort', message: messages.join('; ') } as const);
    for (let tries = 0; tries < MAX_WRITES; tries++) {
      try {
        const found: Stored<JobSet> = await client.get(JOBSETS, { namespace, name }, { signal });
        const before = found.status?.conditions ?? [];
        const type = REASON;
        const conditions = changeCondition(before, { type, ...change }, clock.now());
        const isOurs = found.metadata.uid === uid && !isFinished(before);
        if (isOurs && conditions !== before) {
          const next = { ...found, status: { ...found.status, conditions } };
          await client.update(JOBSETS, next, { subresource: 'status', signal });
        }
        break;
      } catch (error) {
        if (isReason(error, 'NotFound')) break;
        if (!isReason(error, 'Conflict')) throw error;
      }
    }
    if (messages.length === 0) this.#marked.delete(key);
    else this.#marked.add(key);
  }
}

function nameOf({ metadata }: Stored<Pod>): string {
  return `${namespaceOf(metadata)}/${metadata.name}`;
}
