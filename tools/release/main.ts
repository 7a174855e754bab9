/**
 * Makes all files of a release of the version in `package.json`:
 *
 *   npm run release [-- --output DIRECTORY] [--architecture amd64 --architecture arm64] [--base-url ADDRESS]
 *
 * The images are for both architectures by default. `.github/workflows/release.yml` uploads and signs.
 */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { COMPRESSION_LEVEL } from '../image/archives.ts';
import { ImageError } from '../image/image-error.ts';
import { ARCHITECTURES, type Architecture } from '../image/oci-archive.ts';
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
  const { output, architectures, baseUrl } = options;
  try {
    execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
    for (const name of await writeRelease(output, COMPRESSION_LEVEL, architectures, baseUrl)) {
      const path = join(output, name);
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
  | {
      readonly output: string;
      readonly architectures: readonly Architecture[];
      readonly baseUrl: string | undefined;
    }
  | string {
  try {
    const { values } = parseArgs({
      options: {
        architecture: { type: 'string', multiple: true, default: [...ARCHITECTURES] },
        'base-url': { type: 'string' },
        output: { type: 'string', default: join('release', packageJson.version) },
      },
    });
    const { output, 'base-url': baseUrl } = values;
    const architectures = ARCHITECTURES.filter((each) => values.architecture.includes(each));
    const wrong = values.architecture.find((each) => !architectures.some((one) => one === each));
    if (wrong !== undefined) {
      return `--architecture is "${wrong}", allowed are ${ARCHITECTURES.join(', ')}`;
    }
    const problem = baseUrl === undefined ? undefined : baseUrlProblem(baseUrl);
    return problem ?? { output, architectures, baseUrl };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
