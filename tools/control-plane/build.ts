/**
 * Builds a Kubernetes control plane from its published Go modules: the three processes as one
 * binary, and etcd as another.
 */
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stagingVersion } from '../go-module.ts';
import { buildProgram, type GoProgram, isProgramBuilt, moduleFileFor } from '../go-program.ts';

/** Kubernetes versions that Lockstep is tested with, the default first. */
export const KUBERNETES_VERSIONS = ['1.36.3', '1.35.4', '1.34.4'] as const;
export type KubernetesVersion = (typeof KUBERNETES_VERSIONS)[number];

/** By name, for the API server and the scheduler. */
export type FeatureGates = Readonly<Record<string, boolean>>;

/** Features that restarts in place need, where they are off by default. */
export const FEATURE_GATES: Readonly<Record<KubernetesVersion, FeatureGates>> = {
  '1.36.3': {},
  '1.35.4': { NodeDeclaredFeatures: true, RestartAllContainersOnContainerExits: true },
  '1.34.4': {},
};

/** An API that is off by default, with the gates of its fields. */
export interface AlphaApi {
  readonly groupVersion: string;
  readonly featureGates: FeatureGates;
}

/** What the API server serves besides. Nothing acts on it: the other processes do not have these gates. */
export const ALPHA_APIS: Readonly<Partial<Record<KubernetesVersion, AlphaApi>>> = {
  '1.36.3': {
    groupVersion: 'scheduling.k8s.io/v1alpha2',
    featureGates: {
      DRAWorkloadResourceClaims: true,
      GangScheduling: true,
      GenericWorkload: true,
      TopologyAwareWorkloadScheduling: true,
      WorkloadAwarePreemption: true,
    },
  },
};
const COMPONENTS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/** Paths of programs. */
export type Binaries = Readonly<Record<(typeof COMPONENTS)[number] | 'etcd', string>>;

const ETCD: GoProgram = {
  name: 'etcd',
  version: 'v3.6.8',
  main: { file: sourceOf('etcd') },
  variables: {},
  moduleFile: () => moduleFileFor('go.etcd.io/etcd/server/v3', ETCD.version),
};

/** Whether nothing is left to build, so that neither Go nor the network is needed. */
export function isBuilt(version: string): boolean {
  return isProgramBuilt(controlPlane(version)) && isProgramBuilt(ETCD);
}

/** Builds what the cache lacks; `report` is called before each long build. */
export async function buildControlPlane(
  version: string,
  report: (message: string) => void,
): Promise<Binaries> {
  const kube = await buildProgram(controlPlane(version), report);
  const etcd = await buildProgram(ETCD, report);
  const path = (name: string): string => join(kube, name);
  for (const name of COMPONENTS) if (!existsSync(path(name))) symlinkSync('kube', path(name));
  return {
    'kube-apiserver': path('kube-apiserver'),
    'kube-controller-manager': path('kube-controller-manager'),
    'kube-scheduler': path('kube-scheduler'),
    etcd: join(etcd, 'etcd'),
  };
}

function sourceOf(name: string): string {
  return fileURLToPath(new URL(`${name}/main.go`, import.meta.url));
}

function controlPlane(version: string): GoProgram {
  return kubernetesProgram('kube', sourceOf('kube'), version);
}

/**
 * A program of ours that consists of Kubernetes' own. Its staging modules are the published ones, and
 * its variables hold the version.
 */
export function kubernetesProgram(
  name: string,
  file: string,
  kubernetesVersion: string,
): GoProgram {
  const version = `v${kubernetesVersion}`;
  const [major = '', minor = ''] = kubernetesVersion.split('.');
  const variables = { gitVersion: version, gitMajor: major, gitMinor: minor };
  return {
    name,
    version,
    main: { file },
    variables: Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [
        `k8s.io/component-base/version.${name}`,
        value,
      ]),
    ),
    moduleFile: () =>
      moduleFileFor('k8s.io/kubernetes', version, (text) =>
        publishedModules(text, stagingVersion(kubernetesVersion)),
      ),
  };
}

/**
 * Kubernetes' own module file replaces its staging modules by directories; each is also published,
 * as v0.X.Y for Kubernetes v1.X.Y.
 */
function publishedModules(text: string, version: string): readonly string[] {
  const staged = [...text.matchAll(/(\S+) => \.\/staging\/\S+/g)].map(([, name]) => name);
  return staged.map((name) => `replace ${name} => ${name} ${version}`);
}
