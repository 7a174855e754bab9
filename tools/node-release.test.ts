import { expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { expectDigest, NODE_VERSION } from './node-release.ts';

const EMPTY =
  'z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==';

it('a package is taken only with the digest that was written down', () => {
  expect(() => expectDigest('node.tgz', new Uint8Array(), EMPTY)).not.toThrow();
  expect(() => expectDigest('node.tgz', Uint8Array.of(1), EMPTY)).toThrow(
    'node.tgz has the digest sha512-',
  );
});

it('the pinned Node is of an even line, and newer than the least that is supported', () => {
  const major = Number.parseInt(NODE_VERSION, 10);
  expect(major % 2).toBe(0);
  expect(packageJson.engines.node).toBe('>=20.19');
  expect(major).toBeGreaterThan(20);
});
