/**
 * Makes the images of the operator and of the agent, without a container daemon:
 *
 *   npm run image [-- --output DIRECTORY]        archives for `ctr images import` and `docker load`
 *   npm run image -- --root agent DIRECTORY      the files of one image, for a Dockerfile
 *
 * They hold the Node that `tools/node-release.ts` pins, for machines of this architecture.
 */
import { parseArgs } from 'node:util';
import { NodeReleaseError } from '../node-release.ts';
import { writeArchives } from './archives.ts';
import { ImageError } from './image-error.ts';
import { IMAGE_NAMES, type ImageName, imageSources } from './images.ts';
import { writeRoot } from './root-directory.ts';

const EXIT_FAILURE = 1;
const DEFAULT_DIRECTORY = 'release';
const EXIT_USAGE = 2;
const BYTES_PER_MB = 1_000_000;

process.exitCode = await main().catch(told);

async function main(): Promise<number> {
  const order = parseOrder();
  switch (order.kind) {
    case 'Archives':
      return writeAll(order.directory);
    case 'Root': {
      const sources = await imageSources();
      const layers = sources.find(({ name }) => name === order.image)?.layers ?? [];
      writeRoot(order.directory, layers);
      return 0;
    }
    case 'Error':
      process.stderr.write(`image: ${order.problem}\n`);
      return EXIT_USAGE;
  }
}

function told(error: unknown): number {
  if (!(error instanceof ImageError || error instanceof NodeReleaseError)) throw error;
  process.stderr.write(`image: ${error.message}\n`);
  return EXIT_FAILURE;
}

type Order =
  | { readonly kind: 'Archives'; readonly directory: string }
  | { readonly kind: 'Root'; readonly image: ImageName; readonly directory: string }
  | { readonly kind: 'Error'; readonly problem: string };

function parseOrder(): Order {
  try {
    const { values, positionals } = parseArgs({
      options: { output: { type: 'string' }, root: { type: 'string' } },
      allowPositionals: true,
    });
    const { output, root } = values;
    const [directory, ...others] = positionals;
    const image = IMAGE_NAMES.find((name) => name === root);
    if (root === undefined && directory === undefined) {
      return { kind: 'Archives', directory: output ?? DEFAULT_DIRECTORY };
    }
    if (image !== undefined && directory !== undefined && others.length === 0) {
      return { kind: 'Root', image, directory };
    }
    const images = IMAGE_NAMES.join(' or ');
    return { kind: 'Error', problem: `expected --output DIRECTORY, or --root ${images} DIRECTORY` };
  } catch (error) {
    return { kind: 'Error', problem: error instanceof Error ? error.message : String(error) };
  }
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
