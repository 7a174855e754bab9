import { expect, test } from 'vitest';
import type { KubeList } from '../../meta.ts';
import { TransportError } from '../ports/transport.ts';
import { boundedPages } from './pages.ts';

/** A server of objects of these sizes, and the limits that it was asked for. */
function served(sizes: readonly number[], refusal = 'EMSGSIZE') {
  const limits: number[] = [];
  const read = async (page: {
    readonly limit?: number;
    readonly maxBytes?: number;
    readonly continue?: string;
  }): Promise<KubeList> => {
    const { limit = 0, maxBytes = 0, continue: token = '0' } = page;
    limits.push(limit);
    const from = Number(token);
    const some = sizes.slice(from, from + limit);
    const bytes = some.reduce((sum, size) => sum + size, 0);
    if (bytes > maxBytes) throw new TransportError('too long', { code: refusal });
    const items = some.map((_, i) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `${from + i}` },
    }));
    const metadata = from + limit < sizes.length ? { continue: `${from + limit}` } : {};
    return { apiVersion: 'v1', kind: 'List', metadata, items };
  };
  return { read, limits };
}

async function namesOf(pages: AsyncIterable<KubeList>): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { items } of pages)
    names.push(...items.map(({ metadata }) => metadata.name ?? ''));
  return names;
}

const MIB = 1024 * 1024;

test.each([
  ['none', [], [500]],
  ['small objects', Array(1200).fill(10_000), [500, 500, 500]],
  ['large objects', Array(30).fill(MIB), [500, 63, 8, 4, 4, 4, 4, 4, 4]],
  [
    'large objects after small ones',
    [...Array(500).fill(10), ...Array(40).fill(3 * MIB)],
    undefined,
  ],
])('reads all of a collection once: %s', async (_, sizes, limits) => {
  const server = served(sizes);
  expect(await namesOf(boundedPages(server.read))).toEqual(sizes.map((_size, i) => `${i}`));
  if (limits !== undefined) expect(server.limits.slice(0, 3)).toEqual(limits.slice(0, 3));
  expect(server.limits.length, 'few requests are in vain').toBeLessThan(sizes.length / 2 + 12);
});

test('gives up if a single object is too long, or for another reason', async () => {
  const huge = served([17 * MIB]);
  await expect(namesOf(boundedPages(huge.read))).rejects.toThrow('too long');
  expect(huge.limits.at(-1)).toBe(1);
  const broken = served([17 * MIB], 'ECONNRESET');
  await expect(namesOf(boundedPages(broken.read))).rejects.toThrow('too long');
  expect(broken.limits).toEqual([500]);
});
