/**
 * Judges admission reviews in a thread, so that a long review holds up nothing else in this
 * process. The thread starts with the first review and ends after some idle time. A thread that dies,
 * runs out of memory or does not finish is replaced; the API server has to send its reviews again.
 */
import { Worker } from 'node:worker_threads';
import { refusalResponse } from '@lockstep/kube/runtime/client/refusal-response.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type {
  HttpHandler,
  HttpRequest,
  HttpResponse,
} from '@lockstep/kube/runtime/ports/transport.ts';
import { ApiStatusError, failure } from '@lockstep/kube/status.ts';
import { REVIEW_HEAP_MIB } from '../configuration/stream-memory.ts';
import type { ReviewThreads } from '../webhooks/review-judges.ts';
import type { WebhookQuestions } from '../webhooks/webhook-handlers.ts';
import type {
  ClusterAnswer,
  ClusterQuestion,
  FromReviewThread,
  PostedReview,
  ReviewThreadStart,
  ToReviewThread,
} from './review-messages.ts';

export interface ReviewThreadOptions extends ReviewThreadStart {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly questions: WebhookQuestions;
  /** The thread's program; by default the one that is built beside the operator's. */
  readonly program?: URL | undefined;
}

const MAX_YOUNG_HEAP_MIB = 16;
/** A review takes milliseconds, a large one some hundred. */
const SILENCE_TIMEOUT_MS = 3_000;
const QUESTION_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 60_000;
/** API servers retry after this time by themselves. */
const RETRY_AFTER_SECONDS = 1;

const PROGRAM = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/review-thread.js' : './review-thread.js',
  import.meta.url,
);

/** A thread for JobSets and one for Pods. */
export function reviewThreads(
  options: ReviewThreadOptions,
): ReviewThreads & { stop(): Promise<unknown> } {
  const [jobSets, pods] = [new ReviewThread(options), new ReviewThread(options)];
  return {
    jobSets: jobSets.judge,
    pods: pods.judge,
    stop: () => Promise.all([jobSets.stop(), pods.stop()]),
  };
}

export class ReviewThread {
  readonly #options: ReviewThreadOptions;
  readonly #judging = new Map<number, (response: HttpResponse) => void>();
  #worker: Worker | undefined;
  #timer: Timer | undefined;
  #questionsUnderWay = 0;
  #lastId = 0;

  constructor(options: ReviewThreadOptions) {
    this.#options = options;
  }

  readonly judge: HttpHandler = (request) =>
    new Promise((resolve) => {
      const id = ++this.#lastId;
      this.#judging.set(id, resolve);
      this.#post({ kind: 'Review', id, review: posted(request) });
      // Other reviews under way are watched already; our message is no sign that the thread lives.
      if (this.#judging.size === 1) this.#watch();
    });

  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#lose('the operator ends');
    await worker?.terminate();
  }

  #post(message: ToReviewThread): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage(message);
  }

  #start(): Worker {
    const { rules, logLevel, logger, program = PROGRAM } = this.#options;
    const start: ReviewThreadStart = { rules, logLevel };
    const worker = new Worker(program, {
      workerData: start,
      resourceLimits: {
        maxOldGenerationSizeMb: REVIEW_HEAP_MIB - MAX_YOUNG_HEAP_MIB,
        maxYoungGenerationSizeMb: MAX_YOUNG_HEAP_MIB,
      },
    });
    // The thread does not keep the process alive.
    worker.unref();
    const lost = (why: unknown): void => {
      if (this.#worker !== worker) return;
      logger.error('the thread that judges reviews ended and is replaced', { err: why });
      this.#lose('the thread that judged it ended');
    };
    worker.on('error', lost);
    worker.on('exit', (code) => lost(`exit code ${code}`));
    worker.on('message', (message: FromReviewThread) => {
      if (this.#worker === worker) this.#heard(message);
    });
    return worker;
  }

  #heard(message: FromReviewThread): void {
    const { id } = message;
    switch (message.kind) {
      case 'Judged':
        this.#judging.get(id)?.(message.response);
        this.#judging.delete(id);
        break;
      case 'Question':
        void this.#answer(id, message.question);
        break;
    }
    this.#watch();
  }

  async #answer(id: number, question: ClusterQuestion): Promise<void> {
    const worker = this.#worker;
    const { questions, clock } = this.#options;
    this.#questionsUnderWay++;
    const answer = await withDeadline(clock, QUESTION_TIMEOUT_MS, undefined, (signal) =>
      found(questions, question, signal),
    ).then((value): ClusterAnswer => ({ kind: 'Value', value }), failed);
    this.#questionsUnderWay--;
    if (worker !== this.#worker) return;
    this.#post({ kind: 'Answer', id, answer });
    this.#watch();
  }

  /** Restarts the watch with each sign of life. */
  #watch(): void {
    const { clock } = this.#options;
    this.#timer?.cancel();
    this.#timer =
      this.#judging.size === 0
        ? clock.setTimer(IDLE_TIMEOUT_MS, () => this.#end())
        : clock.setTimer(SILENCE_TIMEOUT_MS, () => this.#silent());
  }

  #silent(): void {
    if (this.#questionsUnderWay > 0) {
      this.#watch();
      return;
    }
    const reviews = this.#judging.size;
    this.#options.logger.error('a review is not judged in time: its thread is replaced', {
      reviews,
    });
    this.#end();
    this.#lose('it was not judged in time');
  }

  #end(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }

  #lose(why: string): void {
    this.#timer?.cancel();
    this.#worker = undefined;
    const lost = [...this.#judging.values()];
    this.#judging.clear();
    const details = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    const refusal = failure('ServiceUnavailable', `the review has no answer: ${why}`, details);
    for (const resolve of lost) resolve(refusalResponse(refusal));
  }
}

function posted({ method, path, headers, body }: HttpRequest): PostedReview {
  return { method, path, headers, body };
}

function found(
  { jobSets, pods }: WebhookQuestions,
  question: ClusterQuestion,
  signal: AbortSignal,
): Promise<unknown> {
  switch (question.about) {
    case 'Claim':
      return jobSets.claim(question, signal);
    case 'Minimums':
      return jobSets.minimums(question.namespace, signal);
    case 'NamespaceAnnotations':
      return jobSets.namespaceAnnotations?.(question.namespace, signal) ?? Promise.resolve({});
    case 'RestartAll':
      return jobSets.restartAllProblem(question.selectors, signal);
    case 'Leader':
      return pods.leaderOf(question.follower, question.namespace);
    case 'Node':
      return pods.node(question.name);
    case 'AvoidedNodes':
      return pods.avoidedNodes(question.pod, question.namespace);
  }
}

function failed(error: unknown): ClusterAnswer {
  if (error instanceof ApiStatusError) return { kind: 'Refusal', status: error.status };
  return { kind: 'Failure', message: error instanceof Error ? error.message : String(error) };
}
