import { freePorts } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { NeighbourLost, Ring } from './ring.ts';

const open: Ring[] = [];
afterEach(() => {
  for (const ring of open.splice(0)) ring.close();
});

/** A ring of `size` members in this process, one loopback port each. */
async function ringOf(size: number): Promise<readonly Ring[]> {
  const ports = await freePorts(size, systemRandom);
  const rings = await Promise.all(
    ports.map((port, rank) =>
      Ring.join({
        rank,
        size,
        address: '127.0.0.1',
        port,
        successorPort: ports[(rank + 1) % size] ?? port,
        successor: async () => '127.0.0.1',
      }),
    ),
  );
  open.push(...rings);
  return rings;
}

describe('a ring', () => {
  it.each([1, 2, 3, 5])('of %i sums every element for everyone', async (size) => {
    const rings = await ringOf(size);
    const vectors = rings.map((_, rank) =>
      Float32Array.from({ length: 11 }, (_, i) => i * 10 + rank),
    );
    const sums = Array.from({ length: 11 }, (_, i) => size * i * 10 + (size * (size - 1)) / 2);

    await Promise.all(
      rings.map((ring, rank) => ring.allReduce(vectors[rank] ?? new Float32Array())),
    );

    for (const vector of vectors) expect([...vector]).toEqual(sums);
  });

  it('gives everyone the values of rank 0', async () => {
    const rings = await ringOf(3);
    const vectors = rings.map((_, rank) => Float32Array.of(rank + 1, rank + 2));

    await Promise.all(
      rings.map((ring, rank) => ring.broadcast(vectors[rank] ?? new Float32Array())),
    );

    expect(vectors.map((vector) => [...vector])).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
  });

  it('tells the others when a member has gone', async () => {
    const [lost, ...rest] = await ringOf(3);
    const stuck = rest.map((ring) => ring.allReduce(new Float32Array(6)));

    lost?.close();
    // A stuck collective is free again only when each member has given up in turn.
    const outcomes = await Promise.race(stuck.map((work) => work.catch((error: unknown) => error)));

    expect(outcomes).toBeInstanceOf(NeighbourLost);
    for (const ring of rest) ring.close();
    await Promise.allSettled(stuck);
  });
});
