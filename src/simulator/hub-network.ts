/** The network between agents and the operators' hubs: the Service leads to the newest leader. */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { MemoryStreams } from '@lockstep/kube/runtime/memory/memory-streams.ts';
import type { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import type {
  ByteStream,
  StreamAcceptor,
  StreamAnswer,
  StreamConnector,
  StreamListener,
  StreamRequest,
} from '@lockstep/kube/runtime/ports/stream.ts';
import type { AgentChannel } from '../jobset/injection/agent-hub.ts';
import type { HubSettings } from '../operator/hub/hub-connection.ts';
import type { AgentTokens } from './network/agent-tokens.ts';
import type { ProcessLife } from './process-life.ts';

/** A hub that serves streams. */
export interface OpenHub {
  readonly accept: StreamAcceptor;
  /** The life of its process. What the hub still writes when that is over does not arrive. */
  readonly life: ProcessLife;
}

/** Without tokens of a cluster: the token of an agent is the UID of its Pod. */
export function hubOfPods(
  pods: ReadonlyMap<string, Stored<Pod>>,
  channel: () => AgentChannel,
): HubSettings {
  return {
    access: () => ({ url: 'https://hub', authorities: '', channel: channel() }),
    podOf: (token) => {
      const pod = pods.get(token);
      if (pod === undefined) return Promise.resolve({ kind: 'Invalid', problem: 'unknown' });
      const { namespace = '', name: podName, uid: podUid } = pod.metadata;
      const claim = { namespace, podName, podUid, serviceAccount: 'default' };
      return Promise.resolve({ kind: 'Pod', claim });
    },
  };
}

export class HubNetwork {
  readonly #clock: VirtualClock;
  /** Absent: the token of an agent is the UID of its Pod. */
  readonly tokens: AgentTokens | undefined;
  /** A stream is open that is none of a member. */
  readonly #strange: (detail: string) => void;
  readonly #pods = new Map<string, Stored<Pod>>();
  readonly #networks = new Map<string, MemoryStreams>();
  /** How many faults cut each of them. */
  readonly #cuts = new Map<MemoryStreams, number>();
  /** What each hub has accepted. */
  readonly #streams = new Map<OpenHub, Set<ByteStream>>();
  #leader: OpenHub | undefined;

  constructor(clock: VirtualClock, tokens?: AgentTokens, strange = (_detail: string): void => {}) {
    this.#clock = clock;
    this.tokens = tokens;
    this.#strange = strange;
  }

  readonly settings = hubOfPods(this.#pods, () => 'Auto');

  /** Undefined: the port is closed. */
  lead(hub: OpenHub): void {
    this.#leader = hub;
  }

  /** Its streams end. */
  leaves(hub: OpenHub): void {
    if (this.#leader === hub) this.#leader = undefined;
    for (const stream of this.#streams.get(hub) ?? []) stream.destroy();
    this.#streams.delete(hub);
  }

  connectorOf(pod: Stored<Pod>): StreamConnector {
    const { uid } = pod.metadata;
    this.#pods.set(uid, pod);
    const network = new MemoryStreams(this.#clock);
    network.acceptor = async (request) => {
      const problem = this.tokens?.problemOf(uid);
      const answer = await this.#accept(request);
      if (problem !== undefined && answer.kind === 'Accept') {
        this.#strange(`${pod.metadata.name} has a stream for a token that is ${problem}`);
      }
      return answer;
    };
    this.#networks.set(uid, network);
    return network.connector(() => this.tokens?.of(pod) ?? uid);
  }

  /** A Pod of a stranger asks for a stream, with a token of its own. */
  async knock(pod: Stored<Pod>): Promise<void> {
    const { namespace, name } = pod.metadata;
    const token = this.tokens?.of(pod);
    if (token === undefined) return;
    const answer = await this.#accept({ token, address: 'stranger' });
    if (answer.kind === 'Accept') this.#strange(`${namespace}/${name} has a stream`);
  }

  /** The Pod is gone. */
  forget(uid: string): void {
    const network = this.#networks.get(uid);
    network?.breakAll();
    if (network !== undefined) this.#cuts.delete(network);
    this.#networks.delete(uid);
    this.#pods.delete(uid);
    this.tokens?.forget(uid);
  }

  break(uid: string): void {
    this.#networks.get(uid)?.breakAll();
  }

  breakAll(): void {
    for (const network of this.#networks.values()) network.breakAll();
  }

  /**
   * Nothing gets through to these Pods, and neither end notices; undefined: to none. Returns what ends
   * it: connections that were cut have lost bytes, and are reset.
   */
  cut(uids: readonly string[] | undefined): () => void {
    const cut = [...this.#networks].flatMap(([uid, network]) =>
      uids?.includes(uid) === false ? [] : [network],
    );
    for (const network of cut) {
      this.#cuts.set(network, (this.#cuts.get(network) ?? 0) + 1);
      network.isCut = true;
    }
    return () => {
      for (const network of cut) {
        const left = (this.#cuts.get(network) ?? 1) - 1;
        this.#cuts.set(network, left);
        if (left > 0) continue;
        network.isCut = false;
        network.breakAll();
      }
    };
  }

  /**
   * What this Pod's agent sends over its stream comes this much later. Returns what ends it: the agent
   * loses its end of the stream and connects again, and the hub gets the rest beside the new stream.
   */
  late(uid: string, ms: number): () => void {
    const network = this.#networks.get(uid);
    network?.delayClients(ms);
    return () => network?.breakClients();
  }

  /** A paused hub neither answers nor notices anything; what reached it meanwhile comes at its end. */
  async #accept(request: StreamRequest): Promise<StreamAnswer> {
    const hub = this.#leader;
    if (hub === undefined) return { kind: 'Refuse', status: 503, reason: 'there is no leader' };
    const { life } = hub;
    await new Promise<void>((resolve) => life.deliver(resolve));
    const answer = await hub.accept(request);
    if (answer.kind === 'Refuse') return answer;
    return { kind: 'Accept', open: (stream) => this.#opened(hub, stream, answer.open) };
  }

  #opened(
    hub: OpenHub,
    stream: ByteStream,
    open: (stream: ByteStream) => StreamListener,
  ): StreamListener {
    const { life } = hub;
    const streams = this.#streams.get(hub) ?? new Set();
    this.#streams.set(hub, streams.add(stream));
    const listener = open({
      write: (bytes) => (life.gone.aborted ? undefined : stream.write(bytes)),
      get unreadBytes() {
        return stream.unreadBytes;
      },
      end: () => stream.end(),
      destroy: () => stream.destroy(),
    });
    return {
      received: (chunk) => life.deliver(() => listener.received(chunk)),
      closed: (error) => {
        streams.delete(stream);
        life.deliver(() => listener.closed(error));
      },
    };
  }
}
