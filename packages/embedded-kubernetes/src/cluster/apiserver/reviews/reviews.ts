/** Reviews: questions in the form of objects that are created but never stored. */

import { invalid, invalidValue } from '@lockstep/kube/field-error.ts';
import { defined } from '@lockstep/kube/json/defined.ts';
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { ApiStatusError, type FieldError } from '@lockstep/kube/status.ts';
import { badRequest, methodNotAllowed } from '@lockstep/kube/status-errors.ts';
import { timeText } from '@lockstep/kube/time.ts';
import { kindSchema } from '../../../api-machinery/kind-schemas/kind-definitions.ts';
import { receiveBody } from '../calls/resource-call.ts';
import type { ServerState } from '../calls/server-state.ts';
import type { ApiRequest } from '../http/request.ts';
import { jsonResponse } from '../http/request.ts';
import type { User } from '../identity/authentication.ts';
import { createTokenVerifier, TOKEN_ISSUER } from '../identity/service-account-tokens.ts';
import { type ApiObject, listAt, textAt, valueAt } from '../resources/api-object.ts';
import type { DiscoveredResource, ReceivedKind } from '../resources/served-resource.ts';

/**
 * The questions are: who am I, may I do this, is this token valid. Every authenticated user may do
 * everything.
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
  review('authentication.k8s.io', 'SelfSubjectReview', (_, { user }) => ({
    userInfo: userInfo(user),
  })),
  review('authentication.k8s.io', 'TokenReview', reviewToken),
  review('authorization.k8s.io', 'SelfSubjectAccessReview', mayDo),
  review('authorization.k8s.io', 'SubjectAccessReview', mayOtherDo),
  review('authorization.k8s.io', 'SelfSubjectRulesReview', () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  })),
];

export function answerReview(server: ServerState, of: Review, request: ApiRequest): HttpResponse {
  if (request.method !== 'POST') throw methodNotAllowed();
  const question = receiveBody({ request }, of, 'CreateOptions');
  const status = of.answer(question, { server, user: request.user });
  // Only a review about the requester has a creation time.
  const metadata =
    of.kind === 'SelfSubjectReview'
      ? { ...question.metadata, creationTimestamp: timeText(server.clock.now()) }
      : question.metadata;
  return jsonResponse(201, { ...question, metadata, status });
}

function review(group: string, kind: string, answer: Review['answer']): Review {
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
    schema: kindSchema({ group, version: 'v1', kind }),
    answer,
  };
}

function mayDo(question: ApiObject): JsonObject {
  const errors = attributesErrors(question);
  if (errors.length > 0) throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', errors);
  return { allowed: true };
}

/** A review about another user, who has to be named. */
function mayOtherDo(question: ApiObject): JsonObject {
  const isNamed =
    textAt(question, 'spec', 'user') !== '' || listAt(question, 'spec', 'groups').length > 0;
  if (isNamed) return mayDo(question);
  const why = 'at least one of user or group must be specified';
  const errors = [...attributesErrors(question), invalidValue('spec.user', '', why)];
  throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', errors);
}

function attributesErrors(question: ApiObject): readonly FieldError[] {
  const [resource, other] = ['resourceAttributes', 'nonResourceAttributes'].map((member) =>
    valueAt(question, 'spec', member),
  );
  if (isJsonObject(resource) && isJsonObject(other)) {
    const why = 'cannot be specified in combination with resourceAttributes';
    return [invalidValue('spec.nonResourceAttributes', other, why)];
  }
  if (isJsonObject(resource) || isJsonObject(other)) return [];
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalidValue('spec.resourceAttributes', null, why)];
}

function reviewToken(question: ApiObject, { server }: ReviewContext): JsonObject {
  if (textAt(question, 'spec', 'token') === '') {
    throw badRequest('token is required for TokenReview in authentication');
  }
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
    ...defined({ uid }),
    groups,
    ...defined({ extra }),
  };
}
