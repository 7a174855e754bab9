import type { Container, SecurityContext } from '@lockstep/kube/objects/pod.ts';

/**
 * The security context of a container that we add beside a worker. If the worker fits a namespace of
 * level `restricted`, so does this container. It has the worker's user, so that it may read and
 * write the files that they share.
 */
export function agentSecurity({ securityContext }: Container): SecurityContext {
  const inherited = INHERITED.flatMap((name) => {
    const value = securityContext?.[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(inherited),
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    readOnlyRootFilesystem: true,
  };
}

const INHERITED = [
  'runAsUser',
  'runAsGroup',
  'runAsNonRoot',
  'seccompProfile',
  'seLinuxOptions',
] as const;
