/** The network between agents and the operators' hubs: the Service leads to the newest leader. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { MemoryStreams } from '@lockstep/kube/runtime/memory/memory-streams.ts';
import type { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import type {
  StreamAcceptor,
  StreamAnswer,
  StreamConnector,
  StreamRequest,
} from '@lockstep/kube/runtime/ports/stream.ts';
import type { HubSettings } from '../operator/hub/hub-connection.ts';

/** A hub that serves streams. */
export interface OpenHub {
  readonly accept: StreamAcceptor;
  /** Aborts when its process is gone: nothing that it still writes arrives. */
  readonly gone: AbortSignal;
}

export class HubNetwork {
  readonly #clock: VirtualClock;
  readonly #pods = new Map<string, Stored<Pod>>();
  readonly #networks = new Map<string, MemoryStreams>();
  #leader: OpenHub | undefined;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** The token of an agent is the UID of its Pod. */
  readonly settings: HubSettings = {
    access: () => ({ url: 'https://hub', authorities: '', channel: 'Auto' }),
    podOf: (token) => {
      const pod = this.#pods.get(token);
      if (pod === undefined) return Promise.resolve({ kind: 'Invalid', problem: 'unknown' });
      const { namespace = '', name: podName, uid: podUid } = pod.metadata;
      const claim = { namespace, podName, podUid, serviceAccount: 'default' };
      return Promise.resolve({ kind: 'Pod', claim });
    },
  };

  /** Undefined: the port is closed. */
  lead(hub: OpenHub): void {
    this.#leader = hub;
  }

  /** Its streams end, unless another leads already. */
  leaves(hub: OpenHub): void {
    if (this.#leader !== hub) return;
    this.#leader = undefined;
    this.breakAll();
  }

  connectorOf(pod: Stored<Pod>): StreamConnector {
    const { uid } = pod.metadata;
    this.#pods.set(uid, pod);
    const network = new MemoryStreams(this.#clock);
    network.acceptor = (request) => this.#accept(request);
    this.#networks.set(uid, network);
    return network.connector(() => uid);
  }

  /** The Pod is gone. */
  forget(uid: string): void {
    this.#networks.get(uid)?.breakAll();
    this.#networks.delete(uid);
    this.#pods.delete(uid);
  }

  breakAll(): void {
    for (const network of this.#networks.values()) network.breakAll();
  }

  /** Nothing gets through to these Pods, and neither end notices; undefined: to none. */
  cut(uids: readonly string[] | undefined): void {
    for (const [uid, network] of this.#networks) {
      if (uids?.includes(uid) !== false) network.isCut = true;
    }
  }

  /** Connections that were cut have lost bytes, and are reset. */
  heal(): void {
    for (const network of this.#networks.values()) {
      if (!network.isCut) continue;
      network.isCut = false;
      network.breakAll();
    }
  }

  async #accept(request: StreamRequest): Promise<StreamAnswer> {
    const hub = this.#leader;
    if (hub === undefined) return { kind: 'Refuse', status: 503, reason: 'there is no leader' };
    const answer = await hub.accept(request);
    if (answer.kind === 'Refuse') return answer;
    const { open } = answer;
    return {
      kind: 'Accept',
      open: (stream) =>
        open({
          write: (bytes) => (hub.gone.aborted ? undefined : stream.write(bytes)),
          get unreadBytes() {
            return stream.unreadBytes;
          },
          end: () => stream.end(),
          destroy: () => stream.destroy(),
        }),
    };
  }
}
