/**
 * Makes the images of the operator and of the agent, without a container daemon:
 *
 *   npm run image [-- --output DIRECTORY]        archives for `ctr images import` and `docker load`
 *   npm run image -- --root agent DIRECTORY      the files of one image, for a Dockerfile
 *
 * They hold the Node that runs this, so they are for machines of this architecture.
 */
import { parseArgs } from 'node:util';
import { writeArchives } from './archives.ts';
import { IMAGE_NAMES, imageSources } from './images.ts';
import { writeRoot } from './root-directory.ts';

const EXIT_USAGE = 2;
const BYTES_PER_MB = 1_000_000;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { output: { type: 'string', default: 'release' }, root: { type: 'string' } },
    allowPositionals: true,
  });
  if (values.root === undefined && positionals.length === 0) return writeAll(values.output);
  const [directory] = positionals;
  const source = (await imageSources()).find(({ name }) => name === values.root);
  if (source === undefined || directory === undefined || positionals.length > 1) {
    process.stderr.write(
      `expected --output DIRECTORY, or --root IMAGE DIRECTORY with IMAGE one of ${IMAGE_NAMES.join(', ')}\n`,
    );
    return EXIT_USAGE;
  }
  writeRoot(directory, source.layers);
  return 0;
}

async function writeAll(directory: string): Promise<number> {
  for (const { path, reference, digest, archiveBytes, contentBytes } of await writeArchives(
    directory,
  )) {
    const size = `${megabytes(contentBytes)}, ${megabytes(archiveBytes)} compressed`;
    process.stdout.write(`${path}: ${reference}, ${size}, ${digest}\n`);
  }
  return 0;
}

function megabytes(bytes: number): string {
  return `${(bytes / BYTES_PER_MB).toFixed(1)} MB`;
}
