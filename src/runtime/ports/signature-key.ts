/** A public key with which signatures are checked. Real end: `adapters/json-web-keys.ts`. */
export interface SignatureKey {
  /** As a token names it, such as `RS256`: no other algorithm is to be believed with this key. */
  readonly algorithm: string;
  verify(data: Uint8Array, signature: Uint8Array): boolean;
}

/** Makes a key of a member of a JSON Web Key Set; undefined if it cannot be used. */
export type ImportKey = (key: Readonly<Record<string, unknown>>) => SignatureKey | undefined;
