/** A public key that verifies signatures. Implementation: `adapters/tls/json-web-keys.ts`. */
export interface SignatureKey {
  /** As a token names it, such as `RS256`. The key is valid for no other algorithm. */
  readonly algorithm: string;
  verify(data: Uint8Array, signature: Uint8Array): boolean;
}

/** Makes a key from a member of a JSON Web Key Set; undefined if it cannot be used. */
export type ImportKey = (key: Readonly<Record<string, unknown>>) => SignatureKey | undefined;
