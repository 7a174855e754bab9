import {
  SELF_SUBJECT_ACCESS_REVIEWS,
  type SubjectAccessReview,
} from '@lockstep/kube/objects/subject-access-review.ts';
import { typeMetaOf } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';

export type ResourceAttributes = NonNullable<SubjectAccessReview['spec']['resourceAttributes']>;

/** Asks the API server whether the user may do something. */
export async function mayI(
  client: Client,
  resourceAttributes: ResourceAttributes,
  signal: AbortSignal,
): Promise<boolean> {
  const of = SELF_SUBJECT_ACCESS_REVIEWS;
  const head = { ...typeMetaOf(of), metadata: {} };
  const review: SubjectAccessReview = { ...head, spec: { resourceAttributes } };
  const { status } = await client.create(of, review, { signal });
  return status?.allowed === true;
}
