import { builtinModules } from 'node:module';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { licensesOf, packagesIn, packagesInBundles } from './bundled-packages.ts';
import { BUNDLES } from './bundles.ts';

it('what bundles contain is no dependency, so that nobody installs it twice', async () => {
  const bundled = await packagesInBundles();
  expect(bundled).toContain('node_modules/preact');
  const names = bundled.map((path) => path.replace('node_modules/', ''));
  expect(names.filter((name) => Object.hasOwn(packageJson.dependencies, name))).toEqual([]);
});

it('what bundles leave out is a dependency, and each dependency is left out of one', async () => {
  const left = new Set<string>();
  for (const bundle of BUNDLES) {
    const { metafile } = await build({ ...bundle, write: false, metafile: true });
    for (const { imports } of Object.values(metafile.inputs)) {
      for (const { path, external } of imports) if (external === true) left.add(packageOf(path));
    }
  }
  const packages = [...left].filter((name) => !builtinModules.includes(name));
  expect(packages.toSorted()).toEqual(Object.keys(packageJson.dependencies).toSorted());
});

function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.replace(/^node:/, '').split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}

it('a package is known by the path of its files', () => {
  const inputs = Object.fromEntries(
    [
      'src/cli/main.ts',
      'node_modules/@s/b/index.js',
      'node_modules/a/lib/x.js',
      'node_modules/a/lib/y.js',
      'node_modules/@s/b/node_modules/a/index.js',
    ].map((path) => [path, { bytes: 1, imports: [] }]),
  );
  expect(packagesIn([{ inputs, outputs: {} }])).toEqual([
    'node_modules/@s/b',
    'node_modules/@s/b/node_modules/a',
    'node_modules/a',
  ]);
});

it('licences stand below the names of their packages', async () => {
  const text = await licensesOf(['node_modules/preact', 'node_modules/uplot']);
  expect(text).toMatch(/^preact\n\nThe MIT License/);
  expect(text).toMatch(/\n-+\n\nuplot\n\nThe MIT License/);
});
