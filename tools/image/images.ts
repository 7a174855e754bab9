/** The images of Lockstep: what each holds besides Node, and how it starts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import packageJson from '../../package.json' with { type: 'json' };
import { defaultSettings } from '../../src/deploy/settings.ts';
import { AGENT_NODE, AGENT_SCRIPT, AGENT_TREE } from '../../src/jobset/injection/agent-tree.ts';
import { AGENT_COMMAND } from '../../src/jobset/names.ts';
import { defaultAgentImage } from '../../src/operator/configuration/object-names.ts';
import { licensesOf, packagesIn } from '../bundled-packages.ts';
import { pinnedNode } from '../node-release.ts';
import { nodeRuntime, parentsOf, USER_ID } from './node-runtime.ts';
import {
  type Architecture,
  compressedLayer,
  type Image,
  type Layer,
  machineArchitecture,
} from './oci-archive.ts';
import type { TarEntry } from './tar.ts';

export type ImageName = 'operator' | 'agent';

export const IMAGE_NAMES: readonly ImageName[] = ['operator', 'agent'];

export interface ImageSource {
  readonly name: ImageName;
  /** `REPOSITORY:TAG` */
  readonly reference: string;
  /** The files of each layer, from below to above. */
  readonly layers: readonly (readonly TarEntry[])[];
}

/** Both images, with one lowest layer: the pinned Node. */
export async function imageSources(
  architecture: Architecture = machineArchitecture(),
): Promise<readonly ImageSource[]> {
  const { operatorImage } = defaultSettings(packageJson.version);
  const agentImage = defaultAgentImage(packageJson.version);
  const runtime = nodeRuntime(pinnedNode(PLATFORMS[architecture]), architecture);
  const [operator, agent] = await Promise.all([
    programLayer(PROGRAMS.operator, 'lockstep/operator.js', {
      'lockstep/operator.js': 'src/operator/main.ts',
      'lockstep/review-thread.js': 'src/operator/review-thread/main.ts',
    }),
    programLayer(PROGRAMS.agent, AGENT_SCRIPT, { [AGENT_SCRIPT]: 'src/agent/main.ts' }),
  ]);
  return [
    { name: 'operator', reference: operatorImage, layers: [runtime, operator] },
    { name: 'agent', reference: agentImage, layers: [runtime, agent] },
  ];
}

/** As Node names them. */
const PLATFORMS: Readonly<Record<Architecture, string>> = {
  amd64: 'linux-x64',
  arm64: 'linux-arm64',
};

/** `level`: compression from 1 (fast) to 9 (small). A shared layer is compressed once. */
export function imagesOf(
  sources: readonly ImageSource[],
  level: number,
  architecture: Architecture,
): readonly Image[] {
  const compressed = new Map<readonly TarEntry[], Layer>();
  for (const entries of sources.flatMap(({ layers }) => layers)) {
    if (!compressed.has(entries)) compressed.set(entries, compressedLayer(entries, level));
  }
  return sources.map(({ name, reference, layers }) => ({
    name: reference,
    version: packageJson.version,
    architecture,
    layers: layers.flatMap((entries) => compressed.get(entries) ?? []),
    ...startOf(name),
  }));
}

/** How containers of an image start. */
export function startOf(name: ImageName): Pick<Image, 'entrypoint' | 'env' | 'user'> {
  return {
    entrypoint: [`/${AGENT_TREE.programs}/${PROGRAMS[name]}`],
    env: [`PATH=/${AGENT_TREE.programs}`],
    user: `${USER_ID}:${USER_ID}`,
  };
}

/** The programs by the names under which containers start them. */
const PROGRAMS: Readonly<Record<ImageName, string>> = {
  operator: 'lockstep-operator',
  agent: AGENT_COMMAND,
};

const ROOT = join(import.meta.dirname, '../..');

async function programLayer(
  program: string,
  script: string,
  entryPoints: Readonly<Record<string, string>>,
): Promise<readonly TarEntry[]> {
  const start = `#!/${AGENT_NODE}\nimport '/${script}';\n`;
  const bundles = await Promise.all(
    Object.entries(entryPoints).map(async ([path, entryPoint]) => ({
      path,
      ...(await bundle(entryPoint)),
    })),
  );
  const packages = packagesIn(bundles.map(({ metafile }) => metafile));
  const files: readonly TarEntry[] = [
    file(`${AGENT_TREE.programs}/${program}`, start, 0o755),
    ...bundles.map(({ path, text }) => file(path, text, 0o644)),
    file(`${AGENT_TREE.root}/package.json`, '{"type":"module"}\n', 0o644),
    file(`${AGENT_TREE.root}/LICENSE`, readFileSync(join(ROOT, 'LICENSE'), 'utf8'), 0o644),
    file(`${AGENT_TREE.root}/LICENSES`, await licensesOf(packages), 0o644),
  ];
  return [...parentsOf(files), ...files];
}

/** One file with all its dependencies, because an image has no `node_modules`. */
async function bundle(
  entryPoint: string,
): Promise<{ readonly text: string; readonly metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entryPoint],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    minify: true,
    logLevel: 'warning',
    banner: { js: REQUIRE },
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`${entryPoint} gave no bundle`);
  return { text: output.text, metafile };
}

/** CommonJS dependencies load Node's modules by `require`, which ES modules lack. */
const REQUIRE =
  "import { createRequire as lockstepRequire } from 'node:module'; const require = lockstepRequire(import.meta.url);";

function file(path: string, text: string, mode: number): TarEntry {
  return { kind: 'File', path, mode, content: Buffer.from(text) };
}
