/** Keeps the resource shares of existing Jobs. */
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Container, PodSpec } from '@lockstep/kube/objects/pod.ts';
import { addQuantities, formatQuantity, parseQuantity } from '@lockstep/kube/quantity.ts';
import { AGENT_CONTAINER_NAME } from '../names.ts';
import { effectiveRequests, sameResources } from './container-resources.ts';

/**
 * Returns `desired` with the share of resources that worker and sidecar agent have in `job`. A new
 * Job may share differently, but an API server may refuse the change, and a queue has counted the
 * present amounts. They only change if the JobSet's template, `asked`, has other resources.
 */
export function withShareOf(job: Job, desired: Job, asked: PodSpec): Job {
  const present = job.spec.template.spec;
  const agent = agentOf(present);
  const [worker] = present.containers;
  const [wanted] = asked.containers;
  if (agent === undefined || worker === undefined || wanted === undefined) return desired;
  const isOnTop = sameResources(worker, wanted);
  if (!isOnTop && !sameResources(together(worker, agent), wanted)) return desired;
  const { template } = desired.spec;
  const keep = (container: Container): Container => {
    if (container.name === worker.name) return withResourcesOf(container, worker);
    return container.name === agent.name ? withResourcesOf(container, agent) : container;
  };
  const { initContainers, containers } = template.spec;
  const spec = {
    ...template.spec,
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(keep) }),
    containers: containers.map(keep),
  };
  return { ...desired, spec: { ...desired.spec, template: { ...template, spec } } };
}

function agentOf({ initContainers = [] }: PodSpec): Container | undefined {
  return initContainers.find(({ name }) => name === AGENT_CONTAINER_NAME);
}

function withResourcesOf(container: Container, { resources }: Container): Container {
  const { resources: _, ...rest } = container;
  return { ...rest, ...(resources === undefined ? {} : { resources }) };
}

/** The worker's amounts, each with its agent's amount added. */
function together(worker: Container, agent: Container): Container {
  return {
    ...worker,
    resources: {
      limits: sums(worker.resources?.limits, agent.resources?.limits),
      requests: sums(effectiveRequests(worker), effectiveRequests(agent)),
    },
  };
}

function sums(ofWorker: StringMap = {}, ofAgent: StringMap = {}): StringMap {
  return Object.fromEntries(
    Object.entries(ofWorker).map(([name, amount]) => {
      const [one, other] = [parseQuantity(amount), parseQuantity(ofAgent[name] ?? '0')];
      const isKnown = one !== undefined && other !== undefined;
      return [name, isKnown ? formatQuantity(addQuantities(one, other)) : amount];
    }),
  );
}
