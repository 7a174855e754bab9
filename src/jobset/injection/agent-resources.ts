/**
 * The resources of a sidecar agent: an amount of each resource that its worker states. So the Pod
 * keeps its quality of service, and fits a quota that requires resources of every container. An
 * administrator may set other amounts for all agents.
 *
 * The agent's share is taken from its worker, because queues count a Pod by its template, and a
 * node that just fits the template has no room for more. If the worker cannot spare it, the share
 * is added on top, and a warning says why.
 */
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { Container } from '@lockstep/kube/objects/pod.ts';
import {
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  subtractQuantities,
} from '@lockstep/kube/quantity.ts';

export type ContainerResources = NonNullable<Container['resources']>;

/** The least that a container of the namespace may state, by resource. */
export type ContainerMinimums = StringMap | 'Unknown';

export interface AgentShare {
  readonly agent: Pick<Container, 'resources'>;
  readonly worker: Container;
  /** Why the share is added to the template's amounts; undefined: it comes from the worker's. */
  readonly onTop: string | undefined;
}

export interface ShareOptions {
  /** The administrator's amounts; absent: the amounts below. */
  readonly resources?: ContainerResources | undefined;
  /** Absent: there are none. */
  readonly minimums?: ContainerMinimums | undefined;
}

export function shareResources(worker: Container, options: ShareOptions): AgentShare {
  const minimums = options.minimums ?? {};
  const share = agentResources(worker, options.resources, minimums === 'Unknown' ? {} : minimums);
  if (share === undefined) return { agent: {}, worker, onTop: undefined };
  const taken = AMOUNTS.flatMap((list) => takenFrom(worker, share, list));
  const onTop = taken.length === 0 ? undefined : reasonAgainst(worker, taken, minimums);
  const agent = { resources: share };
  if (taken.length === 0 || onTop !== undefined) return { agent, worker, onTop };
  return { agent, worker: { ...worker, resources: without(worker, taken) }, onTop };
}

/** Whether an agent beside the container would share any of its resources. */
export function isShared({ resources = {} }: Container): boolean {
  return AMOUNTS.some((list) => Object.keys(resources[list] ?? {}).some((name) => name in LIMITS));
}

/** Warnings about a share that is added on top. */
export function shareWarnings(share: AgentShare | undefined): readonly string[] {
  if (share?.onTop === undefined) return [];
  const { requests, limits } = share.agent.resources ?? {};
  const amount = Object.entries({ ...limits, ...requests }).map((one) => one.join(' '));
  return [
    `container "${share.worker.name}" ${share.onTop}: each Pod asks for ${amount.join(', ')} more than ` +
      'the template says, for its sidecar agent, which a queue that counts templates does not see; ' +
      'in Supervisor mode the agent asks for nothing',
  ];
}

/** Enough for an agent that waits or watches. */
const REQUESTS: StringMap = { cpu: '20m', memory: '64Mi', 'ephemeral-storage': '10Mi' };
/** For an agent that starts, or reads a JobSet of thousands of Jobs. Its end restarts the group. */
const LIMITS: StringMap = { cpu: '200m', memory: '256Mi', 'ephemeral-storage': '100Mi' };

const AMOUNTS = ['requests', 'limits'] as const;

/**
 * How many times the agent's share a worker must have. A smaller request only means a smaller
 * claim; a smaller limit slows the worker down, or gets it killed.
 */
const LEAST_SHARES = { requests: 2n, limits: 4n } as const;

function agentResources(
  worker: Container,
  configured: ContainerResources = {},
  minimums: StringMap,
): ContainerResources | undefined {
  const { requests = {}, limits = {} } = worker.resources ?? {};
  const known = Object.keys(LIMITS);
  const limited = known.filter((name) => name in limits);
  // A missing request equals the limit.
  const requested = known.filter((name) => name in requests);
  const ownLimits = raised({ ...amounts(limited, () => LIMITS), ...configured.limits }, minimums);
  const ownRequests = raised(
    {
      ...amounts(requested, (name) => (isSame(limits[name], requests[name]) ? LIMITS : REQUESTS)),
      ...configured.requests,
    },
    minimums,
  );
  const resources = {
    ...(Object.keys(ownLimits).length === 0 ? {} : { limits: ownLimits }),
    ...(Object.keys(ownRequests).length === 0 ? {} : { requests: capped(ownRequests, ownLimits) }),
  };
  return Object.keys(resources).length === 0 ? undefined : resources;
}

/** One amount of the worker from which the agent's is taken. */
interface Taken {
  readonly list: 'requests' | 'limits';
  readonly name: string;
  readonly whole: Quantity;
  readonly share: Quantity;
}

function takenFrom(
  worker: Container,
  share: ContainerResources,
  list: 'requests' | 'limits',
): readonly Taken[] {
  return Object.entries(worker.resources?.[list] ?? {}).flatMap(([name, amount]) => {
    // The API server fills in a limit for a missing request.
    const ofAgent = share[list]?.[name] ?? share.limits?.[name];
    const [whole, part] = [parseQuantity(amount), parseQuantity(ofAgent ?? '')];
    if (whole === undefined || part === undefined) return [];
    return [{ list, name, whole, share: part }];
  });
}

function reasonAgainst(
  worker: Container,
  taken: readonly Taken[],
  minimums: ContainerMinimums,
): string | undefined {
  if (hasExclusiveCpus(worker))
    return 'is Guaranteed with whole CPUs, which a node may reserve for it';
  if (minimums === 'Unknown') {
    return 'may be bound by a LimitRange, which the operator was not able to read';
  }
  for (const { list, name, whole, share } of taken) {
    const least = parseQuantity(minimums[name] ?? '');
    const rest = subtractQuantities(whole, share);
    if (least !== undefined && compareQuantities(rest, least) < 0) {
      return `would have less than the ${minimums[name]} of ${name} that a LimitRange demands`;
    }
    if (whole.nano < share.nano * LEAST_SHARES[list]) {
      return `has too little to share: ${list} of ${formatQuantity(whole)} ${name}, where the agent takes ${formatQuantity(share)}`;
    }
  }
  return undefined;
}

/** Whether a static CPU manager gives the container CPUs of its own. */
function hasExclusiveCpus({ resources }: Container): boolean {
  const { limits = {}, requests = {} } = resources ?? {};
  const isGuaranteed = ['cpu', 'memory'].every((name) =>
    isSame(limits[name], requests[name] ?? limits[name]),
  );
  const cpus = parseQuantity(limits['cpu'] ?? '');
  return isGuaranteed && cpus !== undefined && cpus.nano > 0n && cpus.nano % ONE_CPU === 0n;
}

const ONE_CPU = 1_000_000_000n;

function without({ resources }: Container, taken: readonly Taken[]): ContainerResources {
  const rest = (of: 'requests' | 'limits'): StringMap =>
    Object.fromEntries(
      taken
        .filter(({ list }) => list === of)
        .map(({ name, whole, share }) => [name, formatQuantity(subtractQuantities(whole, share))]),
    );
  const { requests, limits } = resources ?? {};
  return {
    ...resources,
    ...(requests === undefined ? {} : { requests: { ...requests, ...rest('requests') } }),
    ...(limits === undefined ? {} : { limits: { ...limits, ...rest('limits') } }),
  };
}

/** `1` and `1000m` are equal. */
function isSame(limit: string | undefined, request: string | undefined): boolean {
  const [one, other] = [parseQuantity(limit ?? ''), parseQuantity(request ?? '')];
  return one !== undefined && other !== undefined && compareQuantities(one, other) === 0;
}

function amounts(names: readonly string[], of: (name: string) => StringMap): StringMap {
  return Object.fromEntries(names.map((name) => [name, of(name)[name] ?? '']));
}

/** A LimitRange demands as much of an agent as of its worker. */
function raised(own: StringMap, minimums: StringMap): StringMap {
  return Object.fromEntries(
    Object.entries(own).map(([name, amount]) => [name, larger(amount, minimums[name])]),
  );
}

/** A request above its limit is refused. */
function capped(requests: StringMap, limits: StringMap): StringMap {
  return Object.fromEntries(
    Object.entries(requests).map(([name, amount]) => {
      const limit = limits[name];
      return [name, limit === undefined || larger(amount, limit) === limit ? amount : limit];
    }),
  );
}

function larger(amount: string, other: string | undefined): string {
  const [one, two] = [parseQuantity(amount), parseQuantity(other ?? '')];
  if (one === undefined || two === undefined || other === undefined) return amount;
  return compareQuantities(one, two) < 0 ? other : amount;
}
