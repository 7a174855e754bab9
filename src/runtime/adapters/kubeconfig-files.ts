import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { type ClusterAccess, ClusterAccessError } from '../cluster-access.ts';
import { accessOf, type Kubeconfig, mergeKubeconfigs, parseKubeconfig } from '../kubeconfig.ts';
import type { PemSource } from '../kubeconfig-map.ts';

export interface KubeconfigFilesOptions {
  /** As given with `--kubeconfig`: this file alone, which must exist. */
  readonly path?: string | undefined;
  /** Instead of the current one. */
  readonly context?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
}

/**
 * Access by the files that kubectl would use: the one given, those of `KUBECONFIG`, or
 * `~/.kube/config`. Rejects with `ClusterAccessError`.
 */
export async function loadKubeconfig(options: KubeconfigFilesOptions): Promise<ClusterAccess> {
  const { files, mayBeAbsent } = candidates(options);
  const all = await Promise.all(files.map((file) => readConfig(file, mayBeAbsent)));
  const configs = all.filter((config) => config !== undefined);
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
  const { server, serverName, insecureSkipVerify, token, namespace } = access;
  return {
    server,
    tls: { certificateAuthority, clientCertificate, clientKey, serverName, insecureSkipVerify },
    ...(token === undefined ? {} : { token }),
    namespace,
  };
}

function candidates(options: KubeconfigFilesOptions): {
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
