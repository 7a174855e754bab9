/** Gives the accounts of a JobSet's agents their rights: a Role and a RoleBinding. */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import { ROLE_BINDINGS, ROLES, type Role, type RoleBinding } from '@lockstep/kube/objects/rbac.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { conflict } from '@lockstep/kube/status-errors.ts';
import { type AgentRights, agentRightsName } from '../../jobset/injection/agent-rights.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { isChildOf } from '../../jobset/membership.ts';

/**
 * Creates or updates the Role and the RoleBinding of a JobSet's agents. Idempotent. Rejects if an
 * object of that name has another owner, because rights are never added to a stranger's object.
 */
export async function grantAgentRights(
  context: Grant,
  { role, binding }: AgentRights,
): Promise<void> {
  await ensure(context, ROLES, role, (found: Role) =>
    deepEqual(found.rules, role.rules) ? undefined : { ...found, rules: role.rules },
  );
  const earlier = agentRightsName(context.jobSet.metadata.name);
  await ensure(context, ROLE_BINDINGS, binding, (found: RoleBinding) => {
    // The field is immutable, and we must not give the rights of another Role.
    if (!deepEqual(found.roleRef, binding.roleRef)) {
      const why = `its roleRef is ${found.roleRef.kind} ${found.roleRef.name}, expected ${binding.roleRef.kind} ${binding.roleRef.name}: delete it`;
      throw conflict(ROLE_BINDINGS, binding.metadata.name ?? '', why);
    }
    // Pods of an earlier version still run as the account that it made for them.
    const kept = (found.subjects ?? []).filter(({ name }) => name === earlier);
    const subjects = [...kept, ...(binding.subjects ?? [])];
    return deepEqual(found.subjects, subjects) ? undefined : { ...found, subjects };
  });
}

interface Grant {
  readonly client: Client;
  readonly jobSet: Stored<JobSet>;
  readonly signal: AbortSignal;
}

/** `repaired` returns the new state of an existing object, or undefined if it may stay. */
async function ensure<T extends KubeObject>(
  { client, jobSet, signal }: Grant,
  of: Resource<T>,
  wanted: T,
  repaired: (found: Stored<T>) => T | undefined,
): Promise<void> {
  try {
    await client.create(of, wanted, { signal });
    return;
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
  const { namespace = '', name = '' } = wanted.metadata;
  const found = await client.get(of, { namespace, name }, { signal });
  if (!isChildOf(found, jobSet)) {
    const why = `it exists and is not controlled by ${JOBSETS.kind} ${jobSet.metadata.name} (${jobSet.metadata.uid}), whose agents need it: delete it, or rename the JobSet`;
    throw conflict(of, name, why);
  }
  const next = repaired(found);
  if (next !== undefined) await client.update(of, next, { signal });
}
