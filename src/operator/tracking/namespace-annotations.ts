/**
 * Reads our annotations of a Namespace: the defaults of the JobSets in it. They count once for each
 * JobSet, when it is made or first acted on. So there is no cache and no watch.
 */

import type { StringMap } from '@lockstep/kube/meta.ts';
import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { OWN_PREFIX } from '../../jobset/names.ts';
import { MAX_RECORDED_ANNOTATIONS } from '../../jobset/overrides/recorded-annotations.ts';

/** Without the right to read the Namespace there are none; rejects while the API does not answer. */
export type NamespaceAnnotations = (namespace: string, signal: AbortSignal) => Promise<StringMap>;

/** An admission review waits for this. */
const TIMEOUT_MS = 1000;

export function namespaceAnnotations({
  client,
  clock,
  logger,
}: {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
}): NamespaceAnnotations {
  let isTold = false;
  return async (name, parent) => {
    try {
      const { metadata } = await withDeadline(clock, TIMEOUT_MS, parent, (signal) =>
        client.get(NAMESPACES, { name }, { signal }),
      );
      return ownOf(metadata.annotations);
    } catch (error) {
      // The JobSets of a Namespace are deleted with it.
      if (isReason(error, 'NotFound')) return {};
      if (!isReason(error, 'Forbidden')) throw error;
      if (!isTold) {
        logger.warn(
          'the operator may not read Namespaces, so their annotations are no defaults for JobSets: give its account the rights of deploy/lockstep.yaml',
          { namespace: name },
        );
      }
      isTold = true;
      return {};
    }
  };
}

function ownOf(annotations: StringMap = {}): StringMap {
  const own = Object.entries(annotations).filter(([key]) => key.startsWith(OWN_PREFIX));
  return Object.fromEntries(own.slice(0, MAX_RECORDED_ANNOTATIONS));
}
