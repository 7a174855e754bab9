/** Finds out which namespaces containers can have. */
import { type NamespaceProbeOptions, probeNamespaces } from '../namespaces/probe-namespaces.ts';
import {
  DEFAULT_POD_NAMESPACES,
  type PodNamespacesMode,
  type PodNamespacesState,
} from '../ports/pod-namespaces.ts';
import { createLinuxNamespaces, findNamespaceTools, thisUser } from './linux-namespaces.ts';

/** Tries what this machine offers. Never rejects. */
export async function offeredNamespaces(
  mode: PodNamespacesMode | undefined,
  options: NamespaceProbeOptions & { readonly templatesDirectory: string },
): Promise<PodNamespacesState> {
  if ((mode ?? DEFAULT_POD_NAMESPACES) === 'Off') return unavailable('they are switched off');
  const user = thisUser();
  if (process.platform !== 'linux' || user === undefined) {
    return unavailable('only Linux has them');
  }
  const tools = findNamespaceTools(options.path);
  if (typeof tools === 'string') return unavailable(`this machine has no "${tools}"`);
  // Root needs no user namespace, and without one other users' files keep their owners. Inside a
  // container root may still need one.
  const isRoot = user.uid === 0;
  const problems: string[] = [];
  for (const needsUserNamespace of isRoot ? [false, true] : [true]) {
    const style = { tools, needsUserNamespace, user: isRoot ? undefined : user };
    const namespaces = createLinuxNamespaces(style, options.templatesDirectory);
    const problem = await probeNamespaces(namespaces, options);
    if (problem === undefined) return { type: 'available', namespaces };
    problems.push(problem);
  }
  return unavailable([...new Set(problems)].join('; '));
}

function unavailable(reason: string): PodNamespacesState {
  return { type: 'unavailable', reason };
}
