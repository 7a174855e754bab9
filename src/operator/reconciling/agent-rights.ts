/**
 * Grants the agents of a JobSet their rights and takes them away: a service account, a Role, a
 * RoleBinding.
 */
import { agentAccountName } from '../../jobset/injection/agent-account.ts';
import type { AgentRights } from '../../jobset/injection/agent-rights.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { isChildOf } from '../../jobset/membership.ts';
import { JOBSET_NAME } from '../../jobset/names.ts';
import { deepEqual } from '../../kube/json/deep-equal.ts';
import type { KubeObject, Stored } from '../../kube/meta.ts';
import { SERVICE_ACCOUNTS, type ServiceAccount } from '../../kube/objects/core.ts';
import { ROLE_BINDINGS, ROLES, type Role, type RoleBinding } from '../../kube/objects/rbac.ts';
import type { Resource } from '../../kube/resource.ts';
import { isReason } from '../../kube/status.ts';
import { conflict } from '../../kube/status-errors.ts';
import type { Client } from '../../runtime/client/client.ts';

/**
 * Creates or updates the service account, the Role and the RoleBinding of a JobSet's agents.
 * Idempotent. Rejects if an object of that name has another owner, because rights are never added
 * to a stranger's object.
 */
export async function grantAgentRights(
  context: Grant,
  { serviceAccount, granted }: AgentRights,
): Promise<void> {
  if (serviceAccount !== undefined) await ensureAccount(context, serviceAccount);
  if (granted === undefined) return;
  const { role, binding } = granted;
  await ensure(context, ROLES, role, (found: Role) =>
    deepEqual(found.rules, role.rules) ? undefined : { ...found, rules: role.rules },
  );
  await ensure(context, ROLE_BINDINGS, binding, (found: RoleBinding) => {
    // It cannot be changed, and another Role's rights are not ours to give.
    if (!deepEqual(found.roleRef, binding.roleRef)) {
      const why = `its roleRef is ${found.roleRef.kind} ${found.roleRef.name}, expected ${binding.roleRef.kind} ${binding.roleRef.name}: delete it`;
      throw conflict(ROLE_BINDINGS, binding.metadata.name ?? '', why);
    }
    return deepEqual(found.subjects, binding.subjects)
      ? undefined
      : { ...found, subjects: binding.subjects };
  });
}

/**
 * Deletes the Role and the RoleBinding that `grantAgentRights` has made for this JobSet. Pods name
 * the account, so that stays. Objects of other owners are left alone.
 */
export async function revokeAgentRights(context: Grant): Promise<void> {
  await remove(context, ROLE_BINDINGS);
  await remove(context, ROLES);
}

async function remove<T extends KubeObject>(
  { client, jobSet, signal }: Grant,
  of: Resource<T>,
): Promise<void> {
  const { namespace = '', name: owner } = jobSet.metadata;
  const at = { namespace, name: agentAccountName(owner) };
  try {
    const found = await client.get(of, at, { signal });
    const { metadata } = found;
    if (!isChildOf(found, jobSet) || metadata.labels?.[JOBSET_NAME] !== owner) return;
    await client.delete(of, at, { preconditions: { uid: metadata.uid }, signal });
  } catch (error) {
    // It is gone, or another owner has made one of that name since: both are fine.
    if (!isReason(error, 'NotFound', 'Conflict')) throw error;
  }
}

interface Grant {
  readonly client: Client;
  readonly jobSet: Stored<JobSet>;
  readonly signal: AbortSignal;
}

/** Every namespace has it. Pods that name no account use it, as did those with agents. */
const DEFAULT_ACCOUNT = 'default';

/** With the agent, Pods can still pull every image that they could pull without it. */
async function ensureAccount(context: Grant, wanted: ServiceAccount): Promise<void> {
  const { client, signal } = context;
  const { namespace = '' } = wanted.metadata;
  let pullSecrets: Pick<ServiceAccount, 'imagePullSecrets'> = {};
  try {
    const at = { namespace, name: DEFAULT_ACCOUNT };
    const { imagePullSecrets } = await client.get(SERVICE_ACCOUNTS, at, { signal });
    if (imagePullSecrets !== undefined) pullSecrets = { imagePullSecrets };
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
  }
  await ensure(context, SERVICE_ACCOUNTS, { ...wanted, ...pullSecrets }, () => undefined);
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
