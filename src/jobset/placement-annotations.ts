/** The annotations that say where Jobs run. */
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { PodSpec } from '@lockstep/kube/objects/pod.ts';
import * as names from './names.ts';

/**
 * The Job template's topology takes precedence over the JobSet's. The node-selector strategy only
 * counts beside the topology that applies. `exclusive-placement.ts` decides about the Pods.
 */
export interface PlacementRequest {
  /** To be copied to the Job and to its Pod template. */
  readonly annotations: StringMap;
  readonly hasNodeSelectorStrategy: boolean;
}

export function placementRequest(
  ofJobSet: StringMap | undefined,
  ofJobTemplate: StringMap | undefined,
): PlacementRequest | undefined {
  const level = [ofJobTemplate, ofJobSet].find(
    (annotations) => annotations?.[names.EXCLUSIVE_TOPOLOGY] !== undefined,
  );
  const topology = level?.[names.EXCLUSIVE_TOPOLOGY];
  if (topology === undefined) return undefined;
  const strategy = level?.[names.NODE_SELECTOR_STRATEGY];
  return {
    annotations: {
      [names.EXCLUSIVE_TOPOLOGY]: topology,
      ...(strategy === undefined ? {} : { [names.NODE_SELECTOR_STRATEGY]: strategy }),
    },
    hasNodeSelectorStrategy: strategy !== undefined,
  };
}

/** Nodes were labelled and tainted by hand, each set of nodes for one Job. */
export function withNodeSelectorStrategy(spec: PodSpec, namespace: string, job: string): PodSpec {
  return {
    ...spec,
    nodeSelector: { ...spec.nodeSelector, [names.NAMESPACED_JOB]: `${namespace}_${job}` },
    tolerations: [
      ...(spec.tolerations ?? []),
      { key: names.NO_SCHEDULE, operator: 'Exists', effect: 'NoSchedule' },
    ],
  };
}
