/**
 * Whether the nodes for a JobSet can restart all containers of a Pod in place. A dry run of a Job asks
 * the API server: if its feature gates forbid the action, it refuses the Job or drops the rule. Nodes
 * declare their features; the operator reads the nodes on which the Pods may run. Unknown features
 * count as present.
 */

import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import type { Node } from '@lockstep/kube/objects/node.ts';
import { RESTART_ALL_FEATURE } from '@lockstep/kube/objects/restart-rule.ts';
import { typeMetaOf } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { ExpiringMap } from '@lockstep/kube/runtime/expiring-map.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import type { JobSetSpec } from '../../jobset/jobset.ts';
import type { RestartAllProblem } from '../../jobset/restart-rules/restart-rules.ts';
import { isRefusal, NODE_ANSWER_LIFETIME_MS, NodeAnswers, nodeSelectors } from './node-answers.ts';

export interface NodeFeatures {
  /**
   * Why the nodes for a JobSet, or all nodes, cannot; undefined: they can. Rejects while the API
   * server does not answer.
   */
  restartAllProblem(
    spec: JobSetSpec | undefined,
    signal: AbortSignal,
  ): Promise<RestartAllProblem | undefined>;
  /** Like `restartAllProblem`, for Pods that choose their nodes by these selectors. */
  restartAllProblemOn(
    selectors: Iterable<string>,
    signal: AbortSignal,
  ): Promise<RestartAllProblem | undefined>;
}

export interface NodeFeaturesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The namespace of the dry run. */
  readonly namespace: string;
}

export function createNodeFeatures(options: NodeFeaturesOptions): NodeFeatures {
  return new CachedNodeFeatures(options);
}

/** One page usually has a node that can; if this many cannot, the rest is not read. */
const NODES_PER_PAGE = 50;
const MAX_PAGES = 10;
/** Problems that the log knows; beyond it all are forgotten, which costs a repetition. */
const MAX_TOLD = 1_000;

interface Answer {
  readonly problem: RestartAllProblem | undefined;
}

class CachedNodeFeatures implements NodeFeatures {
  readonly #options: NodeFeaturesOptions;
  readonly #ofServer: ExpiringMap<Answer>;
  readonly #ofNodes: NodeAnswers<Answer>;
  /** By the question. */
  readonly #told = new Map<string, string>();

  constructor(options: NodeFeaturesOptions) {
    const { client, clock } = options;
    this.#options = options;
    this.#ofServer = new ExpiringMap(clock, 1);
    this.#ofNodes = new NodeAnswers(client, clock, {
      nodesPerPage: NODES_PER_PAGE,
      maxPages: MAX_PAGES,
      fromPage: (nodes) => (nodes.some(hasFeature) ? { problem: undefined } : undefined),
      otherwise: (labels, count) => ({ problem: lacking(labels, count) }),
      refused: (error) => this.#unknown('nodes', error),
    });
  }

  async restartAllProblem(
    spec: JobSetSpec | undefined,
    signal: AbortSignal,
  ): Promise<RestartAllProblem | undefined> {
    return this.restartAllProblemOn(nodeSelectors(spec), signal);
  }

  async restartAllProblemOn(
    selectors: Iterable<string>,
    signal: AbortSignal,
  ): Promise<RestartAllProblem | undefined> {
    const refused = this.#tell(SERVER, await this.#server(signal));
    if (refused !== undefined) return refused;
    for (const labels of selectors) {
      const lacking = this.#tell(labels, await this.#ofNodes.on(labels, signal));
      if (lacking !== undefined) return lacking;
    }
    return undefined;
  }

  #tell(of: string, { problem }: Answer): RestartAllProblem | undefined {
    if (problem === undefined) this.#told.delete(of);
    else if (this.#told.get(of) !== problem.why) {
      if (this.#told.size >= MAX_TOLD) this.#told.clear();
      this.#told.set(of, problem.why);
      this.#options.logger.warn('agents supervise their workers', { why: problem.why });
    }
    return problem;
  }

  async #server(signal: AbortSignal): Promise<Answer> {
    const known = this.#ofServer.get(SERVER);
    if (known !== undefined) return known;
    const answer = await this.#askServer(signal);
    this.#ofServer.set(SERVER, answer, NODE_ANSWER_LIFETIME_MS);
    return answer;
  }

  async #askServer(signal: AbortSignal): Promise<Answer> {
    const { client, namespace } = this.#options;
    try {
      return { problem: await restartRulesProblem(client, namespace, signal) };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return this.#unknown('the API server', error);
    }
  }

  #unknown(who: string, error: ApiStatusError): Answer {
    this.#options.logger.debug(`${who} cannot be asked about restart rules`, {
      err: String(error),
    });
    return { problem: undefined };
  }
}

/**
 * Why the API server does not take rules that restart all containers of a Pod; undefined: it does.
 * Rejects if it does not answer, or does not let us ask.
 */
export async function restartRulesProblem(
  client: Client,
  namespace: string,
  signal: AbortSignal,
): Promise<RestartAllProblem | undefined> {
  const at = { namespace, name: PROBE_NAME };
  const patch = probe(namespace);
  const how = { fieldManager: FIELD_MANAGER, dryRun: 'All' } as const;
  try {
    const made = await client.patch(JOBS, at, { type: 'apply', patch, ...how }, { signal });
    return hasRule(made) ? undefined : DROPPED;
  } catch (error) {
    if (!(error instanceof ApiStatusError)) throw error;
    if (/restartPolicyRules: field not declared in schema/.test(error.message)) return DROPPED;
    if (!isAboutRules(error)) throw error;
    return { why: `the API server refuses such restart rules (${GATES})`, dropsRules: false };
  }
}

/** Whether its agent can restart all containers of a Pod, as it declares. */
export function hasFeature({ status }: Node): boolean {
  return status?.declaredFeatures?.includes(RESTART_ALL_FEATURE) === true;
}

function lacking(labels: string, count: number): RestartAllProblem | undefined {
  // There are no nodes yet, so their kind is unknown.
  if (count === 0) return undefined;
  const which = labels === '' ? '' : ` with ${labels}`;
  return { why: `no node${which} declares the feature ${RESTART_ALL_FEATURE}`, dropsRules: false };
}

/** The key of the question to the API server; no set of labels has this text. */
const SERVER = 'the API server';
const PROBE_NAME = 'lockstep-restart-rules';
const FIELD_MANAGER = 'lockstep-operator';
const GATES = `feature gates ContainerRestartRules and ${RESTART_ALL_FEATURE} of Kubernetes 1.35`;
/** A server that is too old does not even know the field. */
const DROPPED = { why: `the API server drops restart rules (${GATES})`, dropsRules: true } as const;
const ACTION = 'RestartAllContainers';

function probe(namespace: string): Job {
  const rule = { action: ACTION, exitCodes: { operator: 'NotIn', values: [0] } } as const;
  const policy = { restartPolicy: 'Never', restartPolicyRules: [rule] } as const;
  const worker = { name: 'worker', image: 'none', ...policy };
  return {
    ...typeMetaOf(JOBS),
    metadata: { namespace, name: PROBE_NAME },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [worker] } } },
  };
}

function hasRule({ spec }: Job): boolean {
  const [worker] = spec.template.spec.containers;
  return worker?.restartPolicyRules?.some(({ action }) => action === ACTION) === true;
}

function isAboutRules({ status }: ApiStatusError): boolean {
  const causes = status.details?.causes ?? [];
  return causes.some(({ field }) => field?.includes('restartPolicyRules') === true);
}
