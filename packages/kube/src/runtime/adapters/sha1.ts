import { hash } from 'node:crypto';

/** SHA-1 of a text's UTF-8 bytes, in lower-case hex: for names, not for proofs. */
export function sha1(text: string): string {
  return hash('sha1', text);
}
