/** Loads kubeconfig files from disk. */
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import {
  type AccessCredentials,
  type ClusterAccess,
  ClusterAccessError,
} from '../credentials/cluster-access.ts';
import type { ExecCluster } from '../credentials/exec-credential.ts';
import {
  accessOf,
  type ContextCredentials,
  type Kubeconfig,
  mergeKubeconfigs,
  parseKubeconfig,
} from '../credentials/kubeconfig.ts';
import type { PemSource } from '../credentials/kubeconfig-map.ts';
import { pluginCredentials } from '../credentials/plugin-credentials.ts';
import { nodeClock } from './node-clock.ts';
import { createNodeProcessRunner } from './node-process-runner.ts';
import { isKeyPair } from './tls/certificates.ts';

type KubeconfigPlaces = Pick<KubeconfigFilesOptions, 'path' | 'env' | 'homeDirectory'>;

export interface KubeconfigFilesOptions {
  /** The value of `--kubeconfig`: this file alone, which must exist. */
  readonly path?: string | undefined;
  /** Instead of the current context. */
  readonly context?: string | undefined;
  /** The environment of this process, which names files and is passed to credential plugins. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  /** Called while a credential plugin takes long. */
  readonly onSlow?: (what: string) => void;
}

/**
 * Loads the files that kubectl would use: the given one, the files of `KUBECONFIG`, or
 * `~/.kube/config`. Rejects with `ClusterAccessError`.
 */
export async function loadKubeconfig(options: KubeconfigFilesOptions): Promise<ClusterAccess> {
  const { files, configs } = await readConfigs(options);
  const where = files.join(delimiter);
  if (configs.length === 0) {
    throw new ClusterAccessError(
      `${where}: no such file; --kubeconfig or KUBECONFIG names another`,
    );
  }
  const access = accessOf(mergeKubeconfigs(configs), where, options.context);
  const [certificateAuthority, clientCertificate, clientKey] = await Promise.all([
    readPem(access.certificateAuthority),
    readPem(access.clientCertificate),
    readPem(access.clientKey),
  ]);
  const { server, serverName, insecureSkipVerify, namespace, credentials, pluginConfig } = access;
  const tls = { certificateAuthority, serverName, insecureSkipVerify };
  const shown = { server, ...tls, config: pluginConfig };
  return {
    server,
    tls: { ...tls, clientCertificate, clientKey },
    ...(credentials === undefined ? {} : { credentials: usable(credentials, shown, options) }),
    namespace,
    context: access.context,
  };
}

/** The names of all contexts. Rejects as `loadKubeconfig` does; files that may be absent have none. */
export async function kubeconfigContexts(options: KubeconfigPlaces): Promise<readonly string[]> {
  const { configs } = await readConfigs(options);
  return [...mergeKubeconfigs(configs).contexts.keys()];
}

async function readConfigs(options: KubeconfigPlaces): Promise<{
  readonly files: readonly string[];
  readonly configs: readonly Kubeconfig[];
}> {
  const { files, mayBeAbsent } = candidates(options);
  const all = await Promise.all(files.map((file) => readConfig(file, mayBeAbsent)));
  return { files, configs: all.filter((config) => config !== undefined) };
}

/** Gives a plugin its credential source, with what this process can offer it. */
function usable(
  credentials: ContextCredentials,
  cluster: ExecCluster,
  { env, onSlow }: KubeconfigFilesOptions,
): AccessCredentials {
  if (!('plugin' in credentials)) return credentials;
  const { plugin } = credentials;
  const source = pluginCredentials({
    plugin,
    cluster,
    processes: createNodeProcessRunner(),
    clock: nodeClock,
    env,
    workingDirectory: process.cwd(),
    hasTerminal: process.stdin.isTTY === true,
    isKeyPair,
    onSlow,
  });
  return { plugin, source };
}

function candidates(options: KubeconfigPlaces): {
  readonly files: readonly string[];
  readonly mayBeAbsent: boolean;
} {
  if (options.path !== undefined) return { files: [options.path], mayBeAbsent: false };
  const listed = (options.env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  const files = listed.length > 0 ? listed : [join(options.homeDirectory, '.kube', 'config')];
  return { files, mayBeAbsent: true };
}

async function readConfig(file: string, mayBeAbsent: boolean): Promise<Kubeconfig | undefined> {
  const text = await readText(file, mayBeAbsent);
  if (text === undefined) return undefined;
  return parseKubeconfig(text, file, (path) => resolve(dirname(file), path));
}

async function readPem(source: PemSource | undefined): Promise<string | undefined> {
  if (source === undefined) return undefined;
  if ('pem' in source) return source.pem;
  const pem = await readText(source.file, false);
  if (pem?.includes('-----BEGIN ') === true) return pem;
  throw new ClusterAccessError(`${source.file}: must be a PEM file`);
}

async function readText(file: string, mayBeAbsent: boolean): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (mayBeAbsent && code === 'ENOENT') return undefined;
    throw new ClusterAccessError(`${file}: cannot be read: ${message}`, { cause: error });
  }
}
