import type { KubeObject } from '../meta.ts';
import { type Resource, resource } from '../resource.ts';

/** Asks the API server whether a user may act on an object or on a path outside the API. */
export interface SubjectAccessReview extends KubeObject {
  readonly spec: {
    readonly user?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
    readonly nonResourceAttributes?: { readonly path: string; readonly verb: string };
    readonly resourceAttributes?: {
      readonly namespace?: string;
      readonly name?: string;
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly subresource?: string;
    };
  };
  readonly status?: { readonly allowed: boolean };
}

export const SUBJECT_ACCESS_REVIEWS: Resource<SubjectAccessReview> = resource(
  'authorization.k8s.io/v1',
  'subjectaccessreviews',
  'SubjectAccessReview',
  'Cluster',
);

/** Asks it about the one who asks. */
export const SELF_SUBJECT_ACCESS_REVIEWS: Resource<SubjectAccessReview> = resource(
  'authorization.k8s.io/v1',
  'selfsubjectaccessreviews',
  'SelfSubjectAccessReview',
  'Cluster',
);
