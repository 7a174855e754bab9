/** The programs of a node besides the control plane's, from published Go modules. */
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KUBERNETES_VERSIONS, kubernetesProgram } from '../control-plane/build.ts';
import { buildProgram, type GoProgram, isProgramBuilt, moduleFileFor } from '../go-program.ts';

const CONTAINERD_VERSION = 'v2.1.9';
const RUNC_VERSION = 'v1.3.3';
const CNI_VERSION = 'v1.8.0';

const CONTAINERD = 'github.com/containerd/containerd/v2';
const RUNC = 'github.com/opencontainers/runc';
const CNI = 'github.com/containernetworking/plugins';

const KUBE = kubernetesProgram('kubenode', sourceOf('kube'), KUBERNETES_VERSIONS[0]);

const WORKER: GoProgram = {
  name: 'worker',
  version: 'v1',
  main: { file: sourceOf('worker') },
  variables: {},
  cgo: 'Off',
  moduleFile: () => Promise.resolve('module program\ngo 1.24\n'),
};

const RUNC_PROGRAM: GoProgram = {
  name: 'runc',
  version: RUNC_VERSION,
  main: { package: RUNC },
  variables: { 'main.version': RUNC_VERSION.slice(1) },
  tags: ['seccomp', 'netgo', 'osusergo'],
  cgo: 'Static',
  moduleFile: () => moduleFileFor(RUNC, RUNC_VERSION),
};

/** The container runtime finds them by these names. */
const CONTAINERD_PROGRAMS = ['containerd', 'containerd-shim-runc-v2', 'ctr'].map(
  (name): GoProgram => ({
    name,
    version: CONTAINERD_VERSION,
    main: { package: `${CONTAINERD}/cmd/${name}` },
    variables: { [`${CONTAINERD}/version.Version`]: CONTAINERD_VERSION.slice(1) },
    // Snapshotters for file systems that need libraries of C.
    tags: ['no_btrfs', 'no_devmapper', 'no_zfs'],
    cgo: 'Off',
    moduleFile: () => moduleFileFor(CONTAINERD, CONTAINERD_VERSION),
  }),
);

const CNI_PLUGINS = ['main/ptp', 'main/loopback', 'ipam/host-local'].map(
  (path): GoProgram => ({
    name: path.replace(/.*\//, ''),
    version: CNI_VERSION,
    main: { package: `${CNI}/plugins/${path}` },
    variables: {},
    cgo: 'Off',
    moduleFile: () => moduleFileFor(CNI, CNI_VERSION),
  }),
);

const ALL = [WORKER, RUNC_PROGRAM, ...CONTAINERD_PROGRAMS, ...CNI_PLUGINS, KUBE];

/** By name, where each program is. */
export type NodePrograms = ReadonlyMap<string, string>;

/** Whether nothing is left to build, so that neither Go nor the network is needed. */
export function areNodeProgramsBuilt(): boolean {
  return ALL.every(isProgramBuilt);
}

/** Builds what the cache lacks. The result has `kubelet` and `kube-proxy` too. */
export async function buildNodePrograms(report: (message: string) => void): Promise<NodePrograms> {
  const paths = new Map<string, string>();
  for (const program of ALL) {
    paths.set(program.name, join(await buildProgram(program, report), program.name));
  }
  for (const name of ['kubelet', 'kube-proxy']) {
    const path = join(pathIn(paths, KUBE.name), '..', name);
    if (!existsSync(path)) symlinkSync(KUBE.name, path);
    paths.set(name, path);
  }
  return paths;
}

export function pathIn(programs: NodePrograms, name: string): string {
  const path = programs.get(name);
  if (path === undefined) throw new Error(`${name} is not built`);
  return path;
}

function sourceOf(name: string): string {
  return fileURLToPath(new URL(`${name}/main.go`, import.meta.url));
}
