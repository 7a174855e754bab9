/** The interface of a webhook's logic. */
import type { KubeObject } from '@lockstep/kube/meta.ts';
import type { AdmissionRequest } from '@lockstep/kube/objects/admission-webhooks.ts';
import type { Status } from '@lockstep/kube/status.ts';

/**
 * Decides about one request. The server around it reads the review, makes the JSON patch from what
 * a mutating handler returns, and turns a thrown `ApiStatusError` into a refusal.
 */
export type AdmissionHandler = (
  request: AdmissionRequest,
  signal: AbortSignal,
) => Promise<AdmissionAnswer>;

export type AdmissionAnswer =
  | {
      readonly kind: 'Allowed';
      /** The changed object, if this webhook may change it and does. */
      readonly object?: KubeObject;
      readonly warnings?: readonly string[];
    }
  | {
      readonly kind: 'Denied';
      readonly status: Pick<Status, 'message' | 'reason' | 'code' | 'details'>;
      readonly warnings?: readonly string[];
    };
