import { expect, test } from 'vitest';
import { LEASES, type Lease } from '../kube/lease.ts';
import { type LeaderElection, startLeaderElection } from './leader-election.ts';
import { MemoryClient } from './memory/memory-client.ts';
import { SeededRandom } from './memory/seeded-random.ts';
import { VirtualClock } from './memory/virtual-clock.ts';
import { SILENT } from './ports/logger.ts';
import { TransportError } from './ports/transport.ts';

const AT = { namespace: 'lockstep-system', name: 'operator' };

function candidate(client: MemoryClient, clock: VirtualClock, identity: string) {
  const seen: string[] = [];
  const election: LeaderElection = startLeaderElection({
    client,
    clock,
    random: new SeededRandom(identity.length),
    logger: SILENT,
    ...AT,
    identity,
    onStartedLeading: (signal) => {
      seen.push('leads');
      signal.addEventListener('abort', () => seen.push('ended'));
    },
    onLost: () => seen.push('lost'),
  });
  return { election, seen };
}

test('one of two leads; a released lease goes over at once, counted as a transition', async () => {
  const client = new MemoryClient();
  const clock = new VirtualClock();
  const first = candidate(client, clock, 'one');
  await clock.settle();
  const second = candidate(client, clock, 'second');
  await clock.advance(120_000);
  expect([first.election.isLeader(), second.election.isLeader()]).toEqual([true, false]);
  await first.election.stop();
  expect(first.seen).toEqual(['leads', 'ended']);
  await clock.advance(5000);
  expect(second.election.isLeader()).toBe(true);
  const lease: Lease = await client.get(LEASES, AT);
  expect(lease.spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
  await second.election.stop();
  expect(clock.pendingTimers).toBe(0);
});

test('a leader that cannot renew gives up before another may take over', async () => {
  const clock = new VirtualClock();
  const client = new MemoryClient();
  const cut = new MemoryClient();
  // Two clients of one server: the leader's connection can be cut alone.
  const sever = (): void => {
    cut.before = () => Promise.reject(new TransportError('refused'));
  };
  Object.assign(cut, { objects: client.objects });
  const leader = candidate(cut, clock, 'leader');
  await clock.settle();
  const standby = candidate(client, clock, 'standby');
  await clock.advance(6000);
  sever();
  let lostMs = 0;
  await clock.runUntil(() => leader.seen.includes('lost'), 60_000);
  lostMs = clock.monotonic();
  expect(standby.election.isLeader()).toBe(false);
  expect(leader.seen).toEqual(['leads', 'ended', 'lost']);
  await clock.runUntil(() => standby.election.isLeader(), 60_000);
  expect(clock.monotonic()).toBeGreaterThan(lostMs);
  await leader.election.stop();
  await standby.election.stop();
});

test('a lease is judged by local observation, not by the times written in it', async () => {
  const client = new MemoryClient();
  const clock = new VirtualClock();
  await client.create(LEASES, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: AT,
    spec: {
      holderIdentity: 'ghost',
      leaseDurationSeconds: 15,
      renewTime: '1999-01-01T00:00:00.000000Z',
    },
  });
  const { election } = candidate(client, clock, 'me');
  await clock.advance(14_000);
  expect(election.isLeader()).toBe(false);
  await clock.advance(6000);
  expect(election.isLeader()).toBe(true);
  await election.stop();
});

test('a leader that finds another name in the lease ends at once', async () => {
  const client = new MemoryClient();
  const clock = new VirtualClock();
  const { election, seen } = candidate(client, clock, 'me');
  await clock.settle();
  const lease = await client.get(LEASES, AT);
  await client.update(LEASES, { ...lease, spec: { ...lease.spec, holderIdentity: 'thief' } });
  await clock.advance(2100);
  expect(seen).toEqual(['leads', 'ended', 'lost']);
  await election.stop();
});
