/**
 * Builds a Kubernetes control plane from its published Go modules: the three processes as one
 * binary, and etcd as another. That takes minutes once; the result is kept by version in the user's
 * cache.
 */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDirectory } from '../cache-directory.ts';
import { downloadGoModule, go, stagingVersion } from '../go-module.ts';

/** Kubernetes versions that Lockstep is tested with, the default first. */
export const KUBERNETES_VERSIONS = ['1.36.3', '1.35.4', '1.34.4'] as const;
type KubernetesVersion = (typeof KUBERNETES_VERSIONS)[number];

/** By name, for the API server and the scheduler. */
export type FeatureGates = Readonly<Record<string, boolean>>;

/** Features that restarts in place need, where they are off by default. */
export const FEATURE_GATES: Readonly<Record<KubernetesVersion, FeatureGates>> = {
  '1.36.3': {},
  '1.35.4': { NodeDeclaredFeatures: true, RestartAllContainersOnContainerExits: true },
  '1.34.4': { ContainerRestartRules: true },
};
const ETCD_VERSION = '3.6.8';
const COMPONENTS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/** Paths of programs. */
export type Binaries = Readonly<Record<(typeof COMPONENTS)[number] | 'etcd', string>>;

/** Whether nothing is left to build, so that neither Go nor the network is needed. */
export function isBuilt(version: string): boolean {
  const kube = existsSync(join(cacheOf('kube', `v${version}`), 'kube'));
  return kube && existsSync(join(cacheOf('etcd', `v${ETCD_VERSION}`), 'etcd'));
}

/** Builds what the cache lacks; `report` is called before each long build. */
export async function buildControlPlane(
  version: string,
  report: (message: string) => void,
): Promise<Binaries> {
  const kube = await built('kube', `v${version}`, kubernetesModule, report);
  const etcd = await built('etcd', `v${ETCD_VERSION}`, etcdModule, report);
  const path = (name: string): string => join(kube, name);
  for (const name of COMPONENTS) if (!existsSync(path(name))) symlinkSync('kube', path(name));
  return {
    'kube-apiserver': path('kube-apiserver'),
    'kube-controller-manager': path('kube-controller-manager'),
    'kube-scheduler': path('kube-scheduler'),
    etcd: join(etcd, 'etcd'),
  };
}

/** The directory that holds the program `name`, which is built if it is missing. */
async function built(
  name: string,
  version: string,
  goModule: (version: string) => Promise<string>,
  report: (message: string) => void,
): Promise<string> {
  const target = cacheOf(name, version);
  if (existsSync(join(target, name))) return target;
  const cache = dirname(target);
  report(`building ${name} ${version}; this takes some minutes, once`);
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'build-'));
  try {
    copyFileSync(sourceOf(name), join(directory, 'main.go'));
    writeFileSync(join(directory, 'go.mod'), await goModule(version));
    await go(directory, 'build', '-ldflags', linkerFlags(version), '-o', name, '.');
    // The rename makes it complete or absent; another build may have been quicker.
    if (!existsSync(target)) renameSync(directory, target);
    return target;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function sourceOf(name: string): string {
  return fileURLToPath(new URL(`${name}/main.go`, import.meta.url));
}

/** The path of the program, built or not; each source has its own path. */
function cacheOf(name: string, version: string): string {
  const source = readFileSync(sourceOf(name));
  const hash = createHash('sha256').update(source).digest('hex').slice(0, 8);
  return join(cacheDirectory(), `${name}-${version}-${hash}`);
}

/**
 * Leaves out symbols, and sets the variables that hold Kubernetes' version, as its release does.
 */
function linkerFlags(version: string): string {
  const [major = '', minor = ''] = version.slice(1).split('.');
  const variables = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const settings = Object.entries(variables).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return ['-s', '-w', ...settings].join(' ');
}

/**
 * A module file whose staging modules are the published ones. Kubernetes' own module file replaces
 * them by directories; each is also published, as v0.X.Y for Kubernetes v1.X.Y.
 */
async function kubernetesModule(version: string): Promise<string> {
  const text = await moduleFile('k8s.io/kubernetes', version);
  const language = /^go .*$/m.exec(text)?.[0] ?? '';
  const staged = [...text.matchAll(/(\S+) => \.\/staging\/\S+/g)].map(([, name]) => name);
  const published = stagingVersion(version.slice(1));
  return [
    'module control-plane',
    language,
    `require k8s.io/kubernetes ${version}`,
    ...staged.map((name) => `replace ${name} => ${name} ${published}`),
    '',
  ].join('\n');
}

async function etcdModule(version: string): Promise<string> {
  const name = 'go.etcd.io/etcd/server/v3';
  const text = await moduleFile(name, version);
  const language = /^go .*$/m.exec(text)?.[0] ?? '';
  return ['module control-plane', language, `require ${name} ${version}`, ''].join('\n');
}

async function moduleFile(name: string, version: string): Promise<string> {
  const { GoMod } = await downloadGoModule(name, version);
  return readFileSync(GoMod, 'utf8');
}
