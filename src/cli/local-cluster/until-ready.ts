/** Waits until a local cluster serves JobSets, and says what is missing if it does not. */

import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import { NODES, type Node } from '@lockstep/kube/objects/node.ts';
import { groupResourceOf, type Resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { DeadlineError } from '@lockstep/kube/runtime/deadline.ts';
import { type WaitOptions, waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { WEBHOOK_CONFIGURATIONS } from '../webhook-configurations.ts';

const NOT_READY_TAINT = 'node.kubernetes.io/not-ready';

/**
 * Resolves when the nodes accept Pods, JobSets are served and the operator's webhooks are called.
 * Rejects with all that is missing.
 */
export async function untilReady(
  client: Client,
  nodes: readonly string[],
  options: WaitOptions,
): Promise<void> {
  /** Undefined if it is there in time, else what is missing in words. */
  const missing = async <T extends KubeObject>(
    of: Resource<T>,
    name: string,
    lackOf: (object: Stored<T> | undefined) => string | undefined,
  ): Promise<string | undefined> => {
    let lack = 'it could not be read';
    const isThere = (object: Stored<T> | undefined): boolean => {
      const found = lackOf(object);
      if (found !== undefined) lack = found;
      return found === undefined;
    };
    try {
      await waitFor(client, of, { name }, isThere, options);
      return undefined;
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error;
      const { cause } = error;
      const why = cause instanceof Error ? ` (${cause.message})` : '';
      return `${of.kind} ${name}: ${lack}${why}`;
    }
  };
  const lacks = await Promise.all([
    ...nodes.map((name) => missing(NODES, name, lackOfNode)),
    missing(CUSTOM_RESOURCE_DEFINITIONS, groupResourceOf(JOBSETS), lackOfDefinition),
    ...WEBHOOK_CONFIGURATIONS.map(([of, name]) => missing<KubeObject>(of, name, lackOfWebhooks)),
  ]);
  const told = lacks.filter((lack) => lack !== undefined);
  if (told.length === 0) return;
  throw new DeadlineError(`not ready after ${options.timeoutMs / 1000} s: ${told.join('; ')}`);
}

function lackOfNode(node: Stored<Node> | undefined): string | undefined {
  if (node === undefined) return 'it has not registered';
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True')
    return `it is not ready: ${ready?.message ?? 'it has said nothing'}`;
  // A control plane removes its taint some time after the node reported that it is ready.
  const isTainted = node.spec?.taints?.some(({ key }) => key === NOT_READY_TAINT) === true;
  return isTainted ? `the control plane has not removed taint ${NOT_READY_TAINT}` : undefined;
}

function lackOfDefinition(
  definition: Stored<CustomResourceDefinition> | undefined,
): string | undefined {
  if (definition === undefined) return 'the operator has not installed it';
  const conditions = definition.status?.conditions;
  const isServed = conditions?.some((one) => one.type === 'Established' && one.status === 'True');
  return isServed === true ? undefined : 'the API server does not serve it';
}

function lackOfWebhooks(configuration: Stored<KubeObject> | undefined): string | undefined {
  return configuration === undefined ? 'the operator has not installed it' : undefined;
}
