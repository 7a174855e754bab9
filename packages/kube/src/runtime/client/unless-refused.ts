import { isReason, type StatusReason } from '../../status.ts';

/** Undefined if the API server answers with one of these reasons. */
export async function unlessRefused<T>(
  request: Promise<T>,
  ...reasons: readonly StatusReason[]
): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isReason(error, ...reasons)) return undefined;
    throw error;
  }
}

/** Undefined if there is no such object. */
export function unlessGone<T>(request: Promise<T>): Promise<T | undefined> {
  return unlessRefused(request, 'NotFound');
}
