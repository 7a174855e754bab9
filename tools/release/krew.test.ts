import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { baseUrlProblem, krewManifest } from './krew.ts';

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

/** The rules are those of Krew's own validation of manifests. */
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
