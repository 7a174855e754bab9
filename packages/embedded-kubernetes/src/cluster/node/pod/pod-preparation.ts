/**
 * Prepares a Pod for its first container. Leftovers of an earlier life of the node are killed. Then
 * address, directory and volumes are made, with retries until nothing is missing.
 */
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { MARKER_VARIABLE } from '../container/container-launch.ts';
import type { NodeContext } from '../ports/node-context.ts';
import { VolumeError } from '../volume/pod-volumes.ts';
import type { PodSandbox } from './pod-sandbox.ts';
import { holderMarker } from './shared-processes.ts';

export interface PreparationOptions {
  /** Aborts when the Pod is not to run any more. */
  readonly signal: AbortSignal;
  /** A try failed: the reason of an Event and its text. */
  readonly onProblem: (reason: string, problem: string) => void;
}

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;

/**
 * The Pod's address when everything is ready; undefined if `signal` aborted before. Never rejects.
 */
export async function preparePod(
  context: NodeContext,
  pod: Pod,
  sandbox: PodSandbox,
  { signal, onProblem }: PreparationOptions,
): Promise<string | undefined> {
  await killLeftOver(context, pod);
  let retryMs = FIRST_RETRY_MS;
  while (!signal.aborted) {
    try {
      const podIP = await sandbox.prepare();
      return signal.aborted ? undefined : podIP;
    } catch (error) {
      if (signal.aborted) return undefined;
      const reason = error instanceof VolumeError ? 'FailedMount' : 'FailedCreatePodSandBox';
      onProblem(reason, error instanceof Error ? error.message : String(error));
    }
    await sleep(context.clock, retryMs, signal).catch(() => undefined);
    retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
  }
  return undefined;
}

/** Processes of an earlier life of this node cannot be followed any more. */
async function killLeftOver({ processes, keeper }: NodeContext, pod: Pod): Promise<void> {
  // With a keeper they were taken over.
  if (keeper !== undefined) return;
  const {
    initContainerStatuses = [],
    containerStatuses = [],
    ephemeralContainerStatuses = [],
  } = pod.status ?? {};
  const { uid = '' } = pod.metadata;
  await processes.killByEnvironment(MARKER_VARIABLE, holderMarker(uid));
  await Promise.all(
    [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]
      .filter(({ state }) => state?.running !== undefined)
      .map(({ name, restartCount }) =>
        processes.killByEnvironment(MARKER_VARIABLE, `${uid}/${name}/${restartCount}`),
      ),
  );
}
