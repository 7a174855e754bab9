/**
 * Which JobSets are Lockstep's, by `spec.managedBy`. The field is immutable, so a JobSet never
 * changes hands (`docs/migrating-from-upstream.md`).
 */
import { MANAGED_BY_JOBSET, MANAGED_BY_LOCKSTEP } from './names.ts';

export interface ManagedScope {
  /** Only JobSets that name Lockstep: another controller acts on those that name nobody. */
  readonly onlyManaged?: boolean | undefined;
}

/**
 * Lockstep acts on JobSets that name it. Where it is the only controller of JobSets, it also acts
 * on those that name nobody, or the controller of kubernetes-sigs/jobset, whose place it takes.
 */
export function isManagedByUs(
  spec: { readonly managedBy?: string | undefined } | undefined,
  { onlyManaged = false }: ManagedScope = {},
): boolean {
  const manager = spec?.managedBy;
  if (manager === MANAGED_BY_LOCKSTEP) return true;
  return !onlyManaged && (manager === undefined || manager === MANAGED_BY_JOBSET);
}
