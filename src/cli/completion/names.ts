/** Names for a line, from the kubeconfig and its cluster: soon, or none. */
import { homedir } from 'node:os';
import { dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import { connectClient } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import {
  kubeconfigContexts,
  loadKubeconfig,
} from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { PORTS } from '../ports.ts';
import type { GivenFlags, NameKind } from './wanted.ts';

/** A user does not look at more, and a shell is slow to show them. */
const MAX_NAMES = 500;

/** Rejects if they cannot be read. */
export async function namesOf(
  kind: NameKind,
  { namespace, context, kubeconfig }: GivenFlags,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const files = { path: kubeconfig, env: process.env, homeDirectory: homedir() };
  if (kind === 'Contexts') return (await kubeconfigContexts(files)).filter(isPlain);
  const access = await loadKubeconfig({ ...files, context });
  const connection = connectClient(access, {
    ...PORTS,
    userAgent: 'lockstep',
  });
  try {
    const page = { limit: MAX_NAMES, signal };
    const { items } =
      kind === 'Namespaces'
        ? await connection.client.listMetadata(NAMESPACES, page)
        : await connection.client.listMetadata(JOBSETS, {
            ...page,
            namespace: namespace ?? access.namespace,
          });
    return items.map(({ metadata }) => metadata.name).filter(isDnsName);
  } finally {
    connection.close();
  }
}

/** A cluster may answer anything, and a shell would read some of it as its own language. */
export function isDnsName(name: string): boolean {
  return dns1123SubdomainErrors(name).length === 0;
}

/** Providers name contexts `arn:aws:eks:us-east-1:1234:cluster/a` or `user@cluster`. */
export function isPlain(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,252}$/.test(name);
}
