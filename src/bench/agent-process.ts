/**
 * A process of many simulated agents, a child of the benchmark. Each is the real barrier over the
 * real channel, with its own connections and a worker that starts and stops at once.
 */

import { createHttpTransport } from '@lockstep/kube/runtime/adapters/http-transport.ts';
import { streamConnectors } from '@lockstep/kube/runtime/adapters/stream-connector.ts';
import {
  countedTransport,
  type TransportCounts,
} from '@lockstep/kube/runtime/client/counted-transport.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { staticToken } from '@lockstep/kube/runtime/credentials/credential-source.ts';
import {
  processSessionStore,
  type TlsSessionStore,
} from '@lockstep/kube/runtime/ports/tls-session.ts';
import { type Agent, type Body, startAgent } from '../agent/agent.ts';
import { createApiChannel } from '../agent/api-channel.ts';
import type { Channel } from '../agent/channel.ts';
import { createHubChannel } from '../agent/hub-channel.ts';
import { type MarkerStore, NO_MARKER, processMarkerStore } from '../agent/marker.ts';
import { MemberProgress } from '../agent/progress/member-progress.ts';
import { PORTS } from '../cli/ports.ts';
import { HUB_PATH, HUB_PROTOCOL } from '../jobset/names.ts';
import type { Progress } from '../jobset/progress/progress.ts';

/** The first message from the benchmark. */
export interface FleetStart {
  readonly type: 'start';
  readonly channel: 'Hub' | 'API';
  /**
   * In sidecar mode each restart is a new agent, with new connections, that finds its
   * predecessor's marker. Containers take no time to start here.
   */
  readonly mode: Body['mode'];
  readonly server: string;
  readonly authority: string;
  readonly namespace: string;
  readonly jobSetName: string;
  readonly jobSetUid: string;
  readonly replicatedJobName: string;
  readonly agents: readonly SimulatedAgent[];
}

/** Messages from the benchmark. */
export type FleetOrder =
  | FleetStart
  /** The worker of the first agent dies. */
  | { readonly type: 'fail' }
  /** All workers report a step, their last one. */
  | { readonly type: 'hang' }
  | { readonly type: 'count' }
  /** From now on, workers report progress or do not. By default they do not. */
  | { readonly type: 'progress'; readonly isReported: boolean };

export interface SimulatedAgent {
  readonly podName: string;
  readonly podUid: string;
  readonly token: string;
}

/** Messages to the benchmark; times are in ms since 1970, with fractions. */
export type FleetReport =
  | { readonly type: 'failed'; readonly atMs: number }
  /** The API server has stored the epoch that the failed agent announced. */
  | { readonly type: 'told'; readonly epoch: number }
  /**
   * All agents of this process have reached a milestone of that epoch: they started or stopped
   * their workers, or the channel has taken their announcements.
   */
  | {
      readonly type: Milestone;
      readonly epoch: number;
      readonly firstMs: number;
      readonly atMs: number;
    }
  | ({ readonly type: 'counted' } & RequestCounts);

export type Milestone = 'started' | 'stopped' | 'announced';

/** Requests to the API server since the process began, and how many got 429. */
export interface RequestCounts {
  readonly requests: number;
  readonly tooMany: number;
}

const REQUEST_TIMEOUT_MS = 60_000;
/** For writes; the watch has its own. */
const CONNECTIONS_PER_AGENT = 1;
const TOO_MANY_REQUESTS = 429;
/** How often the bodies of agents look at the progress of their workers. */
const LOOK_MS = 250;

const counts = { requests: 0, tooMany: 0 };
let isProgressReported = false;
let failFirst: () => void = () => undefined;
const members: Member[] = [];

process.on('message', (order: FleetOrder) => {
  switch (order.type) {
    case 'start':
      return start(order);
    case 'fail':
      report({ type: 'failed', atMs: nowMs() });
      return failFirst();
    case 'hang':
      report({ type: 'failed', atMs: nowMs() });
      for (const member of members) member.progress.took('1');
      return;
    case 'count':
      return report({ type: 'counted', ...counts });
    case 'progress':
      isProgressReported = order.isReported;
      return;
  }
});
// The benchmark is gone.
process.on('disconnect', () => process.exit(0));

function start(order: FleetStart): void {
  const count = order.agents.length;
  const channelOf = channelsOf(order);
  const tallies = {
    started: new Tally('started', count),
    stopped: new Tally('stopped', count),
    announced: new Tally('announced', count),
  };
  for (const [index, agent] of order.agents.entries()) {
    const member = new Member(
      order,
      (announced, sessions) => channelOf(agent, announced, sessions),
      tallies,
      index === 0,
    );
    if (index === 0) failFirst = () => member.fail();
    members.push(member);
    member.start();
  }
  setInterval(() => {
    for (const { progress } of members) progress.look(performance.now());
  }, LOOK_MS);
}

/** The agents of one Pod, one after the other, and its worker. */
class Member implements Body {
  readonly mode: Body['mode'];
  readonly progress = new MemberProgress();
  readonly #jobSetUid: string;
  readonly #channel: (announced: number, sessions: TlsSessionStore) => Channel;
  readonly #tallies: Readonly<Record<Milestone, Tally>>;
  readonly #isFirst: boolean;
  readonly #markers: MarkerStore = processMarkerStore();
  /** Outlives the agents, as do the Pod's files and the marker. */
  readonly #sessions = processSessionStore();
  #agent: Agent | undefined;
  #epoch = 0;
  #isRunning = false;
  #ended: Parameters<Body['lift']>[1] = () => undefined;

  constructor(
    { mode, jobSetUid }: FleetStart,
    channel: (announced: number, sessions: TlsSessionStore) => Channel,
    tallies: Readonly<Record<Milestone, Tally>>,
    isFirst: boolean,
  ) {
    this.mode = mode;
    this.#jobSetUid = jobSetUid;
    this.#channel = channel;
    this.#tallies = tallies;
    this.#isFirst = isFirst;
  }

  start(): void {
    void this.#markers.read().then((marker = NO_MARKER) => {
      this.#agent = startAgent({
        jobSetUid: this.#jobSetUid,
        marker,
        markers: this.#markers,
        channel: this.#observed(this.#channel(marker.announced, this.#sessions)),
        body: this,
        clock: PORTS.clock,
        logger: PORTS.logger,
      });
      this.#agent.left.then(
        () => {
          this.#stopped();
          if (this.mode === 'Sidecar') this.start();
        },
        () => undefined,
      );
    });
  }

  lift(epoch: number, ended: Parameters<Body['lift']>[1]): void {
    this.#epoch = epoch;
    this.#isRunning = true;
    this.#ended = ended;
    this.progress.begin(performance.now());
    this.#tallies.started.add(epoch);
  }

  stopWorker(): void {
    this.#end('SIGTERM', false);
  }

  killHung(): void {
    this.#end('SIGKILL', true);
  }

  hurry(): void {
    // It looks into nothing.
  }

  /** In sidecar mode the node restarts all containers of the Pod, including the agent's. */
  fail(): void {
    if (this.mode === 'Sidecar') this.#agent?.stop('SIGTERM');
    else this.#end('SIGKILL', true);
  }

  #end(signal: string, restarts: boolean): void {
    this.#stopped();
    const end = { epoch: this.#epoch, how: 'Unknown', exit: { signal }, atMs: 0 } as const;
    this.#ended(restarts ? { ...end, restartsGroup: true } : end);
  }

  #stopped(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#tallies.stopped.add(this.#epoch);
  }

  #observed(channel: Channel): Channel {
    return {
      open: (listener) =>
        channel.open({
          ...listener,
          progress: () => (isProgressReported ? simulatedProgress() : listener.progress()),
          announced: (epoch) => {
            if (this.#isFirst) report({ type: 'told', epoch });
            this.#tallies.announced.add(epoch);
            listener.announced(epoch);
          },
        }),
      announce: (announcement) => channel.announce(announcement),
      giveNotice: (epoch) => channel.giveNotice(epoch),
      tellSuccess: (end) => channel.tellSuccess(end),
      askForPod: () => channel.askForPod(),
      ping: () => channel.ping(),
      close: () => channel.close(),
    };
  }
}

/** A worker that makes ten steps a second, and a checkpoint of every hundredth. */
function simulatedProgress(): Progress {
  const step = Math.floor(performance.now() / 100);
  return { step, checkpoint: step - (step % 100), phase: 'train', silentMs: 40 };
}

/** Counts agents by epoch, and reports when all have arrived. */
class Tally {
  readonly #type: Milestone;
  readonly #size: number;
  readonly #epochs = new Map<number, { count: number; readonly firstMs: number }>();

  constructor(type: Milestone, size: number) {
    this.#type = type;
    this.#size = size;
  }

  add(epoch: number): void {
    const atMs = nowMs();
    const of = this.#epochs.get(epoch) ?? { count: 0, firstMs: atMs };
    this.#epochs.set(epoch, of);
    of.count++;
    if (of.count === this.#size) report({ type: this.#type, epoch, firstMs: of.firstMs, atMs });
  }
}

/** Makes a new channel, with new connections, for each agent of this process. */
function channelsOf(
  order: FleetStart,
): (agent: SimulatedAgent, announced: number, sessions: TlsSessionStore) => Channel {
  const runtime = PORTS;
  const { server, authority, jobSetUid, jobSetName, namespace, replicatedJobName } = order;
  if (order.channel === 'Hub') {
    const certificateAuthority = authority;
    const to = { server, path: HUB_PATH, protocol: HUB_PROTOCOL, certificateAuthority };
    const connectorOf = streamConnectors(to);
    return ({ token }, _announced, sessions) => {
      const connector = connectorOf({ credentials: staticToken(token), sessions });
      return createHubChannel({ ...runtime, connector, jobSetUid });
    };
  }
  return ({ podName, podUid, token }, announced) => {
    const transport = createHttpTransport({
      server,
      tls: { certificateAuthority: authority },
      maxConnections: CONNECTIONS_PER_AGENT,
    });
    const client = createClient({
      ...runtime,
      transport: countedTransport(transport, REQUEST_COUNTS),
      userAgent: 'lockstep-bench-agent',
      credentials: staticToken(token),
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    });
    return createApiChannel({
      ...runtime,
      client,
      namespace,
      dialect: 'Canonical',
      jobSetName,
      jobSetUid,
      replicatedJobName,
      podName,
      podUid,
      announced,
    });
  };
}

const REQUEST_COUNTS: TransportCounts = {
  answered: (_method, status) => {
    counts.requests++;
    if (status === TOO_MANY_REQUESTS) counts.tooMany++;
  },
  received: () => undefined,
};

function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

function report(message: FleetReport): void {
  // The benchmark may be gone, which `disconnect` reports.
  process.send?.(message, undefined, undefined, () => undefined);
}
