/**
 * Tests the shape of the tree that ARCHITECTURE.md draws. A folder imports only what stands to its
 * left, and no files import each other in a circle. The core is pure, and only shells touch the
 * system. Others enter the embedded Kubernetes by its doors, and programs in users' clusters do not
 * contain it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { AGENT_BUNDLE, OPERATOR_BUNDLES } from './bundles.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Folders with sources, below the root, and by which name the tests of this file know them. The first match counts. */
const TREES = [
  ['packages/kube/src/runtime/', 'runtime/'],
  ['packages/kube/src/', 'kube/'],
  ['packages/embedded-kubernetes/src/', ''],
  ['src/', ''],
] as const;
const SOURCE_FOLDERS = ['packages/kube/src', 'packages/embedded-kubernetes/src', 'src'];

/** Beyond this many source files a folder is a list, and a newcomer needs rooms. */
const MAX_FILES_PER_FOLDER = 25;
/** A file with fewer lines and a single user belongs into that user. */
const MIN_LINES_OF_A_FILE = 25;
const PURE = ['kube', 'api-machinery', 'jobset'];

const MAY_IMPORT: Record<string, readonly string[]> = {
  kube: ['kube'],
  'api-machinery': ['kube', 'api-machinery'],
  jobset: ['kube', 'jobset'],
  runtime: ['kube', 'runtime'],
  agent: ['kube', 'jobset', 'runtime', 'agent'],
  operator: ['kube', 'jobset', 'runtime', 'operator'],
  cluster: ['kube', 'api-machinery', 'runtime', 'cluster'],
  dashboard: ['kube', 'jobset', 'dashboard'],
  deploy: ['kube', 'jobset', 'runtime', 'operator', 'deploy'],
};
/** The command line, the simulator and the benchmarks drive all the other parts. */
MAY_IMPORT['simulator'] = [...Object.keys(MAY_IMPORT), 'simulator'];
MAY_IMPORT['cli'] = [...Object.keys(MAY_IMPORT), 'cli'].filter((folder) => folder !== 'simulator');
MAY_IMPORT['bench'] = [...Object.keys(MAY_IMPORT), 'bench'];

/** What could run Pods without Lockstep. Not even its tests know what stands to the right of it. */
const STANDALONE = ['kube', 'runtime', 'api-machinery', 'cluster'];
const EMBEDDED_KUBERNETES = /^(api-machinery|cluster)\//;
/** The files that others may import of it, tests included. */
const DOORS = /^cluster\/doors\//;
/** Everything that may import it. */
const ALL_FOLDERS = [...SOURCE_FOLDERS, 'test', 'tools', 'examples'];

/**
 * Parts with many rooms. A room imports the rooms before it and the files beside the rooms, and those
 * files import no room.
 */
const PARTS: readonly {
  readonly part: string;
  readonly rooms: readonly string[];
  /** Files and folders beside the rooms that put them together or serve their ports. No room imports them. */
  readonly heads: readonly string[];
}[] = [
  {
    part: 'jobset',
    rooms: [
      'restart-rules',
      'status',
      'annotations',
      'worker-end',
      'progress',
      'ranks',
      'overrides',
      'injection',
      'child-jobs',
      'policies',
      'roster',
      'epoch',
      'culprits',
      'goodput',
      'hub',
      'schema',
      'validation',
      'plan',
      'view',
    ],
    heads: ['plan.ts', 'admit.ts', 'render.ts'],
  },
  {
    part: 'jobset/plan',
    rooms: ['reports', 'jobs', 'records', 'ending', 'restart'],
    heads: [],
  },
  {
    part: 'cli',
    rooms: [
      'completion',
      'watchdog',
      'node-control',
      'shared-ports',
      'local-cluster',
      'install',
      'jobset-status',
      'jobset-logs',
      'jobset-nodes',
      'jobset-restart',
      'jobset-list',
      'jobset-report',
      'doctor',
      'dashboard',
      'up',
      'demo',
      'command-line',
    ],
    heads: ['main.ts'],
  },
  {
    part: 'operator',
    rooms: [
      'configuration',
      'process',
      'certificates',
      'tracking',
      'pod-placement',
      'hub',
      'reconciling',
      'webhooks',
    ],
    heads: ['main.ts', 'operator.ts', 'adapters', 'review-thread'],
  },
  {
    part: 'cluster/apiserver',
    rooms: [
      'resources',
      'identity',
      'http',
      'webhooks',
      'calls',
      'admission',
      'kinds',
      'verbs',
      'custom-resources',
      'pods',
      'reviews',
      'discovery',
    ],
    heads: [
      'api-server.ts',
      'built-in-kinds.ts',
      'resource-request.ts',
      'subresource.ts',
      'adapters',
      'test-server.ts',
    ],
  },
  {
    part: 'cluster/node',
    rooms: [
      'ports',
      'namespaces',
      'network',
      'log',
      'volume',
      'probe',
      'container',
      'status',
      'pod',
      'streaming',
    ],
    heads: ['node-agent.ts', 'adapters', 'memory'],
  },
];

/** Names that reach around the ports. `new Date(x)` with an argument is arithmetic, not a clock. */
const GLOBALS =
  /(?<![.\w])(Date\.now\(|new Date\(\)|Math\.random\(|setTimeout\(|setInterval\(|setImmediate\(|process\.(env|exit\b|argv|on|once|off|pid|kill|std|cwd|platform|hrtime|memory|cpu)|fetch\(|console\.|crypto\.)/;

interface Source {
  /** Below the root. */
  readonly file: string;
  /** By the names of `TREES`. */
  readonly path: string;
  readonly folder: string;
  readonly text: string;
  readonly imports: readonly string[];
}

/** All sources, apart from tests and what only tests use, or from what `left` matches. */
function sources(
  left = /\.(test|conformance|fixture)\.tsx?$/,
  folders: readonly string[] = SOURCE_FOLDERS,
): readonly Source[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
        join(folder, path),
      ),
    )
    .filter((file) => /\.tsx?$/.test(file) && !file.includes('node_modules/'))
    .filter((file) => !left.test(file))
    .map((file) => {
      const path = pathOf(file);
      const text = readFileSync(join(ROOT, file), 'utf8');
      const imports = [...text.matchAll(/(?:\bfrom|\bimport\(?)\s*'([^']+)'/g)].map(
        (m) => m[1] ?? '',
      );
      return { file, path, folder: path.split('/')[0] ?? '', text, imports };
    });
}

function pathOf(file: string): string {
  const [from = '', to = ''] = TREES.find(([folder]) => file.startsWith(folder)) ?? [];
  return to + file.slice(from.length);
}

/** The files that the packages offer by name: `@lockstep/kube/*`, and the doors. */
const EXPORTS = new Map(
  ['kube', 'embedded-kubernetes'].flatMap((name) => {
    const { exports } = JSON.parse(
      readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'),
    ) as { exports: Record<string, string> };
    return Object.entries(exports).map(([from, to]): [string, string] => [
      join('@lockstep', name, from),
      join('packages', name, to),
    ]);
  }),
);

/** The file below the root that an import means; undefined if it is outside of the project. */
function fileOf({ file }: Source, target: string): string | undefined {
  if (target.startsWith('.')) return join(dirname(file), target);
  const pattern = target.replace(/^(@lockstep\/kube\/).*/, '$1*');
  return EXPORTS.get(pattern)?.replace('*', target.slice(pattern.length - 1));
}

/** The published package or the one under `packages/` that a file belongs to. */
function packageOf(file: string): string {
  return /^packages\/[^/]+/.exec(file)?.[0] ?? '.';
}

/** Adapters, processes' entry points and the command line may touch the system. */
function isShell(source: Source): boolean {
  return (
    source.path.includes('adapters/') ||
    /main\.tsx?$/.test(source.path) ||
    source.folder === 'cli' ||
    source.folder === 'bench'
  );
}

/** The files of the project that a file imports, by the names of `TREES`. */
function importedSources(source: Source): readonly string[] {
  return source.imports.flatMap((target) => {
    const file = fileOf(source, target);
    return file === undefined ? [] : [pathOf(file)];
  });
}

/** Circles of imports, types included: Tarjan's strongly connected components of more than one file. */
function importCircles(all: readonly Source[]): readonly (readonly string[])[] {
  const targets = new Map(all.map((source) => [source.path, importedSources(source)]));
  const order = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (path: string): number => {
    const index = order.size;
    order.set(path, index);
    let low = index;
    open.push(path);
    for (const target of targets.get(path) ?? []) {
      if (!targets.has(target)) continue;
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (open.includes(target)) low = Math.min(low, order.get(target) ?? low);
    }
    if (low === index) {
      const members = open.splice(open.indexOf(path));
      if (members.length > 1) circles.push(members.toSorted());
    }
    return low;
  };
  for (const path of targets.keys()) if (!order.has(path)) visit(path);
  return circles;
}

/** The sources that esbuild puts into bundles, by their paths below the root. */
async function bundledSources(bundle: BuildOptions): Promise<readonly string[]> {
  const { metafile } = await build({ ...bundle, write: false, metafile: true });
  return Object.keys(metafile.inputs);
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '');
}

describe('layers', () => {
  const all = sources();
  const withTests = sources(/(?!)/, ALL_FOLDERS);

  it('reads every folder of src', () => {
    expect(new Set(all.map((source) => source.folder))).toEqual(new Set(Object.keys(MAY_IMPORT)));
    expect(all.length).toBeGreaterThan(100);
    expect(all.map(({ path }) => path)).toContain('dashboard/page/main.tsx');
  });

  it('imports only towards the core', () => {
    const tests = withTests.filter(({ folder }) => STANDALONE.includes(folder));
    const wrong = [...all, ...tests].flatMap((source) =>
      importedSources(source)
        .filter((target) => target !== 'package.json')
        .map((target) => target.split('/')[0])
        .filter((folder) => !(MAY_IMPORT[source.folder] ?? []).includes(folder ?? ''))
        .map((folder) => `${source.path} imports ${folder}`),
    );
    expect(wrong).toEqual([]);
  });

  it('imports another package by its name', () => {
    const wrong = withTests.flatMap((source) =>
      source.imports.flatMap((target) => {
        const file = fileOf(source, target);
        if (file === undefined)
          return target.startsWith('@lockstep/') ? [`${source.file} imports ${target}`] : [];
        const isSame = packageOf(file) === packageOf(source.file);
        return target.startsWith('.') === isSame ? [] : [`${source.file} imports ${target}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('opens the embedded Kubernetes by its doors only', () => {
    const wrong = withTests.flatMap((source) => {
      const isInside = EMBEDDED_KUBERNETES.test(source.path);
      return importedSources(source)
        .filter((target) => EMBEDDED_KUBERNETES.test(target) && DOORS.test(target) === isInside)
        .map((target) => `${source.path} imports ${target}`);
    });
    expect(wrong).toEqual([]);
    expect(withTests.filter(({ path }) => DOORS.test(path))).toHaveLength(6);
  });

  it.each(PARTS)('keeps the rooms of $part in order', ({ part, rooms, heads }) => {
    const names = (path: string): readonly string[] => relative(part, path).split('/');
    const inside = all.filter(({ path }) => path.startsWith(`${part}/`));
    const heightOf = (path: string): number => {
      const [first = ''] = names(path);
      return heads.includes(first) ? rooms.length : rooms.indexOf(first);
    };
    const wrong = inside.flatMap((source) =>
      importedSources(source)
        .filter((target) => heightOf(target) > heightOf(source.path))
        .map((target) => `${source.path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
    const present = new Set(inside.map(({ path }) => names(path)[0] ?? ''));
    const folders = inside.map(({ path }) => names(path)).filter(({ length }) => length > 1);
    const listed = [...rooms, ...heads];
    expect(folders.filter(([folder = '']) => !listed.includes(folder))).toEqual([]);
    expect(listed.filter((name) => !present.has(name))).toEqual([]);
  });

  it('imports Node modules only in shells', () => {
    const wrong = all
      .filter((source) => !isShell(source))
      .flatMap((source) =>
        source.imports
          .filter((target) => target.startsWith('node:'))
          .map((target) => `${source.path} imports ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it('takes time, chance and processes from ports only', () => {
    const wrong = all
      .filter((source) => !isShell(source))
      .flatMap((source) =>
        withoutComments(source.text)
          .split('\n')
          .filter((line) => GLOBALS.test(line))
          .map((line) => `${source.path}: ${line.trim()}`),
      );
    expect(wrong).toEqual([]);
  });

  it('lets no files import each other in a circle', () => {
    expect(importCircles(all)).toEqual([]);
  });

  it('ships nothing of the embedded Kubernetes to clusters', async () => {
    const inputs = [
      ...(await bundledSources({ ...AGENT_BUNDLE })),
      ...(await bundledSources({ ...OPERATOR_BUNDLES })),
    ];
    expect(inputs).toContain('src/operator/main.ts');
    expect(inputs).toContain('src/agent/main.ts');
    const wrong = inputs.filter((path) =>
      /^(packages\/embedded-kubernetes|src\/(cli|bench|simulator))\//.test(path),
    );
    expect(wrong).toEqual([]);
  });

  it('keeps the core synchronous', () => {
    const wrong = all
      .filter(({ folder }) => PURE.includes(folder))
      .filter(({ text }) => /\b(async|await|Promise)\b/.test(withoutComments(text)))
      .map(({ path }) => path);
    expect(wrong).toEqual([]);
  });

  it('has no folder that is too long to read', () => {
    const counts = new Map<string, number>();
    for (const { path } of all) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > MAX_FILES_PER_FOLDER)).toEqual([]);
  });

  it('has no small file with a single user', () => {
    const users = new Map<string, number>();
    const tested = sources(/(?!)/);
    for (const target of tested.flatMap(importedSources)) {
      users.set(target, (users.get(target) ?? 0) + 1);
    }
    const wrong = all
      .filter(({ text }) => text.split('\n').length <= MIN_LINES_OF_A_FILE)
      // A port, an adapter and a step of a plan are seams, however small; an entry point has no user.
      .filter(({ path }) => !/(^|\/)(ports|adapters|plan)\/|main\.tsx?$/.test(path))
      .filter(({ path }) => users.get(path) === 1)
      .map(({ path }) => path);
    expect(wrong).toEqual([]);
  });

  it('names no file after nothing in particular', () => {
    const vague = /(^|\/)(utils?|helpers?|common|misc|types|shared|lib)(\.tsx?|\/)/;
    expect(all.map((source) => source.path).filter((path) => vague.test(path))).toEqual([]);
  });
});
