import { randomUUID } from 'node:crypto';
import type { Random } from '../ports/random.ts';

/**
 * The system's randomness: unpredictable UIDs, and numbers for jitter and names. Not for secrets.
 */
export const systemRandom: Random = {
  next: () => Math.random(),
  uuid: () => randomUUID(),
};
