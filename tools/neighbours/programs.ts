/**
 * The controllers that share a cluster with Lockstep, built from their published Go modules, and the
 * one place that says which versions of them are tested.
 */
import { join } from 'node:path';
import { downloadGoModule } from '../go-module.ts';
import { buildProgram, type GoProgram, isProgramBuilt, moduleFileFor } from '../go-program.ts';

const MODULES = {
  jobset: { path: 'sigs.k8s.io/jobset', version: 'v0.12.0' },
  kueue: { path: 'sigs.k8s.io/kueue', version: 'v0.19.0' },
  trainer: { path: 'github.com/kubeflow/trainer/v2', version: 'v2.3.0' },
} as const;

interface Neighbour {
  readonly name: string;
  readonly module: (typeof MODULES)[keyof typeof MODULES];
  /** The folder of the program in its module. */
  readonly program: string;
  /** The folder of what its own installation applies. */
  readonly manifests?: string;
}

const NEIGHBOURS: readonly Neighbour[] = [
  { name: 'jobset', module: MODULES.jobset, program: '', manifests: 'config/components' },
  { name: 'jobset-agent', module: MODULES.jobset, program: '/cmd/in-place-restart-agent' },
  {
    name: 'trainer',
    module: MODULES.trainer,
    program: '/cmd/trainer-controller-manager',
    manifests: 'manifests/base',
  },
  { name: 'kueue', module: MODULES.kueue, program: '/cmd/kueue', manifests: 'config/components' },
];

/** The version of upstream's own JobSets, without a `v`. */
export const UPSTREAM_VERSION: string = MODULES.jobset.version.slice(1);

/** Upstream's own JobSets: the controller and the agent. */
export const JOBSET_PROGRAMS: readonly string[] = ['jobset', 'jobset-agent'];

const ALL: readonly string[] = NEIGHBOURS.map(({ name }) => name);

/** Whether nothing is left to build, so that neither Go nor the network is needed. */
export function areNeighboursBuilt(names = ALL): boolean {
  return chosen(names).every((each) => isProgramBuilt(programOf(each)));
}

/** Builds what the cache lacks; the directory of each by name, with the program and its `manifests`. */
export async function buildNeighbours(
  report: (message: string) => void,
  names = ALL,
): Promise<Readonly<Record<string, string>>> {
  const directories: Record<string, string> = {};
  for (const each of chosen(names)) {
    directories[each.name] = await buildProgram(programOf(each), report);
  }
  return directories;
}

function chosen(names: readonly string[]): readonly Neighbour[] {
  return NEIGHBOURS.filter(({ name }) => names.includes(name));
}

function programOf({ name, module, program, manifests }: Neighbour): GoProgram {
  const { path, version } = module;
  return {
    name,
    version,
    main: { package: `${path}${program}` },
    variables: {},
    moduleFile: () => moduleFileFor(path, version),
    ...(manifests === undefined
      ? {}
      : { manifests: async () => join((await downloadGoModule(path, version)).Dir, manifests) }),
  };
}
