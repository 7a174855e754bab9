/** Waits until the API server serves JobSets, and says why it has to wait. */

import { apiVersionOf, groupResourceOf } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { firstAnswer } from '@lockstep/kube/runtime/client/first-answer.ts';
import { ClusterAccessError } from '@lockstep/kube/runtime/credentials/cluster-access.ts';
import { type Clock, sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import { JOBSETS } from '../../jobset/jobset.ts';

/** Retries, so that an administrator who fixes the problem need not restart us. */
const RETRY_INTERVAL_MS = 2_000;

/**
 * Until the API server shows us JobSets, it reports the reason and what to do, once per reason: a
 * missing definition or right. Other problems can be found meanwhile.
 */
export async function untilJobSetsAreServed(options: {
  readonly client: Client;
  /** The client's transport, which notices an absent server at once. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly namespaces?: readonly string[] | undefined;
  readonly signal: AbortSignal;
  /** Called with each reason, and with undefined in the end. */
  readonly onProblem: (problem: string | undefined) => void;
}): Promise<void> {
  const { client, transport, clock, logger, namespaces, signal, onProblem } = options;
  const places = namespaces === undefined ? [{}] : namespaces.map((namespace) => ({ namespace }));
  let told: string | undefined;
  for (;;) {
    try {
      await firstAnswer(transport, clock, signal);
      for (const within of places) await client.list(JOBSETS, { ...within, limit: 1, signal });
      onProblem(undefined);
      return;
    } catch (error) {
      signal.throwIfAborted();
      const problem = problemOf(error);
      onProblem(problem);
      if (problem !== told) logger.error(problem, { err: String(error) });
      told = problem;
    }
    await sleep(clock, RETRY_INTERVAL_MS, signal);
  }
}

function problemOf(error: unknown): string {
  if (error instanceof ClusterAccessError) return error.message;
  const what = `${groupResourceOf(JOBSETS)} of ${apiVersionOf(JOBSETS)}`;
  const code = error instanceof ApiStatusError ? error.code : 0;
  switch (code) {
    case 404:
      return `the API server does not know ${what}: install their definition with "lockstep install", or start the operator with --install-crd`;
    case 403:
      return `the operator may not list ${what}: give its account the rights of deploy/lockstep.yaml, as "lockstep install" does, with the same --watch-namespace if there is one`;
    case 401:
      return 'the API server does not accept the credentials of the operator: they have expired, or belong to another cluster';
    default:
      return `the API server does not answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}
