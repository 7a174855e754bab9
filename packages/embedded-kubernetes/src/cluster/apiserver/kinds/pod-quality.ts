import type { Container, Pod } from '@lockstep/kube/objects/pod.ts';

/** `status.qosClass`: what requests and limits make of a Pod when resources run short. */
export function qosClass({ spec }: Pod): 'BestEffort' | 'Burstable' | 'Guaranteed' {
  // It is asked before the Pod was validated: there may be no containers.
  const asked: Partial<Pod['spec']> = spec;
  const containers = [...(asked.initContainers ?? []), ...(asked.containers ?? [])];
  if (!containers.some((container) => amounts(container).length > 0)) return 'BestEffort';
  return containers.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

const COMPUTE = ['cpu', 'memory'] as const;

function amounts({ resources = {} }: Container): readonly string[] {
  return COMPUTE.flatMap((name) => [resources.requests?.[name], resources.limits?.[name]]).filter(
    (amount) => amount !== undefined,
  );
}

/** Both are limited, and what is asked for is what is allowed. */
function isGuaranteed({ resources = {} }: Container): boolean {
  return COMPUTE.every((name) => {
    const limit = resources.limits?.[name];
    const request = resources.requests?.[name] ?? limit;
    // Defaults brought amounts into their canonical form.
    return limit !== undefined && request === limit;
  });
}
