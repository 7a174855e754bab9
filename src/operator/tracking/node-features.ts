/**
 * Whether the nodes for a JobSet can restart all containers of a Pod in place. The API server tells by
 * what it makes of a Job that is never stored: where its feature gates say so, it refuses the action
 * or drops the rule. Nodes declare what they can; those are asked for on which its Pods may run. What
 * nobody can tell counts as possible.
 */
import type { JobSetSpec } from '../../jobset/jobset.ts';
import type { StringMap } from '../../kube/meta.ts';
import { JOBS, type Job } from '../../kube/objects/job.ts';
import { NODES } from '../../kube/objects/node.ts';
import { RESTART_ALL_FEATURE } from '../../kube/objects/restart-rule.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { ApiStatusError } from '../../kube/status.ts';
import type { Client } from '../../runtime/client/client.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Logger } from '../../runtime/ports/logger.ts';

export interface NodeFeatures {
  /**
   * Why those for a JobSet, or none of all, cannot; undefined: they can. Rejects while the API server
   * does not answer.
   */
  noRestartAll(spec: JobSetSpec | undefined, signal: AbortSignal): Promise<string | undefined>;
  /** The same for Pods that choose their nodes by these selectors. */
  noRestartAllOn(selectors: Iterable<string>, signal: AbortSignal): Promise<string | undefined>;
}

export interface NodeFeaturesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where the Job would be. */
  readonly namespace: string;
}

/** How long an answer is believed: nodes and feature gates change rarely. */
export const NODE_FEATURES_TTL_MS = 300_000;

export function createNodeFeatures(options: NodeFeaturesOptions): NodeFeatures {
  return new CachedNodeFeatures(options);
}

/** Sets of labels by which Pods choose their nodes; a cluster has few. */
const MAX_ANSWERS = 1_000;
/** One page mostly shows a node that can; where so many cannot, nobody has to look for the rest. */
const NODES_PER_PAGE = 50;
const MAX_PAGES = 10;

interface Answer {
  readonly atMs: number;
  readonly problem: string | undefined;
}

class CachedNodeFeatures implements NodeFeatures {
  readonly #options: NodeFeaturesOptions;
  readonly #answers = new Map<string, Answer>();

  constructor(options: NodeFeaturesOptions) {
    this.#options = options;
  }

  async noRestartAll(
    spec: JobSetSpec | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    return this.noRestartAllOn(nodeSelectors(spec), signal);
  }

  async noRestartAllOn(
    selectors: Iterable<string>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const refused = await this.#answer('server', () => this.#askServer(signal));
    if (refused !== undefined) return refused;
    for (const labels of selectors) {
      const ask = (): Promise<string | undefined> => this.#askNodes(labels, signal);
      const lacking = await this.#answer(`nodes ${labels}`, ask);
      if (lacking !== undefined) return lacking;
    }
    return undefined;
  }

  async #answer(
    question: string,
    ask: () => Promise<string | undefined>,
  ): Promise<string | undefined> {
    const { clock, logger } = this.#options;
    const known = this.#answers.get(question);
    const nowMs = clock.monotonic();
    if (known !== undefined && nowMs - known.atMs < NODE_FEATURES_TTL_MS) return known.problem;
    const problem = await ask();
    if (problem !== undefined && problem !== known?.problem) {
      logger.warn('agents supervise their workers', { why: problem });
    }
    if (this.#answers.size >= MAX_ANSWERS) this.#answers.clear();
    this.#answers.set(question, { atMs: nowMs, problem });
    return problem;
  }

  async #askServer(signal: AbortSignal): Promise<string | undefined> {
    const { client, namespace } = this.#options;
    const at = { namespace, name: PROBE_NAME };
    const patch = probe(namespace);
    const how = { fieldManager: FIELD_MANAGER, dryRun: 'All' } as const;
    try {
      const made = await client.patch(JOBS, at, { type: 'apply', patch, ...how }, { signal });
      return hasRule(made) ? undefined : `the API server drops restart rules (${GATES})`;
    } catch (error) {
      if (!(error instanceof ApiStatusError)) throw error;
      if (isAboutRules(error)) return `the API server refuses such restart rules (${GATES})`;
      return this.#unknown('the API server', error);
    }
  }

  async #askNodes(labels: string, signal: AbortSignal): Promise<string | undefined> {
    const { client } = this.#options;
    const labelSelector = labels === '' ? {} : { labelSelector: labels };
    let token = '';
    let count = 0;
    for (let page = 0; page < MAX_PAGES && (page === 0 || token !== ''); page++) {
      const next = token === '' ? {} : { continue: token };
      const options = { ...labelSelector, ...next, limit: NODES_PER_PAGE, signal };
      try {
        const { items, metadata } = await client.list(NODES, options);
        const offers = items.map(({ status }) => status?.declaredFeatures ?? []);
        if (offers.some((features) => features.includes(RESTART_ALL_FEATURE))) return undefined;
        count += items.length;
        token = metadata.continue ?? '';
      } catch (error) {
        if (!(error instanceof ApiStatusError)) throw error;
        return this.#unknown('nodes', error);
      }
    }
    // Where there are none they are yet to be made, and nobody knows of which kind.
    if (count === 0) return undefined;
    const which = labels === '' ? '' : ` with ${labels}`;
    return `no node${which} declares the feature ${RESTART_ALL_FEATURE}`;
  }

  /** Whoever fails is asked again; whoever refuses to tell is not. */
  #unknown(who: string, error: ApiStatusError): undefined {
    if (error.code === 429 || error.code >= 500) throw error;
    this.#options.logger.debug(`${who} cannot be asked about restart rules`, {
      err: String(error),
    });
    return undefined;
  }
}

const PROBE_NAME = 'lockstep-restart-rules';
const FIELD_MANAGER = 'lockstep-operator';
const GATES = `feature gates ContainerRestartRules and ${RESTART_ALL_FEATURE}`;
const ACTION = 'RestartAllContainers';

function probe(namespace: string): Job {
  const rule = { action: ACTION, exitCodes: { operator: 'NotIn', values: [0] } } as const;
  const policy = { restartPolicy: 'Never', restartPolicyRules: [rule] } as const;
  const worker = { name: 'worker', image: 'none', ...policy };
  return {
    apiVersion: apiVersionOf(JOBS),
    kind: JOBS.kind,
    metadata: { namespace, name: PROBE_NAME },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [worker] } } },
  };
}

function hasRule({ spec }: Job): boolean {
  const [worker] = spec.template.spec.containers;
  return worker?.restartPolicyRules?.some(({ action }) => action === ACTION) === true;
}

/** A server that is too old does not even know the field. */
function isAboutRules({ message, status }: ApiStatusError): boolean {
  const causes = status.details?.causes ?? [];
  const isRefused = causes.some(({ field }) => field?.includes('restartPolicyRules') === true);
  return isRefused || /restartPolicyRules: field not declared in schema/.test(message);
}

/** The labels by which the Pods of a JobSet choose their nodes, each set once. */
export function nodeSelectors(spec: JobSetSpec | undefined): ReadonlySet<string> {
  const templates = (spec?.replicatedJobs ?? []).map(({ template }) => template.spec.template);
  if (templates.length === 0) return new Set(['']);
  return new Set(templates.map((template) => selectorOf(template.spec.nodeSelector ?? {})));
}

function selectorOf(labels: StringMap): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return pairs.toSorted().join(',');
}
