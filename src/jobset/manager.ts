/**
 * Which JobSets Lockstep acts on, by `spec.managedBy`. The field is immutable, so the controller of a
 * JobSet never changes (`docs/migrating-from-upstream.md`).
 */
import { MANAGED_BY_JOBSET, MANAGED_BY_LOCKSTEP } from './names.ts';

export interface ManagedScope {
  /** Only JobSets that name Lockstep: another controller acts on JobSets without the field. */
  readonly onlyManaged?: boolean | undefined;
}

/**
 * Lockstep acts on JobSets that name it. As the only controller of JobSets, it also acts on JobSets
 * that name no controller, or the controller of kubernetes-sigs/jobset, which it replaces.
 */
export function isManagedByUs(
  spec: { readonly managedBy?: string | undefined } | undefined,
  { onlyManaged = false }: ManagedScope = {},
): boolean {
  const manager = spec?.managedBy;
  if (manager === MANAGED_BY_LOCKSTEP) return true;
  return !onlyManaged && (manager === undefined || manager === MANAGED_BY_JOBSET);
}
