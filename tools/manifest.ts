/**
 * Writes the files in `deploy/` and the tables of settings and values in the documentation, from the code that
 * `lockstep install` runs too: `npm run manifest`. A test fails if a file is out of date.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import { dashboard } from '../src/deploy/dashboard.ts';
import { manifest, manifestYaml } from '../src/deploy/manifest.ts';
import { monitoring } from '../src/deploy/monitoring.ts';
import { defaultSettings } from '../src/deploy/settings.ts';
import { CONFIGURATION_PAGE, configurationReference } from './configuration-reference.ts';
import { CHART_NAME, chartFiles, valuesReference } from './helm/chart.ts';
import { kustomizeFiles } from './kustomize.ts';

const ROOT = join(import.meta.dirname, '..');

/** In these everything is generated. */
export const GENERATED_DIRECTORIES = [`deploy/helm/${CHART_NAME}`, 'deploy/kustomize'] as const;

const HEADER = '# Made by `npm run manifest`; change src/deploy, not this file.\n';

/** The files of `deploy/` itself, by name: those that `kubectl` and Grafana read. */
export function deployFiles(): ReadonlyMap<string, string> {
  const settings = defaultSettings(packageJson.version);
  return new Map([
    ['lockstep.yaml', HEADER + manifestYaml(manifest(settings))],
    ['monitoring.yaml', HEADER + manifestYaml(monitoring(settings))],
    ['grafana-dashboard.json', `${JSON.stringify(dashboard(), undefined, 2)}\n`],
  ]);
}

/** All generated files by path, those for Helm and Kustomize among them. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const kustomize = [...kustomizeFiles(defaultSettings(packageJson.version))];
  const below = (directory: string, files: Iterable<readonly [string, string]>) =>
    [...files].map(([path, text]) => [`${directory}/${path}`, text] as const);
  return new Map([
    ...below('deploy', deployFiles()),
    ...below(
      'deploy',
      kustomize.map(([path, text]) => [path, HEADER + text] as const),
    ),
    ...below(`deploy/helm/${CHART_NAME}`, chartFiles()),
    ['docs/reference/helm.md', valuesReference()],
    [CONFIGURATION_PAGE, configurationReference()],
  ]);
}

if (process.argv[1] === import.meta.filename) {
  for (const directory of GENERATED_DIRECTORIES)
    rmSync(join(ROOT, directory), { recursive: true, force: true });
  for (const [path, text] of generatedFiles()) {
    const file = join(ROOT, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
