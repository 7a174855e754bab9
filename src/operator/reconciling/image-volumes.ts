import type { JobSetSpec } from '../../jobset/jobset.ts';
import { NODES, type Node } from '../../kube/objects/node.ts';
import { ApiStatusError } from '../../kube/status.ts';
import type { Client } from '../../runtime/client/client.ts';
import { ExpiringMap } from '../../runtime/expiring-map.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import { NODE_FEATURES_TTL_MS, nodeSelectors } from '../tracking/node-features.ts';

/** Whether agents may be started from volumes of their image on all nodes that a JobSet may use. */
export interface ImageVolumes {
  /** False where that is not known. Rejects while the API server does not answer. */
  suit(spec: JobSetSpec | undefined, signal: AbortSignal): Promise<boolean>;
}

/** The first kubelet that lets programs in such a volume be executed. */
const LEAST_KUBELET = [1, 36] as const;
/** The first containerd that mounts images as volumes. */
const LEAST_CONTAINERD = [2, 1] as const;

const NODES_PER_PAGE = 500;
/** The nodes of a larger cluster are not read for this: the agent is copied there. */
const MAX_PAGES = 20;
/** Sets of labels by which Pods choose their nodes; a cluster has few. */
const MAX_ANSWERS = 1_000;

/** Nodes are asked for by the Pods' `nodeSelector`; other rules of theirs leave fewer of these. */
export function createImageVolumes(client: Client, clock: Clock): ImageVolumes {
  const answers = new ExpiringMap<boolean>(clock, MAX_ANSWERS);
  const ofNodes = async (labels: string, signal: AbortSignal): Promise<boolean> => {
    const known = answers.get(labels);
    if (known !== undefined) return known;
    const suit = await allNodesSuit(client, labels, signal);
    answers.set(labels, suit, NODE_FEATURES_TTL_MS);
    return suit;
  };
  return {
    suit: async (spec, signal) => {
      for (const labels of nodeSelectors(spec)) {
        if (!(await ofNodes(labels, signal))) return false;
      }
      return true;
    },
  };
}

async function allNodesSuit(
  client: Client,
  labelSelector: string,
  signal: AbortSignal,
): Promise<boolean> {
  const selected = labelSelector === '' ? {} : { labelSelector };
  let next: { readonly continue?: string } = {};
  let count = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    try {
      const options = { ...selected, ...next, limit: NODES_PER_PAGE, signal };
      const { items, metadata } = await client.list(NODES, options);
      if (!items.every(suits)) return false;
      count += items.length;
      if (!metadata.continue) return count > 0;
      next = { continue: metadata.continue };
    } catch (error) {
      const isRefusal = error instanceof ApiStatusError && error.code < 500 && error.code !== 429;
      if (isRefusal) return false;
      throw error;
    }
  }
  return false;
}

function suits({ status }: Node): boolean {
  const { kubeletVersion = '', containerRuntimeVersion = '' } = status?.nodeInfo ?? {};
  const [, containerd] = containerRuntimeVersion.split('containerd://');
  return (
    isAtLeast(kubeletVersion, LEAST_KUBELET) &&
    (containerd === undefined || isAtLeast(containerd, LEAST_CONTAINERD))
  );
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, first, second] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  const [own, ownMinor] = [Number(first), Number(second)];
  return own > major || (own === major && ownMinor >= minor);
}
