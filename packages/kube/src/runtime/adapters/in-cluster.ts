/** Access to the API server from inside a Pod. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ClusterAccess, ClusterAccessError } from '../credentials/cluster-access.ts';

/** The directory of a container's service account, relative to its root directory. */
const SERVICE_ACCOUNT_DIRECTORY = 'var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The access of a container. `root` is its root directory: `/`, or the value of `LOCKSTEP_ROOT` if
 * containers have no file system of their own. Rejects with `ClusterAccessError`.
 */
export async function inClusterAccess(
  env: Readonly<Record<string, string | undefined>>,
  root: string,
): Promise<ClusterAccess> {
  const host = required(env, 'KUBERNETES_SERVICE_HOST', 'the address of the API server');
  const port = required(env, 'KUBERNETES_SERVICE_PORT', 'the port of the API server');
  if (!/^[0-9]{1,5}$/.test(port) || Number(port) === 0 || Number(port) > 65_535) {
    const value = JSON.stringify(port);
    throw new ClusterAccessError(`KUBERNETES_SERVICE_PORT: ${value}: must be a port, 1 to 65535`);
  }
  const directory = join(root, SERVICE_ACCOUNT_DIRECTORY);
  const certificateAuthority = await read(join(directory, 'ca.crt'));
  const token = join(directory, 'token');
  // Read now, so that a missing token is reported at once and by name.
  await read(token);
  const namespace = (await read(join(directory, 'namespace'))).trim();
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    tls: { certificateAuthority },
    credentials: { tokenFile: token },
    namespace,
  };
}

function required(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  what: string,
): string {
  const value = env[name] ?? '';
  if (value !== '') return value;
  throw new ClusterAccessError(
    `${name}: required: ${what}, which every container of a Pod is given`,
  );
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { message } = error as Error;
    const hint = 'is automountServiceAccountToken false?';
    throw new ClusterAccessError(`${file}: cannot be read: ${message}; ${hint}`, { cause: error });
  }
}
