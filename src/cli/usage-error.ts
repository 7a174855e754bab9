/** The user typed something wrong; the message says what, and how to fix it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
