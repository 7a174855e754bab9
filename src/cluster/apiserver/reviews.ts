import { invalid, invalidValue } from '../../kube/field-error.ts';
import { isJsonObject, type JsonObject } from '../../kube/json-value.ts';
import type { JsonSchema } from '../../kube/schema/json-schema.ts';
import {
  SELF_SUBJECT_ACCESS_REVIEW,
  SELF_SUBJECT_REVIEW,
  SELF_SUBJECT_RULES_REVIEW,
  SUBJECT_ACCESS_REVIEW,
  TOKEN_REVIEW,
} from '../../kube/schema/review-schema.ts';
import { ApiStatusError } from '../../kube/status.ts';
import { methodNotAllowed } from '../../kube/status-errors.ts';
import { timeText } from '../../kube/time.ts';
import type { HttpResponse } from '../../runtime/ports/transport.ts';
import { type ApiObject, listAt, textAt, valueAt } from './api-object.ts';
import type { User } from './authentication.ts';
import type { DiscoveredResource } from './discovery.ts';
import type { ReceivedKind } from './receive.ts';
import type { ApiRequest } from './request.ts';
import { jsonResponse } from './request.ts';
import { receiveBody } from './resource-call.ts';
import type { ServerState } from './server-state.ts';
import { createTokenVerifier, TOKEN_ISSUER } from './service-account-tokens.ts';

/**
 * Questions that are asked by creating an object that nobody stores: who am I, may I, is this token
 * good. Whoever is known may do everything.
 */
export interface Review extends DiscoveredResource, ReceivedKind {
  readonly listKind: string;
  /** The status of the answer. */
  answer(question: ApiObject, context: ReviewContext): JsonObject;
}

export interface ReviewContext {
  readonly server: ServerState;
  readonly user: User;
}

export const REVIEWS: readonly Review[] = [
  review('authentication.k8s.io', 'SelfSubjectReview', SELF_SUBJECT_REVIEW, (_, { user }) => ({
    userInfo: userInfo(user),
  })),
  review('authentication.k8s.io', 'TokenReview', TOKEN_REVIEW, reviewToken),
  review('authorization.k8s.io', 'SelfSubjectAccessReview', SELF_SUBJECT_ACCESS_REVIEW, mayDo),
  review('authorization.k8s.io', 'SubjectAccessReview', SUBJECT_ACCESS_REVIEW, mayDo),
  review('authorization.k8s.io', 'SelfSubjectRulesReview', SELF_SUBJECT_RULES_REVIEW, () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  })),
];

export function answerReview(server: ServerState, of: Review, request: ApiRequest): HttpResponse {
  if (request.method !== 'POST') throw methodNotAllowed();
  const question = receiveBody({ request }, of, 'CreateOptions');
  const status = of.answer(question, { server, user: request.user });
  const creationTimestamp = timeText(server.clock.now());
  return jsonResponse(201, {
    ...question,
    metadata: { ...question.metadata, creationTimestamp },
    status,
  });
}

function review(group: string, kind: string, schema: JsonSchema, answer: Review['answer']): Review {
  return {
    group,
    version: 'v1',
    plural: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    kind,
    listKind: `${kind}List`,
    namespaced: false,
    shortNames: [],
    categories: [],
    verbs: ['create'],
    subresources: [],
    custom: false,
    schema,
    answer,
  };
}

function mayDo(question: ApiObject): JsonObject {
  const asked = ['resourceAttributes', 'nonResourceAttributes'].filter((member) =>
    isJsonObject(valueAt(question, 'spec', member)),
  );
  if (asked.length === 1) return { allowed: true, reason: 'everybody may do everything here' };
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  throw invalid({ group: 'authorization.k8s.io', kind: question.kind }, '', [
    invalidValue('spec.resourceAttributes', null, why),
  ]);
}

function reviewToken(question: ApiObject, { server }: ReviewContext): JsonObject {
  const asked = listAt(question, 'spec', 'audiences').map(String);
  const audiences = asked.length === 0 ? [TOKEN_ISSUER] : asked;
  if (server.tokenSigner !== undefined) {
    const verifier = createTokenVerifier(server.tokenSigner, server.resources, server.clock);
    try {
      const user = verifier.verify(textAt(question, 'spec', 'token'), audiences);
      if (user !== undefined) return { authenticated: true, user: userInfo(user), audiences };
    } catch (error) {
      if (!(error instanceof ApiStatusError)) throw error;
      return { user: {}, error: error.message };
    }
  }
  return { user: {}, error: 'invalid bearer token' };
}

function userInfo({ username, uid, groups, extra }: User): JsonObject {
  return {
    username,
    ...(uid === undefined ? {} : { uid }),
    groups,
    ...(extra === undefined ? {} : { extra }),
  };
}
