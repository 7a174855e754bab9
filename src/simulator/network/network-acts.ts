/** Acts of scenarios that have webhooks or tokens of a cluster. */
export type NetworkAct =
  | { readonly kind: 'WebhooksDown'; readonly fault: WebhookFault; readonly forMs: number }
  /** The user asks for what webhooks refuse. */
  | { readonly kind: 'ChangeRefused'; readonly change: RefusedChange }
  | {
      readonly kind: 'TokenInvalid';
      readonly member: number;
      readonly how: InvalidToken;
      readonly forMs: number;
    }
  /** What the agent tells the hub comes this much later; then it connects again. */
  | { readonly kind: 'HubLate'; readonly member: number; readonly forMs: number }
  /** The API server checks no token, and publishes no keys. */
  | { readonly kind: 'TokensUnchecked'; readonly forMs: number };

export const WEBHOOK_FAULTS = ['Slow', 'Cut', 'Refuses429', 'Refuses500', 'LosesAnswers'] as const;
export const INVALID_TOKENS = ['Expired', 'ForApiServer', 'Unsigned'] as const;
export const REFUSED_CHANGES = ['Image', 'BackoffLimit', 'ProgressTimeout'] as const;
export type InvalidToken = (typeof INVALID_TOKENS)[number];
export type RefusedChange = (typeof REFUSED_CHANGES)[number];
type WebhookFault = (typeof WEBHOOK_FAULTS)[number];

export const WEBHOOK_KINDS = ['WebhooksDown', 'ChangeRefused'] as const;
export const LATE_KINDS = ['HubLate'] as const;
export const TOKEN_KINDS = ['TokenInvalid', 'TokensUnchecked'] as const;
