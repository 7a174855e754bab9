/**
 * What things cost in a predicted restart, where no code can be run for it. Each figure names the
 * measurement that it comes from, or says that it is assumed. None is fitted to a restart time. The
 * pages are below `docs/reference`.
 */
import { HEARTBEAT_JITTER, HEARTBEAT_MS } from '../../agent/hub-conversation.ts';

/**
 * CPU of the hub for one message in either direction, with TLS and the event loop. Measured: 20 to 30
 * us (`performance.md#where-the-time-goes`), which are 75 us for an agent and a restart of three messages.
 */
export const MESSAGE_MS = 0.025;
/**
 * CPU of the operator for one of its requests. Measured: 9 ms a restart with four workers, which is
 * four requests and hardly any messages (`benchmarks.md#restart-of-a-group`, least of 9 to 21 ms).
 */
export const OPERATOR_REQUEST_MS = 9 / 4;
/** Measured: what a patch takes at a real API server, 3.5 to 7 ms (`performance.md#a-real-api-server`). */
export const API_REQUEST_MS = 4;
/** Assumed: one way between two machines of one network. */
export const NETWORK_MS = 0.25;
/** Between two pings of an agent, on average. A ping has an answer. */
const PING_INTERVAL_MS = HEARTBEAT_MS * (1 + HEARTBEAT_JITTER / 2);
const MESSAGES_PER_PING = 2;
/** Measured: Node, the program and its caches (`performance.md#where-the-memory-goes`). */
export const PROGRAM_MIB = 70;

/** The share of one core that pings of so many agents take; 1 or more: the hub does not keep up. */
export function shareAtRest(agents: number, slower: number): number {
  return (agents * MESSAGES_PER_PING * MESSAGE_MS * slower) / PING_INTERVAL_MS;
}

/** What a benchmark measured of a restart over the hub. */
export interface Measured {
  readonly members: number;
  /** How many times as long everything took as on the day of the other figures, as that page says. */
  readonly slower: number;
  readonly where: string;
  readonly restartMs: number;
  /** CPU of the operator for a restart. */
  readonly cpuMs?: number;
  /** The operator's peak. */
  readonly memoryMib?: number;
}

/** Simulated agents over real sockets, `performance.md` and `benchmarks.md`, all on two cores. */
export const MEASURED: readonly Measured[] = [
  { members: 64, slower: 1, where: 'embedded, hostile', restartMs: 31, memoryMib: 81 },
  { members: 64, slower: 1, where: 'embedded, fail-over', restartMs: 45 },
  { members: 100, slower: 1, where: 'embedded', restartMs: 33, cpuMs: 20, memoryMib: 89 },
  { members: 1000, slower: 1, where: 'embedded', restartMs: 110, cpuMs: 96, memoryMib: 145 },
  { members: 1000, slower: 1, where: 'Kubernetes', restartMs: 111, cpuMs: 84, memoryMib: 137 },
  { members: 2000, slower: 1, where: 'Kubernetes', restartMs: 191, cpuMs: 140, memoryMib: 167 },
  { members: 5000, slower: 1, where: 'embedded', restartMs: 433, cpuMs: 368, memoryMib: 367 },
  { members: 5000, slower: 1, where: 'Kubernetes', restartMs: 536, cpuMs: 414, memoryMib: 304 },
  { members: 5000, slower: 1.25, where: 'slow day', restartMs: 541, cpuMs: 482, memoryMib: 382 },
  { members: 10_000, slower: 1.25, where: 'slow day', restartMs: 932, cpuMs: 836, memoryMib: 621 },
  {
    members: 19_000,
    slower: 1.25,
    where: 'slow day',
    restartMs: 3010,
    cpuMs: 2470,
    memoryMib: 996,
  },
];
