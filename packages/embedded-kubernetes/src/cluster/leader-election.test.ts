/** Leader election against the embedded API server, which decides who gets the Lease. */

import { LEASES, type Lease } from '@lockstep/kube/objects/lease.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import {
  DEFAULT_LEASE_TIMES,
  type LeaderElection,
  type Leadership,
  startLeaderElection,
} from '@lockstep/kube/runtime/controller/leader-election.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { type HttpRequest, TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MemoryCluster } from './memory-cluster.ts';

const AT = { namespace: 'default', name: 'operator' };
const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = DEFAULT_LEASE_TIMES;

let cluster: MemoryCluster;
const candidates: Candidate[] = [];

beforeEach(async () => {
  cluster = new MemoryCluster();
  await cluster.start();
});
afterEach(async () => {
  for (const candidate of candidates.splice(0)) await candidate.stop();
  await cluster.stop();
});

/** A replica that wants to lead for as long as it runs. */
class Candidate {
  /** `PUT`, `GET`, ... of every request for the lease except its watch. */
  readonly requests: string[] = [];
  /** When it became leader and when it lost the lease. */
  readonly told: string[] = [];
  /** Faults between it and the API server. */
  weather: (request: HttpRequest) => Promise<void> = () => Promise.resolve();
  readonly #stopping = new AbortController();
  readonly #election: LeaderElection;
  readonly #ended: Promise<void>;
  #leadership: Leadership | undefined;

  constructor(identity: string, times = DEFAULT_LEASE_TIMES) {
    const { clock } = cluster;
    const random = new SeededRandom(identity.length);
    const transport = {
      send: async (request: HttpRequest) => {
        if (!request.path.includes('watch=')) this.requests.push(request.method);
        await this.weather(request);
        return cluster.send(request);
      },
    };
    const client = createClient({ transport, clock, random, userAgent: identity });
    const options = { client, clock, random, logger: SILENT, ...AT, identity, times };
    this.#election = startLeaderElection(options);
    this.#ended = this.#run();
    candidates.push(this);
  }

  get leads(): boolean {
    return this.#leadership !== undefined && !this.#leadership.lost.aborted;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        this.#leadership = await this.#election.lead(signal);
      } catch {
        return;
      }
      this.told.push(`leads at ${cluster.clock.monotonic()}`);
      const { lost } = this.#leadership;
      await new Promise<void>((resolve) => {
        lost.addEventListener('abort', () => resolve());
        signal.addEventListener('abort', () => resolve());
      });
      if (lost.aborted) this.told.push(`lost at ${cluster.clock.monotonic()}`);
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopped'));
    let isOver = false;
    const over = this.#ended
      .then(() => this.#leadership?.resign())
      .then(() => this.#election.stop())
      .finally(() => {
        isOver = true;
      });
    await cluster.clock.runUntil(() => isOver, 5000);
    await over;
    this.#leadership = undefined;
  }
}

/** Acts like a machine that loses power: nothing that it sends arrives any more. */
function kill(candidate: Candidate): void {
  candidate.weather = noAnswer;
}

function noAnswer({ signal }: HttpRequest): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

function refuse(candidate: Candidate): void {
  candidate.weather = () => Promise.reject(new TransportError('refused'));
}

async function lease(): Promise<Lease> {
  return cluster.client.get(LEASES, AT);
}

async function leader(identity = 'leader'): Promise<Candidate> {
  const candidate = new Candidate(identity);
  await cluster.clock.runUntil(() => candidate.leads, 5000);
  return candidate;
}

describe('a leader', () => {
  test('renews each second by one conditional write, and reads nothing', async () => {
    const first = await leader();
    await cluster.clock.advance(500);
    first.requests.splice(0);
    await cluster.clock.advance(60_000);
    expect(new Set(first.requests)).toEqual(new Set(['PUT']));
    expect(first.requests).toHaveLength(60_000 / retryPeriodMs);
  });

  test('gives the lease back, so that another leads at once, counted as a transition', async () => {
    const first = await leader();
    const second = new Candidate('second');
    await cluster.clock.advance(120_000);
    expect([first.leads, second.leads]).toEqual([true, false]);
    const stoppedMs = cluster.clock.monotonic();
    await first.stop();
    await cluster.clock.settle();
    expect(second.leads).toBe(true);
    expect(cluster.clock.monotonic()).toBe(stoppedMs);
    expect((await lease()).spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
  });

  test('that cannot renew steps down before another may take over, and leads again later', async () => {
    const first = await leader();
    await cluster.clock.advance(60_000);
    const cutMs = cluster.clock.monotonic();
    refuse(first);
    await cluster.clock.runUntil(() => !first.leads, 60_000);
    expect(cluster.clock.monotonic() - cutMs).toBeLessThanOrEqual(renewDeadlineMs);
    await cluster.clock.advance(5 * 60_000);
    first.weather = () => Promise.resolve();
    await cluster.clock.runUntil(() => first.leads, 2 * retryPeriodMs * 1.2);
    // The holder is the same, so there is no transition, as in client-go.
    expect((await lease()).spec).toMatchObject({ holderIdentity: 'leader', leaseTransitions: 0 });
  });

  test('that finds another name in the lease steps down at once', async () => {
    const first = await leader();
    await cluster.clock.advance(10_000);
    const found = await cluster.client.get(LEASES, AT);
    await cluster.client.update(LEASES, {
      ...found,
      spec: { ...found.spec, holderIdentity: 'thief' },
    });
    await cluster.clock.settle();
    expect(first.leads).toBe(false);
  });

  test('stays one while each answer takes a second', async () => {
    const first = await leader();
    const second = new Candidate('second');
    await cluster.clock.advance(5000);
    for (const candidate of [first, second]) {
      candidate.weather = () => sleep(cluster.clock, 1000);
    }
    await cluster.clock.advance(60_000);
    expect([first.told.length, second.told.length]).toEqual([1, 0]);
    expect(first.leads).toBe(true);
  });

  test('stays one when a write is lost on the way, and when somebody edits the lease', async () => {
    const first = await leader();
    const second = new Candidate('second');
    await cluster.clock.advance(5000);
    let lost = 0;
    first.weather = (request) =>
      request.method === 'PUT' && lost++ === 0 ? noAnswer(request) : Promise.resolve();
    await cluster.clock.advance(5000);
    const found = await cluster.client.get(LEASES, AT);
    const metadata = { ...found.metadata, annotations: { note: 'looked at' } };
    await cluster.client.update(LEASES, { ...found, metadata });
    await cluster.clock.advance(5000);
    expect([first.told.length, second.told.length]).toEqual([1, 0]);
    expect(first.leads).toBe(true);
  });
});

describe('a candidate', () => {
  test('leads at the moment at which the lease of a dead leader expires', async () => {
    const first = await leader();
    const second = new Candidate('second');
    await cluster.clock.advance(60_300);
    kill(first);
    const renewed = Date.parse((await lease()).spec?.renewTime ?? '');
    await cluster.clock.runUntil(() => second.leads, 60_000);
    expect(cluster.clock.now() - renewed).toBeGreaterThanOrEqual(leaseDurationMs);
    expect(cluster.clock.now() - renewed).toBeLessThanOrEqual(leaseDurationMs + 10);
  });

  test('judges the lease by its own observation, not by its timestamps, for the duration in it', async () => {
    await cluster.client.create(LEASES, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: AT,
      spec: {
        holderIdentity: 'ghost',
        leaseDurationSeconds: 15,
        renewTime: '1999-01-01T00:00:00.000000Z',
      },
    });
    const candidate = new Candidate('me');
    await cluster.clock.advance(14_900);
    expect(candidate.leads).toBe(false);
    await cluster.clock.advance(200);
    expect(candidate.leads).toBe(true);
  });

  test('asks the API server for nothing while another leads, but for its watch', async () => {
    await leader();
    const second = new Candidate('second');
    await cluster.clock.advance(10_000);
    second.requests.splice(0);
    await cluster.clock.advance(60_000);
    expect(second.requests).toEqual([]);
  });

  test('that may not watch leases still takes over, in twice the time', async () => {
    const first = await leader();
    const second = new Candidate('second');
    second.weather = ({ path }) =>
      path.includes('fieldSelector')
        ? Promise.reject(new TransportError('no watch'))
        : Promise.resolve();
    await cluster.clock.advance(60_300);
    expect(second.leads).toBe(false);
    kill(first);
    await cluster.clock.runUntil(() => second.leads, 2 * leaseDurationMs);
  });

  test('beside many others: one of them leads', async () => {
    const first = await leader();
    const others = Array.from({ length: 5 }, (_, i) => new Candidate(`candidate-${i}`));
    await cluster.clock.advance(10_000);
    kill(first);
    await cluster.clock.advance(20_000);
    expect(others.filter(({ leads }) => leads)).toHaveLength(1);
    expect(others.flatMap(({ told }) => told)).toHaveLength(1);
  });
});
