/** Decides where a review is judged. */
import { SMALL_BODY_BYTES } from '@lockstep/kube/runtime/body-budget.ts';
import type { HttpHandler, HttpRequest } from '@lockstep/kube/runtime/ports/transport.ts';
import { queuedReviews, type ReviewQueueLimits } from './review-queue.ts';
import { WEBHOOK_PATHS } from './webhook-configurations.ts';

/**
 * A small review of a Pod takes no time and is judged at once. A hostile client can make any other
 * review long, so these go to threads: the hub in this process answers thousands meanwhile. Reviews
 * of Pods never wait behind reviews of JobSets.
 */
export interface ReviewThreads {
  readonly jobSets: HttpHandler;
  readonly pods: HttpHandler;
}

const LARGE: ReviewQueueLimits = { atATime: 4, waiting: 32 };
const SMALL: ReviewQueueLimits = { atATime: 16, waiting: 64 };

export function reviewJudges(here: HttpHandler, { jobSets, pods }: ReviewThreads): HttpHandler {
  const largePods = queuedReviews(pods, LARGE);
  const largeJobSets = queuedReviews(jobSets, LARGE);
  const smallJobSets = queuedReviews(jobSets, SMALL);
  return (request) => {
    const isLarge = (request.body?.byteLength ?? 0) > SMALL_BODY_BYTES;
    if (isAboutJobSets(request)) return isLarge ? largeJobSets(request) : smallJobSets(request);
    return isLarge ? largePods(request) : here(request);
  };
}

function isAboutJobSets({ path }: HttpRequest): boolean {
  const [hook] = path.split('?');
  return hook === WEBHOOK_PATHS.mutateJobSet || hook === WEBHOOK_PATHS.validateJobSet;
}
