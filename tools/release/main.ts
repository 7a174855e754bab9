/**
 * Makes a release of the version in `package.json`: `npm run release -- --dry-run [--output
 * DIRECTORY] [--base-url ADDRESS]` writes its files, for this machine's architecture. Publishing is not configured.
 */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { COMPRESSION_LEVEL } from '../image/archives.ts';
import { ImageError } from '../image/image-error.ts';
import { NodeReleaseError } from '../node-release.ts';
import { baseUrlProblem } from './krew.ts';
import { ReleaseError, writeRelease } from './release.ts';

const EXIT_REFUSED = 1;
const EXIT_USAGE = 2;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = flags();
  if (typeof options === 'string') {
    process.stderr.write(`release: ${options}\n`);
    return EXIT_USAGE;
  }
  if (!options.isDryRun) {
    process.stderr.write(
      `release: ${packageJson.version} is not published: no place for its package and its images is configured. ` +
        '--dry-run makes its files.\n',
    );
    return EXIT_REFUSED;
  }
  try {
    execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
    for (const name of await writeRelease(options.output, COMPRESSION_LEVEL, options.baseUrl)) {
      const path = join(options.output, name);
      process.stdout.write(`${path}: ${statSync(path).size} bytes\n`);
    }
    return 0;
  } catch (error) {
    const isRefusal = error instanceof ReleaseError || error instanceof ImageError;
    if (!(isRefusal || error instanceof NodeReleaseError)) throw error;
    process.stderr.write(`release: ${error.message}\n`);
    return EXIT_REFUSED;
  }
}

/** The flags, or what is wrong with them. */
function flags():
  | { readonly isDryRun: boolean; readonly output: string; readonly baseUrl: string | undefined }
  | string {
  try {
    const { values } = parseArgs({
      options: {
        'dry-run': { type: 'boolean', default: false },
        'base-url': { type: 'string' },
        output: { type: 'string', default: join('release', packageJson.version) },
      },
    });
    const { output, 'base-url': baseUrl } = values;
    const problem = baseUrl === undefined ? undefined : baseUrlProblem(baseUrl);
    return problem ?? { isDryRun: values['dry-run'], output, baseUrl };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
