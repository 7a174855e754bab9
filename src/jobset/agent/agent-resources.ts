/**
 * What a sidecar agent asks for. By default it states an amount of exactly those resources of which
 * its worker states one: so a Pod keeps its quality of service, and is admitted where a quota wants
 * every container to say what it needs. An administrator may say other amounts for all agents.
 */
import type { StringMap } from '../../kube/meta.ts';
import type { Container } from '../../kube/pod.ts';
import { compareQuantities, parseQuantity } from '../../kube/quantity.ts';

export type ContainerResources = NonNullable<Container['resources']>;

export function agentResources(
  worker: Container | undefined,
  configured: ContainerResources | undefined,
): Pick<Container, 'resources'> {
  if (configured !== undefined) return { resources: configured };
  const { requests = {}, limits = {} } = worker?.resources ?? {};
  const known = Object.keys(LIMITS);
  const limited = known.filter((name) => name in limits);
  // A request that nobody states is the limit.
  const requested = known.filter((name) => name in requests);
  const resources = {
    ...(limited.length === 0 ? {} : { limits: amounts(limited, () => LIMITS) }),
    ...(requested.length === 0
      ? {}
      : {
          requests: amounts(requested, (name) =>
            isSame(limits[name], requests[name]) ? LIMITS : REQUESTS,
          ),
        }),
  };
  return Object.keys(resources).length === 0 ? {} : { resources };
}

/** An agent that waits or watches. */
const REQUESTS: StringMap = { cpu: '20m', memory: '64Mi', 'ephemeral-storage': '10Mi' };
/** One that starts, or reads a JobSet of thousands of Jobs: whoever ends it restarts the group. */
const LIMITS: StringMap = { cpu: '200m', memory: '256Mi', 'ephemeral-storage': '100Mi' };

/** `1` and `1000m` are. */
function isSame(limit: string | undefined, request: string | undefined): boolean {
  const [one, other] = [parseQuantity(limit ?? ''), parseQuantity(request ?? '')];
  return one !== undefined && other !== undefined && compareQuantities(one, other) === 0;
}

function amounts(names: readonly string[], of: (name: string) => StringMap): StringMap {
  return Object.fromEntries(names.map((name) => [name, of(name)[name] ?? '']));
}
