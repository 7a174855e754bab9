import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { baseUrlProblem, krewManifest, pluginArchive } from './krew.ts';

interface Manifest {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly version: string;
    readonly shortDescription: string;
    readonly caveats: string;
    readonly platforms: readonly {
      readonly uri: string;
      readonly sha256: string;
      readonly bin: string;
      readonly selector: { readonly matchExpressions: readonly { readonly key: string }[] };
    }[];
  };
}

it('the archive has what npm installs with the package, and no package of this repository', () => {
  const root = mkdtempSync(join(tmpdir(), 'lockstep-krew-'));
  try {
    const write = (path: string): void => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), '');
    };
    write('package/bin/kubectl-lockstep.js');
    const packed = join(root, 'packed.tgz');
    execFileSync('tar', ['-czf', packed, '-C', root, 'package']);
    for (const path of ['node_modules/yaml', 'node_modules/vitest', 'packages/kube']) {
      write(`${path}/index.js`);
    }
    mkdirSync(join(root, 'node_modules/@lockstep'));
    symlinkSync('../../packages/kube', join(root, 'node_modules/@lockstep/kube'));
    const packages = {
      '': {},
      'node_modules/@lockstep/kube': { link: true },
      'node_modules/vitest': { dev: true },
      'node_modules/yaml': {},
      'packages/kube': {},
    };
    const lockfile = { name: 'lockstep', version: '1.2.3', packages };
    const archive = join(root, 'plugin.tar.gz');
    writeFileSync(archive, pluginArchive(packed, { root, lockfile, level: 1 }));
    const listed = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).trim().split('\n');
    expect(listed.sort()).toEqual(['bin/kubectl-lockstep.js', 'node_modules/yaml/index.js']);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

/** The rules come from Krew's own validation of manifests. */
it('the manifest is one that Krew accepts', () => {
  const sha256 = 'ab'.repeat(32);
  const uri = 'https://example.com/v1.2.3/plugin.tar.gz';
  const manifest = parse(krewManifest({ version: '1.2.3', uri, sha256 })) as Manifest;
  expect(manifest).toMatchObject({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
  });
  const { metadata, spec } = manifest;
  expect(metadata.name).toMatch(/^[\w-]+$/);
  expect(spec.version).toMatch(/^v\d+\.\d+\.\d+$/);
  expect(spec.shortDescription).toMatch(/^[^\r\n]{1,60}$/);
  expect(spec.caveats).toContain('Node 20.19 or later');
  expect(spec.platforms).toHaveLength(1);
  for (const platform of spec.platforms) {
    expect(platform).toMatchObject({ uri, sha256, bin: 'bin/kubectl-lockstep.js' });
    const keys = platform.selector.matchExpressions.map(({ key }) => key);
    expect(['os', 'arch']).toEqual(expect.arrayContaining(keys));
    expect(keys.length).toBeGreaterThan(0);
  }
});

it.each([
  'example.com',
  'http://example.com',
  'ftp://example.com',
  'https://me@example.com',
  'https://example.com/?a=b',
  'https://example.com/#a',
  '',
])('"%s" is no address of a release', (text) => {
  expect(baseUrlProblem(text)).toContain(`--base-url is "${text}", expected`);
});

it('an address of a release may end with a slash', () => {
  expect(baseUrlProblem('https://example.com/v1.2.3/')).toBeUndefined();
});
