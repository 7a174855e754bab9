import type { KubeObject } from '../meta.ts';
import { type Resource, resource } from '../resource.ts';

/** Asks the API server which user a token belongs to. */
export interface TokenReview extends KubeObject {
  readonly spec: { readonly token: string; readonly audiences?: readonly string[] };
  readonly status?: {
    readonly authenticated?: boolean;
    readonly error?: string;
    readonly audiences?: readonly string[];
    readonly user?: {
      readonly username?: string;
      readonly uid?: string;
      readonly groups?: readonly string[];
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}

export const TOKEN_REVIEWS: Resource<TokenReview> = resource(
  'authentication.k8s.io/v1',
  'tokenreviews',
  'TokenReview',
  'Cluster',
);
