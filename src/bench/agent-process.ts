/**
 * A process of many simulated agents: the real barrier over the real channel, each with a connection of
 * its own, and a worker that starts and stops at once. It is a child of the benchmark.
 */
import { type Agent, type Body, startAgent } from '../agent/agent.ts';
import { createApiChannel } from '../agent/api-channel.ts';
import type { Channel } from '../agent/channel.ts';
import { createHubChannel } from '../agent/hub-channel.ts';
import { NO_MARKER, processMarkerStore } from '../agent/marker.ts';
import { workerExit } from '../agent/worker-exit.ts';
import { HUB_PATH, HUB_PROTOCOL } from '../jobset/names.ts';
import { createHttpTransport } from '../runtime/adapters/http-transport.ts';
import { nodeClock } from '../runtime/adapters/node-clock.ts';
import { createStreamConnector } from '../runtime/adapters/stream-connector.ts';
import { systemRandom } from '../runtime/adapters/system-random.ts';
import { createClient } from '../runtime/http-client.ts';
import { SILENT } from '../runtime/ports/logger.ts';
import { staticToken } from '../runtime/token-source.ts';

/** From the benchmark. */
export type FleetOrder =
  | {
      readonly type: 'start';
      readonly channel: 'Hub' | 'API';
      readonly server: string;
      readonly authority: string;
      readonly namespace: string;
      readonly jobSetName: string;
      readonly jobSetUid: string;
      readonly replicatedJobName: string;
      readonly agents: readonly SimulatedAgent[];
    }
  /** The worker of the first agent dies. */
  | { readonly type: 'fail' };

export interface SimulatedAgent {
  readonly podName: string;
  readonly podUid: string;
  readonly token: string;
}

/** To the benchmark; times are in ms since 1970, with fractions. */
export type FleetReport =
  | { readonly type: 'failed'; readonly atMs: number }
  /** All agents of this process have started, or stopped, their workers of that epoch. */
  | { readonly type: 'started' | 'stopped'; readonly epoch: number; readonly atMs: number };

type Start = Extract<FleetOrder, { readonly type: 'start' }>;

const REQUEST_TIMEOUT_MS = 60_000;
/** A watch and a write. */
const CONNECTIONS_PER_AGENT = 2;

let failFirst: () => void = () => undefined;

process.on('message', (order: FleetOrder) => {
  if (order.type === 'start') start(order);
  else {
    report({ type: 'failed', atMs: nowMs() });
    failFirst();
  }
});
// Whoever asked is gone.
process.on('disconnect', () => process.exit(0));

function start(order: Start): void {
  const count = order.agents.length;
  const started = new Tally('started', count);
  const stopped = new Tally('stopped', count);
  for (const [index, agent] of order.agents.entries()) {
    const body = new SimulatedBody(started, stopped);
    const running: Agent = startAgent({
      jobSetUid: order.jobSetUid,
      marker: NO_MARKER,
      markers: processMarkerStore(),
      channel: channelOf(order, agent),
      body,
      logger: SILENT,
    });
    running.left.catch(() => undefined);
    if (index === 0) failFirst = () => body.fail();
  }
}

class SimulatedBody implements Body {
  readonly mode = 'Supervisor';
  readonly #started: Tally;
  readonly #stopped: Tally;
  #epoch = 0;
  #ended: Parameters<Body['lift']>[1] = () => undefined;

  constructor(started: Tally, stopped: Tally) {
    this.#started = started;
    this.#stopped = stopped;
  }

  lift(epoch: number, ended: Parameters<Body['lift']>[1]): void {
    this.#epoch = epoch;
    this.#ended = ended;
    this.#started.add(epoch);
  }

  stopWorker(): void {
    this.#end('SIGTERM', false);
  }

  fail(): void {
    this.#end('SIGKILL', true);
  }

  #end(signal: string, restartsGroup: boolean): void {
    this.#stopped.add(this.#epoch);
    this.#ended(workerExit({ exitCode: undefined, signal }), restartsGroup);
  }
}

/** Counts agents by epoch, and reports when all have come. */
class Tally {
  readonly #type: 'started' | 'stopped';
  readonly #size: number;
  readonly #counts = new Map<number, number>();

  constructor(type: 'started' | 'stopped', size: number) {
    this.#type = type;
    this.#size = size;
  }

  add(epoch: number): void {
    const count = (this.#counts.get(epoch) ?? 0) + 1;
    this.#counts.set(epoch, count);
    if (count === this.#size) report({ type: this.#type, epoch, atMs: nowMs() });
  }
}

function channelOf(order: Start, { podName, podUid, token }: SimulatedAgent): Channel {
  const runtime = { clock: nodeClock, random: systemRandom, logger: SILENT };
  const { server, authority, jobSetUid, jobSetName, namespace, replicatedJobName } = order;
  if (order.channel === 'Hub') {
    const connector = createStreamConnector({
      server,
      path: HUB_PATH,
      protocol: HUB_PROTOCOL,
      certificateAuthority: authority,
      credentials: staticToken(token),
    });
    return createHubChannel({ ...runtime, connector, jobSetUid });
  }
  const transport = createHttpTransport({
    server,
    tls: { certificateAuthority: authority },
    maxConnections: CONNECTIONS_PER_AGENT,
  });
  const client = createClient({
    ...runtime,
    transport,
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
    announced: 0,
  });
}

function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

function report(message: FleetReport): void {
  process.send?.(message);
}
