/**
 * The messages between the operator and a thread that judges reviews. All of them are plain data.
 */
import type { PartialObjectMetadata } from '@lockstep/kube/meta.ts';
import type { LogLevel } from '@lockstep/kube/runtime/adapters/pino-logger.ts';
import type { Status } from '@lockstep/kube/status.ts';
import type { WebhookRules } from '../webhooks/webhook-handlers.ts';

/** The data that a thread starts with. */
export interface ReviewThreadStart {
  readonly rules: WebhookRules;
  readonly logLevel: LogLevel;
}

export type ToReviewThread =
  | { readonly kind: 'Review'; readonly id: number; readonly review: PostedReview }
  | { readonly kind: 'Answer'; readonly id: number; readonly answer: ClusterAnswer };

export type FromReviewThread =
  | { readonly kind: 'Judged'; readonly id: number; readonly response: PostedResponse }
  | { readonly kind: 'Question'; readonly id: number; readonly question: ClusterQuestion };

/** What a review needs of its request. */
export interface PostedReview {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

export interface PostedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The thread has no access to the cluster, so it asks the operator. */
export type ClusterQuestion =
  | { readonly about: 'Claim'; readonly namespace: string; readonly name: string }
  | { readonly about: 'Minimums'; readonly namespace: string }
  | { readonly about: 'NamespaceAnnotations'; readonly namespace: string }
  | { readonly about: 'RestartAll'; readonly selectors: readonly string[] }
  | {
      readonly about: 'Leader';
      readonly follower: PartialObjectMetadata;
      readonly namespace: string;
    }
  | { readonly about: 'Node'; readonly name: string }
  | {
      readonly about: 'AvoidedNodes';
      readonly pod: PartialObjectMetadata;
      readonly namespace: string;
    };

export type ClusterAnswer =
  | { readonly kind: 'Value'; readonly value: unknown }
  | { readonly kind: 'Refusal'; readonly status: Status }
  | { readonly kind: 'Failure'; readonly message: string };
