import { ROLE_BINDINGS, ROLES } from '@lockstep/kube/objects/rbac.ts';
import { apiVersionOf, groupResourceOf, type Resource } from '@lockstep/kube/resource.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { withDefaults } from '../../jobset/defaults.ts';
import { agentRights } from '../../jobset/injection/agent-rights.ts';
import { grantAgentRights } from './agent-rights.ts';

const JOBSET = storedJobSet({
  failurePolicy: { restartStrategy: 'InPlaceRestart' },
  replicatedJobs: [
    {
      name: 'w',
      template: {
        spec: {
          template: { spec: { serviceAccountName: 'trainer', containers: [{ name: 'c' }] } },
        },
      },
    },
  ],
});
const { name, namespace = '', uid } = JOBSET.metadata;
const RIGHTS = agentRights({ name, namespace, uid }, withDefaults(JOBSET.spec), undefined, {
  grantsRights: true,
});
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

describe('granting agents their rights', () => {
  test('makes the Role and the RoleBinding, and nothing twice', async () => {
    await grant();
    expect((await client.get(ROLES, AT)).rules).toEqual(RIGHTS?.role.rules);
    expect((await client.get(ROLE_BINDINGS, AT)).subjects).toEqual(RIGHTS?.binding.subjects);
    const before = (await client.get(ROLES, AT)).metadata;
    await grant();
    expect((await client.get(ROLES, AT)).metadata).toEqual(before);
    expect(client.calls.filter((call) => call.includes('serviceaccounts'))).toEqual([]);
  });

  test('leaves them to the account that an earlier version made, whose Pods may still run', async () => {
    await grant();
    const own = { kind: 'ServiceAccount', namespace, name: AT.name } as const;
    const stranger = { ...own, name: 'stranger' };
    const patch = { subjects: [own, stranger] };
    await client.patch(ROLE_BINDINGS, AT, { type: 'merge', patch });
    await grant();
    const { subjects } = await client.get(ROLE_BINDINGS, AT);
    expect(subjects.map(({ name: subject }) => subject)).toEqual([AT.name, 'trainer']);
  });

  test('gives agents no other Role than the one it makes', async () => {
    const binding = RIGHTS?.binding;
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
    expect((await client.get(ROLES, AT)).rules).toEqual(RIGHTS?.role.rules);
    expect((await client.get(ROLE_BINDINGS, AT)).subjects).toEqual(RIGHTS?.binding.subjects);
  });

  test.each<Resource>([ROLES, ROLE_BINDINGS])(
    'refuses $kind of that name that somebody else has made',
    async (of) => {
      await client.create(of, { apiVersion: apiVersionOf(of), kind: of.kind, metadata: AT });
      await expect(grant()).rejects.toThrow(
        `${groupResourceOf(of)} "train-lockstep-agent": it exists and is not controlled by JobSet train`,
      );
    },
  );
});
