import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { describe, expect, it } from 'vitest';
import { storageConformance } from '../ports/storage.conformance.ts';
import { MemoryStorage } from './memory-storage.ts';

storageConformance('MemoryStorage', async () => new MemoryStorage());

describe('MemoryStorage', () => {
  it('keeps many keys in order while they come and go', async () => {
    const storage = new MemoryStorage();
    const random = new SeededRandom(1);
    const model = new Map<string, number>();
    for (let i = 0; i < 20_000; i++) {
      const key = `/pods/${Math.floor(random.next() * 6_000)}`;
      const revision = model.get(key);
      if (revision === undefined) {
        model.set(key, (await storage.put(key, new Uint8Array(), 0)) ?? 0);
      } else {
        await storage.delete(key, revision);
        model.delete(key);
      }
    }
    const keys = (await storage.list('/pods/')).map((pair) => pair.key);
    expect(keys).toEqual([...model.keys()].sort());
  });
});
