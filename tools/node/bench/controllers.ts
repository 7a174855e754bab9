/** Our operator, installed as its guide says, or upstream's controller; one at a time acts on JobSets. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import { ROLE_BINDINGS, ROLES } from '@lockstep/kube/objects/rbac.ts';
import { type Resource, typeMetaOf } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { apply, Neighbour } from '../../../test/neighbours/neighbour.fixture.ts';
import { KUBECONFIG, lockstep, NAMESPACE, RUN } from '../../../test/node/node.ts';
import { setup } from '../../../test/node/setup.ts';
import { UPSTREAM_ACCOUNT } from './kinds.ts';

/** Runs `work` while ours acts. */
export async function withLockstep(work: () => Promise<void>): Promise<void> {
  await setup();
  await work();
  await lockstep('uninstall');
}

/** Runs `work` while upstream's acts: a process with an administrator's rights, under its definition. */
export async function withUpstream(client: Client, work: () => Promise<void>): Promise<void> {
  const directory = join(RUN, 'upstream');
  mkdirSync(directory, { recursive: true });
  const configuration = { featureGates: { InPlaceRestart: true } };
  const options = { client, directory, kubeconfig: KUBECONFIG, configuration };
  const upstream = await Neighbour.start('jobset', options);
  try {
    await giveRights(client);
    await work();
  } finally {
    await upstream.stop();
  }
}

/** To upstream's agents, as its example does. */
async function giveRights(client: Client): Promise<void> {
  const metadata = { name: UPSTREAM_ACCOUNT, namespace: NAMESPACE };
  const subject = { kind: 'ServiceAccount', ...metadata };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: UPSTREAM_ACCOUNT };
  const rules = [
    { apiGroups: [''], resources: ['pods'], verbs: ['patch'] },
    { apiGroups: ['jobset.x-k8s.io'], resources: ['jobsets'], verbs: ['get', 'list', 'watch'] },
  ];
  const objects: readonly (readonly [Resource, object])[] = [
    [SERVICE_ACCOUNTS, {}],
    [ROLES, { rules }],
    [ROLE_BINDINGS, { roleRef, subjects: [subject] }],
  ];
  for (const [of, fields] of objects) {
    await apply(client, of, { ...typeMetaOf(of), metadata, ...fields });
  }
}
