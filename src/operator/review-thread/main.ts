/** The thread that judges admission reviews: the operator's endpoint behind messages. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { assert } from '@lockstep/kube/assert.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { PersistentVolumeClaim } from '@lockstep/kube/objects/core.ts';
import type { Node } from '@lockstep/kube/objects/node.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createPinoLogger } from '@lockstep/kube/runtime/adapters/pino-logger.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import type { LeaderFinding } from '../../jobset/exclusive-placement.ts';
import type { ContainerMinimums } from '../../jobset/injection/agent-resources.ts';
import type {
  ClusterAnswer,
  ClusterQuestion,
  FromReviewThread,
  PostedResponse,
  PostedReview,
  ReviewThreadStart,
  ToReviewThread,
} from '../adapters/review-messages.ts';
import { admissionEndpoint } from '../webhooks/admission-endpoint.ts';
import { webhookHandlers } from '../webhooks/webhook-handlers.ts';

const STANDARD_ERROR = 2;

assert(parentPort !== null, 'this program runs as a thread of the operator');
serve(parentPort, workerData as ReviewThreadStart);

function serve(port: MessagePort, { rules, logLevel }: ReviewThreadStart): void {
  const waiting = new Map<number, (answer: ClusterAnswer) => void>();
  let lastId = 0;
  const post = (message: FromReviewThread): void => port.postMessage(message);
  const ask = async (question: ClusterQuestion): Promise<unknown> => {
    const id = ++lastId;
    const answer = await new Promise<ClusterAnswer>((resolve) => {
      waiting.set(id, resolve);
      post({ kind: 'Question', id, question });
    });
    switch (answer.kind) {
      case 'Value':
        return answer.value;
      case 'Refusal':
        throw new ApiStatusError(answer.status);
      case 'Failure':
        throw new Error(answer.message);
    }
  };
  const endpoint = admissionEndpoint({
    // Each question has one type of answer.
    handlers: webhookHandlers(rules, {
      jobSets: {
        claim: async (at) => (await ask({ about: 'Claim', ...at })) as PersistentVolumeClaim,
        minimums: async (namespace) =>
          (await ask({ about: 'Minimums', namespace })) as ContainerMinimums,
        namespaceAnnotations: async (namespace) =>
          (await ask({ about: 'NamespaceAnnotations', namespace })) as StringMap,
        restartAllProblem: async (selectors) =>
          (await ask({ about: 'RestartAll', selectors })) as string | undefined,
      },
      pods: {
        leaderOf: async ({ apiVersion, kind, metadata }, namespace) => {
          const follower = { apiVersion, kind, metadata };
          return (await ask({ about: 'Leader', follower, namespace })) as LeaderFinding;
        },
        avoidedNodes: async ({ apiVersion, kind, metadata }, namespace) => {
          const pod = { apiVersion, kind, metadata };
          return (await ask({ about: 'AvoidedNodes', pod, namespace })) as readonly string[];
        },
        node: async (name) => (await ask({ about: 'Node', name })) as Node | undefined,
      },
    }),
    clock: nodeClock,
    logger: createPinoLogger({ destination: STANDARD_ERROR, level: logLevel }),
  });
  const judge = async ({ body, ...review }: PostedReview): Promise<PostedResponse> => {
    const { signal } = new AbortController();
    const response = await endpoint({ ...review, body, signal });
    assert(response.body instanceof Uint8Array, 'an answer is never a stream');
    return { status: response.status, headers: response.headers, body: response.body };
  };
  port.on('message', (message: ToReviewThread) => {
    const { id } = message;
    switch (message.kind) {
      case 'Answer':
        waiting.get(id)?.(message.answer);
        waiting.delete(id);
        break;
      case 'Review':
        void judge(message.review).then((response) => post({ kind: 'Judged', id, response }));
        break;
    }
  });
}
