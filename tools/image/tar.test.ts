import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTar } from './tar.fixture.ts';
import { type TarEntry, tarOf } from './tar.ts';

const path = fc.stringMatching(/^[a-z]{1,20}(\/[a-z]{1,20}){0,3}$/);
const entry: fc.Arbitrary<TarEntry> = fc.oneof(
  fc.record({
    kind: fc.constant('File' as const),
    path,
    mode: fc.integer({ min: 0, max: 0o7777 }),
    content: fc.uint8Array({ maxLength: 1500 }).map((bytes) => Buffer.from(bytes)),
  }),
  fc.record({ kind: fc.constant('Link' as const), path, target: path }),
  fc.record({ kind: fc.constant('Directory' as const), path, mode: fc.constant(0o755) }),
);
const entries = fc.uniqueArray(entry, { selector: ({ path: name }) => name, maxLength: 8 });

describe('an archive', () => {
  it('holds what it was given', () => {
    fc.assert(
      fc.property(entries, (given) => {
        const archive = tarOf(given);
        expect(archive.length % 512).toBe(0);
        const read = readTar(archive);
        expect(read.size).toBe(given.length);
        for (const one of given) {
          const found = read.get(one.kind === 'Directory' ? `${one.path}/` : one.path);
          const content = one.kind === 'File' ? one.content : Buffer.alloc(0);
          expect(found?.content.equals(content)).toBe(true);
          expect(found?.target).toBe(one.kind === 'Link' ? one.target : '');
          expect(found?.mode).toBe(one.kind === 'Link' ? 0o777 : one.mode);
        }
      }),
    );
  });

  it('is the same for any order of its entries, parents first', () => {
    fc.assert(
      fc.property(entries, (given) => {
        expect(tarOf(given.toReversed()).equals(tarOf(given))).toBe(true);
      }),
    );
  });

  it('refuses a name that it cannot hold', () => {
    const name = 'a'.repeat(101);
    const make = (): Buffer => tarOf([{ kind: 'Link', path: name, target: 'b' }]);
    expect(make).toThrow(/a" is longer than the 100 bytes/);
  });
});
