import { beforeEach, describe, expect, test } from 'vitest';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { withDefaults } from '../../jobset/defaults.ts';
import { agentRights } from '../../jobset/injection/agent-rights.ts';
import { SERVICE_ACCOUNTS } from '../../kube/objects/core.ts';
import { ROLE_BINDINGS, ROLES } from '../../kube/objects/rbac.ts';
import { apiVersionOf, groupResourceOf, type Resource } from '../../kube/resource.ts';
import { MemoryClient } from '../../runtime/memory/memory-client.ts';
import { grantAgentRights, revokeAgentRights } from './agent-rights.ts';

const JOBSET = storedJobSet({
  failurePolicy: { restartStrategy: 'InPlaceRestart' },
  replicatedJobs: [
    { name: 'w', template: { spec: { template: { spec: { containers: [{ name: 'c' }] } } } } },
  ],
});
const { name, namespace = '', uid } = JOBSET.metadata;
const RIGHTS = agentRights(
  { name, namespace, uid },
  withDefaults(JOBSET.spec),
  undefined,
  undefined,
);
const AT = { namespace, name: 'train-lockstep-agent' };

let client: MemoryClient;
beforeEach(() => {
  client = new MemoryClient();
});

function grant(): Promise<void> {
  if (RIGHTS === undefined) throw new Error('an in-place restart has agents');
  const { signal } = new AbortController();
  return grantAgentRights({ client, jobSet: JOBSET, signal }, RIGHTS);
}

function revoke(jobSet = JOBSET): Promise<void> {
  const { signal } = new AbortController();
  return revokeAgentRights({ client, jobSet, signal });
}

async function left(): Promise<readonly string[]> {
  const kinds: readonly Resource[] = [SERVICE_ACCOUNTS, ROLES, ROLE_BINDINGS];
  const found = await Promise.all(
    kinds.map((of) =>
      client.get(of, AT).then(
        () => [of.kind],
        () => [],
      ),
    ),
  );
  return found.flat();
}

describe('taking away rights that no agent needs', () => {
  test('leaves the account, and can be repeated', async () => {
    await grant();
    await revoke();
    expect(await left()).toEqual(['ServiceAccount']);
    await revoke();
    expect(await left()).toEqual(['ServiceAccount']);
  });

  test('leaves objects of an earlier JobSet of that name, and objects without an owner', async () => {
    await grant();
    await revoke({ ...JOBSET, metadata: { ...JOBSET.metadata, uid: 'another' } });
    expect(await left()).toHaveLength(3);
    const patch = { metadata: { ownerReferences: null } };
    await client.patch(ROLES, AT, { type: 'merge', patch });
    await client.patch(ROLE_BINDINGS, AT, { type: 'merge', patch });
    await revoke();
    expect(await left()).toHaveLength(3);
  });

  test('leaves what does not wear our label', async () => {
    await grant();
    const patch = { metadata: { labels: null } };
    await client.patch(ROLES, AT, { type: 'merge', patch });
    await revoke();
    expect(await left()).toEqual(['ServiceAccount', 'Role']);
  });
});

describe('granting agents their rights', () => {
  test('makes the account, the Role and the RoleBinding, and nothing twice', async () => {
    await grant();
    expect((await client.get(ROLES, AT)).rules).toEqual(RIGHTS?.granted?.role.rules);
    expect((await client.get(ROLE_BINDINGS, AT)).subjects).toEqual(
      RIGHTS?.granted?.binding.subjects,
    );
    const before = (await client.get(SERVICE_ACCOUNTS, AT)).metadata;
    await grant();
    expect((await client.get(SERVICE_ACCOUNTS, AT)).metadata).toEqual(before);
  });

  test('lets Pods pull what they could pull as the default account', async () => {
    await client.create(SERVICE_ACCOUNTS, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace, name: 'default' },
      imagePullSecrets: [{ name: 'registry' }],
    });
    await grant();
    const { imagePullSecrets } = await client.get(SERVICE_ACCOUNTS, AT);
    expect(imagePullSecrets).toEqual([{ name: 'registry' }]);
  });

  test('gives agents no other Role than the one it makes', async () => {
    const binding = RIGHTS?.granted?.binding;
    if (binding === undefined) throw new Error('agents of the API channel have rights');
    const roleRef = { ...binding.roleRef, kind: 'ClusterRole', name: 'cluster-admin' } as const;
    await client.create(ROLE_BINDINGS, { ...binding, roleRef, subjects: [] });
    await expect(grant()).rejects.toThrow(
      'its roleRef is ClusterRole cluster-admin, expected Role train-lockstep-agent: delete it',
    );
  });

  test('mends its own Role when it has changed', async () => {
    await grant();
    await client.patch(ROLES, AT, { type: 'merge', patch: { rules: [] } });
    await client.patch(ROLE_BINDINGS, AT, { type: 'merge', patch: { subjects: [] } });
    await grant();
    expect((await client.get(ROLES, AT)).rules).toEqual(RIGHTS?.granted?.role.rules);
    expect((await client.get(ROLE_BINDINGS, AT)).subjects).toEqual(
      RIGHTS?.granted?.binding.subjects,
    );
  });

  test.each<Resource>([SERVICE_ACCOUNTS, ROLES, ROLE_BINDINGS])(
    'refuses $kind of that name that somebody else has made',
    async (of) => {
      await client.create(of, { apiVersion: apiVersionOf(of), kind: of.kind, metadata: AT });
      await expect(grant()).rejects.toThrow(
        `${groupResourceOf(of)} "train-lockstep-agent": it exists and is not controlled by JobSet train`,
      );
    },
  );
});
