/**
 * Tests the admission policy for agents, and the rights that the operator gives them, on a real API
 * server: requests carry tokens that are bound to a Pod, as requests of agents do. The embedded
 * server has neither policies nor authorization.
 */

import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import { NAMESPACES, SERVICE_ACCOUNTS, type TokenRequest } from '@lockstep/kube/objects/core.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { ROLE_BINDINGS, ROLES } from '@lockstep/kube/objects/rbac.ts';
import { apiVersionOf, type Resource } from '@lockstep/kube/resource.ts';
import {
  type ClientConnection,
  connectClient,
} from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  VALIDATING_ADMISSION_POLICIES,
  VALIDATING_ADMISSION_POLICY_BINDINGS,
} from '../../src/deploy/kinds.ts';
import { manifest } from '../../src/deploy/manifest.ts';
import { defaultSettings, type Installed } from '../../src/deploy/settings.ts';
import { withDefaults } from '../../src/jobset/defaults.ts';
import { agentRights } from '../../src/jobset/injection/agent-rights.ts';
import { formatNotice } from '../../src/jobset/worker-end/notice.ts';
import type { WorkerEnd } from '../../src/jobset/worker-end/worker-end.ts';
import { KUBERNETES } from '../kubernetes.ts';

const RUNTIME = { clock: nodeClock, random: systemRandom, userAgent: 'lockstep-test' };
const NAMESPACE = 'agent-policy';
const AGENT = 'train-lockstep-agent';
const OWN = 'own-account';
const POLICY_TIMEOUT_MS = 60_000;

const EPOCH = 'jobset.sigs.k8s.io/epoch';
const ATTEMPT = 'jobset.sigs.k8s.io/in-place-restart-attempt';
const STARTS = 'lockstep/agent-starts';
const NOTICE = 'lockstep/notice';

/** Its notice is as long as one may be. */
const END: WorkerEnd = {
  epoch: 10,
  how: 'Exited',
  exit: { exitCode: 1 },
  restartsGroup: true,
  atMs: -61_000,
  silentMs: 2,
  step: 330,
  unfit: 'GPU 3: "2 errors" {uncorrectable}',
  lastWords: 'raise ValueError({})\n}, "ended": {\u2028\n'.repeat(20),
};

const DENIED = /denied request/;

describe.skipIf(KUBERNETES === undefined)('agents on a real Kubernetes', () => {
  const connections: ClientConnection[] = [];
  const removed: (() => Promise<void>)[] = [];
  let admin: Client;
  let pod: Stored<Pod>;
  let agent: Client;
  let own: Client;
  let ownPod: Stored<Pod>;

  beforeAll(async () => {
    admin = await connect();
    await apply(NAMESPACES, { metadata: { name: NAMESPACE } });
    removed.push(() => admin.delete(NAMESPACES, { name: NAMESPACE }));
    for (const policy of policies()) {
      await apply(policy.of, policy.object);
      removed.push(() => admin.delete(policy.of, { name: policy.object.metadata.name ?? '' }));
    }
    await grant();
    pod = await createPod('train-w-0-0-abcde', AGENT);
    ownPod = await createPod('train-w-0-1-abcde', OWN);
    agent = await connect(await tokenOf(AGENT, pod));
    own = await connect(await tokenOf(OWN, ownPod));
    await policyInForce();
  });

  afterAll(async () => {
    for (const remove of removed.reverse()) await remove();
    for (const connection of connections) connection.close();
  });

  async function connect(token?: string): Promise<Client> {
    const access = await loadKubeconfig({ path: KUBERNETES, env: {}, homeDirectory: '/' });
    const { clientCertificate: _certificate, clientKey: _key, ...tls } = access.tls;
    const connection = connectClient(
      token === undefined ? access : { ...access, tls, credentials: { token } },
      RUNTIME,
    );
    connections.push(connection);
    return connection.client;
  }

  async function apply<T extends KubeObject>(
    of: Resource<T>,
    object: Omit<T, 'apiVersion' | 'kind'>,
  ): Promise<void> {
    const { namespace = '', name = '' } = object.metadata;
    const patch = { apiVersion: apiVersionOf(of), kind: of.kind, ...object };
    await admin.patch(of, { namespace, name }, { type: 'apply', patch, fieldManager: 'test' });
  }

  function policies(): readonly Installed[] {
    const kinds: readonly Resource[] = [
      VALIDATING_ADMISSION_POLICIES,
      VALIDATING_ADMISSION_POLICY_BINDINGS,
    ];
    return manifest(defaultSettings('test')).filter(({ of }) => kinds.includes(of));
  }

  /** The accounts of agents, of which an earlier version made the first, and their rights. */
  async function grant(): Promise<void> {
    const pod = { serviceAccountName: OWN, containers: [{ name: 'w' }] };
    const rights = agentRights(
      { name: 'train', namespace: NAMESPACE, uid: '' },
      withDefaults({
        failurePolicy: { restartStrategy: 'InPlaceRestart' },
        replicatedJobs: [{ name: 'a', template: { spec: { template: { spec: pod } } } }],
      }),
      undefined,
      { grantsRights: true },
    );
    if (rights === undefined) throw new Error('no rights');
    for (const name of [AGENT, OWN]) {
      await apply(SERVICE_ACCOUNTS, { metadata: { namespace: NAMESPACE, name } });
    }
    const earlier = { kind: 'ServiceAccount', namespace: NAMESPACE, name: AGENT } as const;
    const { role, binding } = rights;
    await apply(ROLES, withoutOwner(role));
    const subjects = [earlier, ...binding.subjects];
    await apply(ROLE_BINDINGS, withoutOwner({ ...binding, subjects }));
  }

  function withoutOwner<T extends KubeObject>(object: T): T {
    const { ownerReferences: _owner, ...metadata } = object.metadata;
    return { ...object, metadata };
  }

  /** Never runs, because no node fits. */
  function createPod(name: string, serviceAccountName: string): Promise<Stored<Pod>> {
    return admin.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: NAMESPACE,
        name,
        labels: { app: 'train' },
        annotations: { mine: 'kept' },
        finalizers: ['example.com/hold'],
      },
      spec: {
        serviceAccountName,
        nodeSelector: { 'example.com/nowhere': 'true' },
        containers: [{ name: 'worker', image: 'none' }],
      },
    });
  }

  async function tokenOf(account: string, boundTo: Stored<Pod>): Promise<string> {
    const { name, uid } = boundTo.metadata;
    const at = { namespace: NAMESPACE, name: account };
    const answer = await admin.createSubresource<TokenRequest>(SERVICE_ACCOUNTS, at, 'token', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {},
      spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } },
    });
    removed.push(() => release(boundTo));
    return answer.status?.token ?? '';
  }

  async function release({ metadata: { name } }: Stored<Pod>): Promise<void> {
    const patch = { metadata: { finalizers: null } };
    await admin.patch(PODS, { namespace: NAMESPACE, name }, { type: 'merge', patch });
  }

  /** Waits until the API server, which learns of a policy by a watch, applies it. */
  async function policyInForce(): Promise<void> {
    const isDenied = (): Promise<void> =>
      expect(agent.patch(PODS, at(pod), label(`${nodeClock.now()}`))).rejects.toThrow(DENIED);
    await until('the policy is in force', isDenied, POLICY_TIMEOUT_MS);
  }

  const at = ({ metadata: { name } }: Stored<Pod>) => ({ namespace: NAMESPACE, name });
  const label = (value: string) =>
    ({ type: 'merge', patch: { metadata: { labels: { probe: value } } } }) as const;
  const annotate = (who: Client, annotations: Record<string, string | null>, on = pod) =>
    who.patch(PODS, at(on), { type: 'merge', patch: { metadata: { annotations } } });

  test('the API server finds nothing wrong with the policy', async () => {
    const policy = await waitFor(
      admin,
      VALIDATING_ADMISSION_POLICIES,
      { name: 'lockstep-agents' },
      (found) => found?.status?.observedGeneration !== undefined,
      { ...RUNTIME, timeoutMs: POLICY_TIMEOUT_MS },
    );
    expect(policy?.status?.typeChecking?.expressionWarnings).toBeUndefined();
  });

  test('announce their epochs, which never decrease', async () => {
    await annotate(agent, { [EPOCH]: '1', [STARTS]: '1:1' });
    await annotate(agent, { [EPOCH]: '1', [STARTS]: '1:2' });
    await annotate(agent, { [EPOCH]: '9', [STARTS]: '9:1', [NOTICE]: '8' });
    await annotate(agent, { [EPOCH]: '10', [STARTS]: '10:1' });
    await annotate(agent, { [NOTICE]: '{"epoch":10,"exitCode":137}' });
    await annotate(agent, { [NOTICE]: '{"epoch":10,"signal":"SIGKILL"}' });
    await annotate(agent, {
      [NOTICE]: formatNotice({ epoch: 10, end: END }),
    });
    await annotate(agent, { [ATTEMPT]: '0' });
    await agent.patch(PODS, at(pod), { type: 'merge', patch: {} });
    for (const [key, value] of [
      [EPOCH, '9'],
      [EPOCH, null],
      [STARTS, '9:7'],
      [NOTICE, '9'],
      [ATTEMPT, '-1'],
      [EPOCH, 'eleven'],
      [EPOCH, '11 '],
      [STARTS, '11'],
      [NOTICE, '{"epoch":11}'],
      [NOTICE, '{"epoch":11,"exitCode":1,"x":1}'],
      [NOTICE, `{"epoch":11,"exitCode":1,"ended":{${'x'.repeat(981)}}}`],
    ] as const) {
      await expect(annotate(agent, { [key]: value }), `${key}=${value}`).rejects.toThrow(DENIED);
    }
    await annotate(agent, { [STARTS]: '10:4' });
    await expect(annotate(agent, { [STARTS]: '10:3' })).rejects.toThrow(DENIED);
  });

  test('may replace a value that is not a number', async () => {
    await annotate(admin, { [NOTICE]: 'nonsense' });
    await annotate(agent, { [NOTICE]: '12' });
  });

  test.each<[string, object]>([
    ['labels', { metadata: { labels: { app: 'other' } } }],
    ['other annotations', { metadata: { annotations: { mine: 'changed' } } }],
    ['new annotations', { metadata: { annotations: { theirs: 'x' } } }],
    ['annotations that go', { metadata: { annotations: { mine: null } } }],
    ['finalizers', { metadata: { finalizers: [] } }],
    [
      'owners',
      {
        metadata: {
          ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u' }],
        },
      },
    ],
    ['a spec', { spec: { activeDeadlineSeconds: 1 } }],
  ])('may not change %s', async (_, patch) => {
    await expect(agent.patch(PODS, at(pod), { type: 'merge', patch })).rejects.toThrow(DENIED);
  });

  test('annotate no Pod but their own', async () => {
    await expect(annotate(agent, { [EPOCH]: '1' }, ownPod)).rejects.toThrow(
      /only the Pod of its own token/,
    );
    const { status } = await admin.createSubresource<TokenRequest>(
      SERVICE_ACCOUNTS,
      { namespace: NAMESPACE, name: AGENT },
      'token',
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        metadata: {},
        spec: {},
      },
    );
    const unbound = await connect(status?.token ?? '');
    await expect(annotate(unbound, { [EPOCH]: '99' })).rejects.toThrow(DENIED);
  });

  test('with an account of the user’s own are judged only by the annotations of the protocol', async () => {
    await own.patch(PODS, at(ownPod), label('mine'));
    await own.patch(PODS, at(pod), label('mine'));
    await annotate(own, { [EPOCH]: '3' }, ownPod);
    await expect(annotate(own, { [EPOCH]: '2' }, ownPod)).rejects.toThrow(DENIED);
    await expect(annotate(own, { [EPOCH]: '99' }, pod)).rejects.toThrow(DENIED);
    await expect(annotate(own, { [EPOCH]: '4', mine: 'x' }, ownPod)).rejects.toThrow(DENIED);
  });

  test('may do nothing but patch Pods and follow their JobSet', async () => {
    for (const request of [
      () => agent.get(PODS, at(pod)),
      () => agent.list(PODS, { namespace: NAMESPACE }),
      () => agent.delete(PODS, at(pod)),
      () => agent.patch(PODS, at(pod), { type: 'merge', patch: {} }, { subresource: 'status' }),
      () => agent.get(SERVICE_ACCOUNTS, { namespace: NAMESPACE, name: AGENT }),
    ]) {
      await expect(request()).rejects.toMatchObject({ code: 403 });
    }
  });
});
