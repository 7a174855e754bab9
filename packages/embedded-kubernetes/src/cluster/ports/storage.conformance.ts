/** The tests that every implementation of the storage port must pass. */

import { defined } from '@lockstep/kube/json/defined.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Storage } from './storage.ts';

/** `make` returns an empty storage. */
export function storageConformance(name: string, make: () => Promise<Storage>): void {
  describe(`${name} as a Storage`, () => {
    it('is empty at revision 0', async () => {
      const storage = await make();
      expect(storage.revision()).toBe(0);
      expect(await storage.get('/a')).toBeUndefined();
      expect(await storage.list('')).toEqual([]);
      await storage.close();
    });

    it('creates only absent keys, and replaces only values that were read', async () => {
      const storage = await make();
      const first = await storage.put('/a', bytes('1'), 0);
      expect(first).toBe(1);
      expect(await storage.put('/a', bytes('x'), 0)).toBeUndefined();
      expect(await storage.put('/b', bytes('x'), 7)).toBeUndefined();
      const second = await storage.put('/a', bytes('2'), 1);
      expect(second).toBe(2);
      expect(await storage.put('/a', bytes('x'), 1)).toBeUndefined();
      const stored = await storage.get('/a');
      expect(stored?.modRevision).toBe(2);
      expect(text(stored?.value)).toBe('2');
      expect(storage.revision()).toBe(2);
      await storage.close();
    });

    it('deletes only what was read, and takes a revision for it', async () => {
      const storage = await make();
      await storage.put('/a', bytes('1'), 0);
      expect(await storage.delete('/a', 9)).toBeUndefined();
      expect(await storage.delete('/absent', 0)).toBeUndefined();
      expect(await storage.delete('/a', 1)).toBe(2);
      expect(await storage.get('/a')).toBeUndefined();
      expect(await storage.delete('/a', 1)).toBeUndefined();
      expect(await storage.put('/a', bytes('again'), 0)).toBe(3);
      await storage.close();
    });

    it('lets exactly one of several concurrent writers win', async () => {
      const storage = await make();
      const results = await Promise.all(
        ['a', 'b', 'c'].map((value) => storage.put('/key', bytes(value), 0)),
      );
      expect(results.filter((revision) => revision !== undefined)).toEqual([1]);
      await storage.close();
    });

    it('lists a prefix in order, page by page', async () => {
      const storage = await make();
      for (const key of ['/pods/b', '/pods/a', '/pod', '/pods/c', '/podsz', '/jobs/a']) {
        await storage.put(key, bytes(key), 0);
      }
      const keys = async (after?: string, limit?: number): Promise<string[]> => {
        const options = {
          ...defined({ after, limit }),
        };
        return (await storage.list('/pods/', options)).map((pair) => pair.key);
      };
      expect(await keys()).toEqual(['/pods/a', '/pods/b', '/pods/c']);
      expect(await keys(undefined, 2)).toEqual(['/pods/a', '/pods/b']);
      expect(await keys('/pods/b', 2)).toEqual(['/pods/c']);
      expect(await keys('/pods/aa')).toEqual(['/pods/b', '/pods/c']);
      expect(await keys('/jobs')).toEqual(['/pods/a', '/pods/b', '/pods/c']);
      expect(await keys('/pods/c')).toEqual([]);
      expect(await keys('/z')).toEqual([]);
      await storage.close();
    });

    it('holds values of any bytes', async () => {
      const storage = await make();
      const value = Uint8Array.from({ length: 70_000 }, (_, at) => at % 256);
      await storage.put('/bytes', value, 0);
      await storage.put('/empty', new Uint8Array(), 0);
      expect(Buffer.from((await storage.get('/bytes'))?.value ?? [])).toEqual(Buffer.from(value));
      expect((await storage.get('/empty'))?.value).toHaveLength(0);
      await storage.close();
    });

    it('behaves as an ordered map with one counter under any sequence of calls', async () => {
      const key = fc.constantFrom('/a', '/a/b', '/b', '/b/1', '/b/2', '/c');
      const call = fc.record({
        key,
        isPut: fc.boolean(),
        guess: fc.constantFrom('right', 'wrong'),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(call, { maxLength: 40, size: 'max' }), async (calls) => {
          const storage = await make();
          const model = new Map<string, number>();
          let revision = 0;
          for (const { key, isPut, guess } of calls) {
            const current = model.get(key) ?? 0;
            const expected = guess === 'right' ? current : current + 1;
            const works = guess === 'right' && (isPut || current > 0);
            const result = isPut
              ? await storage.put(key, bytes(String(revision + 1)), expected)
              : await storage.delete(key, expected);
            if (works) revision++;
            expect(result).toBe(works ? revision : undefined);
            if (works && isPut) model.set(key, revision);
            if (works && !isPut) model.delete(key);
          }
          const pairs = await storage.list('/');
          expect(pairs.map((pair) => [pair.key, pair.modRevision])).toEqual([...model].sort(byKey));
          for (const pair of pairs) expect(text(pair.value)).toBe(String(pair.modRevision));
          expect(storage.revision()).toBe(revision);
          await storage.close();
        }),
        { numRuns: 50 },
      );
    });

    it('refuses every call after it was closed', async () => {
      const storage = await make();
      await storage.put('/a', bytes('1'), 0);
      await storage.close();
      await expect(storage.get('/a')).rejects.toThrow();
      await expect(storage.list('/')).rejects.toThrow();
      await expect(storage.put('/b', bytes('1'), 0)).rejects.toThrow();
      await expect(storage.delete('/a', 1)).rejects.toThrow();
    });
  });
}

function byKey(a: readonly [string, number], b: readonly [string, number]): number {
  return a[0] < b[0] ? -1 : 1;
}

function bytes(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function text(value: Uint8Array | undefined): string {
  return new TextDecoder().decode(value);
}
