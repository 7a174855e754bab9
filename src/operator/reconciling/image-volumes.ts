/** Whether agents can start from volumes of their image. */

import type { Node } from '@lockstep/kube/objects/node.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { JobSetSpec } from '../../jobset/jobset.ts';
import { NodeAnswers, nodeSelectors } from '../tracking/node-answers.ts';

/** Whether all nodes that a JobSet may use support them. */
export interface ImageVolumes {
  /** False if unknown. Rejects while the API server does not answer. */
  suit(spec: JobSetSpec | undefined, signal: AbortSignal): Promise<boolean>;
}

/** The first kubelet that allows execution of programs in such a volume. */
const LEAST_KUBELET = [1, 36] as const;
/** The first containerd that mounts images as volumes. */
const LEAST_CONTAINERD = [2, 1] as const;

const NODES_PER_PAGE = 500;
/** In a larger cluster the nodes are not read: the agent is copied there. */
const MAX_PAGES = 20;
/** Selects nodes by the Pods' `nodeSelector`; other rules would only leave fewer of them. */
export function createImageVolumes(client: Client, clock: Clock): ImageVolumes {
  const nodes = new NodeAnswers<boolean>(client, clock, {
    nodesPerPage: NODES_PER_PAGE,
    maxPages: MAX_PAGES,
    fromPage: (page) => (page.every(suits) ? undefined : false),
    otherwise: (_labels, count, isAll) => isAll && count > 0,
    refused: () => false,
  });
  return {
    suit: async (spec, signal) => {
      for (const labels of nodeSelectors(spec)) {
        if (!(await nodes.on(labels, signal))) return false;
      }
      return true;
    },
  };
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
