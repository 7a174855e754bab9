/** Types of admission webhooks and their configurations. */
import type { KubeObject, LabelSelector } from '../meta.ts';
import { type Resource, resource } from '../resource.ts';
import type { Status } from '../status.ts';

/** `admission.k8s.io/v1 AdmissionReview`: an API server's question to a webhook, and its answer. */
export interface AdmissionReview {
  readonly apiVersion: 'admission.k8s.io/v1';
  readonly kind: 'AdmissionReview';
  readonly request?: AdmissionRequest;
  readonly response?: AdmissionResponse;
}

export interface AdmissionRequest {
  /** The answer repeats it. */
  readonly uid: string;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subResource?: string;
  readonly requestKind?: GroupVersionKind;
  readonly requestResource?: GroupVersionResource;
  readonly requestSubResource?: string;
  /** Empty for an object with `generateName`. */
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: AdmissionOperation;
  readonly userInfo: UserInfo;
  /** Absent on DELETE. */
  readonly object?: KubeObject;
  /** Present on UPDATE and DELETE. */
  readonly oldObject?: KubeObject;
  readonly dryRun?: boolean;
  readonly options?: Readonly<Record<string, unknown>>;
}

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  /** The reason for a refusal; its code and message reach the user. */
  readonly status?: Partial<Status>;
  /** JSONPatch in base64. */
  readonly patch?: string;
  readonly patchType?: 'JSONPatch';
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** `admissionregistration.k8s.io/v1 MutatingWebhookConfiguration`. */
export interface MutatingWebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly MutatingWebhook[];
}
export const MUTATING_WEBHOOK_CONFIGURATIONS: Resource<MutatingWebhookConfiguration> = resource(
  'admissionregistration.k8s.io/v1',
  'mutatingwebhookconfigurations',
  'MutatingWebhookConfiguration',
  'Cluster',
);

/** `admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration`. */
export interface ValidatingWebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly Webhook[];
}
export const VALIDATING_WEBHOOK_CONFIGURATIONS: Resource<ValidatingWebhookConfiguration> = resource(
  'admissionregistration.k8s.io/v1',
  'validatingwebhookconfigurations',
  'ValidatingWebhookConfiguration',
  'Cluster',
);

export interface Webhook {
  /** Fully qualified, unique in its configuration. */
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly WebhookRule[];
  readonly failurePolicy?: 'Fail' | 'Ignore';
  readonly matchPolicy?: 'Exact' | 'Equivalent';
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly sideEffects: 'None' | 'NoneOnDryRun';
  /** 1 to 30, 10 by default. */
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions: readonly string[];
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
}

export interface MutatingWebhook extends Webhook {
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
}

/** Exactly one of `url` and `service`. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** PEM in base64; absent: the system's authorities. */
  readonly caBundle?: string;
}

export interface WebhookRule {
  readonly operations: readonly (AdmissionOperation | '*')[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope?: 'Cluster' | 'Namespaced' | '*';
}
