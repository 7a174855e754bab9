/**
 * Writes the files in `deploy/`, from the code that `lockstep install` runs too: `npm run
 * manifest`. A test fails if a file is out of date.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import { dashboard } from '../src/deploy/dashboard.ts';
import { manifest, manifestYaml } from '../src/deploy/manifest.ts';
import { monitoring } from '../src/deploy/monitoring.ts';
import { defaultSettings } from '../src/deploy/settings.ts';

export const DEPLOY_DIRECTORY = join(import.meta.dirname, '../deploy');

const HEADER = '# Made by `npm run manifest`; change src/deploy, not this file.\n';

/** The files of `deploy/` by name. */
export function deployFiles(): ReadonlyMap<string, string> {
  const settings = defaultSettings(packageJson.version);
  return new Map([
    ['lockstep.yaml', HEADER + manifestYaml(manifest(settings))],
    ['monitoring.yaml', HEADER + manifestYaml(monitoring(settings))],
    ['grafana-dashboard.json', `${JSON.stringify(dashboard(), undefined, 2)}\n`],
  ]);
}

if (process.argv[1] === import.meta.filename) {
  for (const [name, text] of deployFiles()) writeFileSync(join(DEPLOY_DIRECTORY, name), text);
}
