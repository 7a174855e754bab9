/**
 * `lockstep install` on a real Kubernetes, with this machine as its node. The operator runs in the
 * Pods of the manifest, with the manifest's account and rights, and a group restarts in place with
 * an account of its own, to which the operator gives the rights of agents. Webhooks are off, and
 * agents may use the API server: the Service network, which leads to the webhooks and to the hub,
 * does not reach this machine's Pods.
 */
import { writeFileSync } from 'node:fs';
import { type RequestOptions, request } from 'node:https';
import { join } from 'node:path';
import { MUTATING_WEBHOOK_CONFIGURATIONS } from '@lockstep/kube/objects/admission-webhooks.ts';
import { CONFIG_MAPS, SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { ROLES } from '@lockstep/kube/objects/rbac.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WorkerGroup } from '../../src/bench/worker-group.ts';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { DEFAULT_NAMESPACE } from '../../src/deploy/settings.ts';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import {
  CONFIGURATION_NAME,
  LEADER_ELECTION_ID,
  WEBHOOK_SERVICE_NAME,
} from '../../src/operator/configuration/object-names.ts';
import { MUTATING_CONFIGURATION_NAME } from '../../src/operator/webhooks/webhook-configurations.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { EXCEPTIONS, KUBERNETES } from '../kubernetes.ts';
import { JoinedNode, withAccount } from './joined-node.fixture.ts';

const RUNTIME = { clock: nodeClock, random: systemRandom } as const;
const TIMING = { ...RUNTIME, timeoutMs: 60_000 };
const WITHOUT_WEBHOOKS = ['--webhooks', 'off', '--agent-channel', 'Auto', '--agent-rights'];
const LEASE = { namespace: DEFAULT_NAMESPACE, name: LEADER_ELECTION_ID };
const ACCOUNT = { namespace: 'default', name: 'trainer' };
const RIGHTS = { namespace: 'default', name: 'installed-lockstep-agent' };

const WEBHOOK_PORT = 9443;

/** Asks a webhook about a JobSet, as an API server does. */
function ask(options: RequestOptions): Promise<unknown> {
  const kind = { group: JOBSETS.group, version: JOBSETS.version, kind: JOBSETS.kind };
  const review = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u',
      kind,
      resource: { group: kind.group, version: kind.version, resource: JOBSETS.plural },
      operation: 'CREATE',
      userInfo: {},
      object: {
        apiVersion: `${kind.group}/${kind.version}`,
        kind: kind.kind,
        metadata: { namespace: 'default', name: 'asked' },
        spec: { replicatedJobs: [replicatedJob('w')] },
      },
    },
  };
  const headers = { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const message = request({ ...options, method: 'POST', headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.once('end', () => resolve(JSON.parse(text)));
    });
    message.once('error', reject);
    message.end(JSON.stringify(review));
  });
}

describe.skipIf(KUBERNETES === undefined)('an installation', () => {
  let node: JoinedNode;

  beforeAll(async () => {
    node = await JoinedNode.join('install-0');
  });

  afterAll(() => node.leave());

  async function doctor(): Promise<readonly Finding[]> {
    // With a problem its exit code is 1, and its output tells which.
    const output = await node
      .lockstep('doctor', '-o', 'json')
      .catch(({ stdout }: { readonly stdout: string }) => stdout);
    return (JSON.parse(output) as { readonly findings: readonly Finding[] }).findings;
  }

  async function leader(): Promise<string> {
    const lease = await node.client.get(LEASES, LEASE);
    return lease.spec?.holderIdentity?.split('_')[0] ?? '';
  }

  test('is asked for, becomes ready, and says so', async () => {
    expect(await node.lockstep('install', ...WITHOUT_WEBHOOKS, '--dry-run')).toContain(
      'would be applied',
    );
    const output = await node.lockstep('install', ...WITHOUT_WEBHOOKS);
    expect(output).toMatch(/Lockstep \S+ is ready\n$/);
    const findings = await doctor();
    // API servers take no loopback address behind a Service, and Pods of this machine have such.
    const problems = findings.filter(({ level }) => level === 'problem');
    expect(problems.filter(({ check }) => check !== 'hub-endpoints')).toEqual([]);
    for (const check of ['objects', 'jobset-api', 'operator', 'leader']) {
      expect(findings).toContainEqual(expect.objectContaining({ check, level: 'ok' }));
    }
    const again = await node.lockstep('install', ...WITHOUT_WEBHOOKS);
    expect(again, 'nothing is to wait for').not.toContain('waiting');
  });

  test('takes a file, keeps its settings and edits by hand, and refuses a wrong one', async () => {
    const head = 'apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n';
    const file = join(node.directory, 'operator.yaml');
    writeFileSync(file, `${head}limits: { maxPods: 5000 }\n`);
    await node.lockstep('install', ...WITHOUT_WEBHOOKS, '--config', file);
    const at = { namespace: DEFAULT_NAMESPACE, name: CONFIGURATION_NAME };
    const { data } = await node.client.get(CONFIG_MAPS, at);
    const text = `${data?.['configuration.yaml']}clientConnection: { burst: 600 }\n`;
    const patch = { data: { 'configuration.yaml': text } };
    await node.client.patch(CONFIG_MAPS, at, { type: 'merge', patch });
    const output = await node.lockstep('install', ...WITHOUT_WEBHOOKS);
    expect(output.split('\n').filter((line) => /^(kept|changed)/.test(line))).toEqual([
      'kept: clientConnection.burst 600 (edited by hand)',
      'kept: limits.maxPods 5000 (set by an earlier installation)',
    ]);
    expect(await doctor()).toContainEqual(
      expect.objectContaining({
        check: 'settings',
        text: expect.stringContaining('clientConnection.burst 600, limits.maxPods 5000'),
      }),
    );
    writeFileSync(file, `${head}limits: { maxPod: 5000 }\n`);
    const refused = await node.lockstep('install', '--config', file).catch((error) => error);
    const stderr = expect.stringContaining('unknown key limits.maxPod');
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr });
  });

  const hasSidecars = !EXCEPTIONS.podsAreNotRestarted;
  test.runIf(hasSidecars)(
    'restarts a group in place, with rights of its own account, also when its leader is lost',
    async () => {
      const { client } = node;
      await client.create(SERVICE_ACCOUNTS, {
        apiVersion: 'v1',
        kind: SERVICE_ACCOUNTS.kind,
        metadata: ACCOUNT,
      });
      const group = await WorkerGroup.start({
        client,
        directory: node.directory,
        name: 'installed',
        mode: 'Sidecar',
        size: 3,
        edit: (jobSet) => withAccount(jobSet, ACCOUNT.name),
      });
      await group.running(1);
      const role = await client.get(ROLES, RIGHTS);
      expect(role.metadata.ownerReferences).toMatchObject([{ kind: 'JobSet', name: 'installed' }]);
      const { metadata } = await client.get(SERVICE_ACCOUNTS, ACCOUNT);
      expect(metadata.ownerReferences).toBeUndefined();
      const before = await leader();
      await client.delete(PODS, { namespace: DEFAULT_NAMESPACE, name: before });
      group.kill(1);
      await group.running(2);
      expect(group.status).toMatchObject({ inPlaceRestarts: 1, inPlaceRestartsCountTowardsMax: 1 });
      expect(group.starts()).toHaveLength(2 * group.size);
      expect(await leader()).not.toBe(before);
      await client.delete(
        JOBSETS,
        { namespace: 'default', name: 'installed' },
        { propagationPolicy: 'Background' },
      );
      const gone = (object: unknown): boolean => object === undefined;
      await waitFor(client, ROLES, RIGHTS, gone, TIMING);
      await client.delete(SERVICE_ACCOUNTS, ACCOUNT);
      await Promise.all([group.pods.stop(), group.jobSets.stop()]);
    },
  );

  test('serves webhooks with a certificate that API servers are told to trust', async () => {
    const output = await node.lockstep('install', '--webhooks', 'on');
    expect(output).toMatch(/Lockstep \S+ is ready\n$/);
    const { client } = node;
    const { webhooks = [] } = await client.get(MUTATING_WEBHOOK_CONFIGURATIONS, {
      name: MUTATING_CONFIGURATION_NAME,
    });
    const { clientConfig } = webhooks[0] ?? {};
    expect(clientConfig?.service).toMatchObject({ namespace: DEFAULT_NAMESPACE, port: 443 });
    const pod = await client.get(PODS, { namespace: DEFAULT_NAMESPACE, name: await leader() });
    const answer = await ask({
      host: pod.status?.podIP,
      port: WEBHOOK_PORT,
      servername: `${WEBHOOK_SERVICE_NAME}.${DEFAULT_NAMESPACE}.svc`,
      ca: Buffer.from(clientConfig?.caBundle ?? '', 'base64'),
      path: clientConfig?.service?.path,
    });
    expect(answer).toMatchObject({ response: { uid: 'u', allowed: true, patchType: 'JSONPatch' } });
  });

  test('goes, and leaves JobSets unless a flag says otherwise', async () => {
    expect(await node.lockstep('uninstall')).toContain('--delete-jobsets removes both');
    await node.client.list(JOBSETS);
    await node.lockstep('uninstall', '--delete-jobsets');
    const found = await node.lockstep('doctor').catch((error: unknown) => error);
    expect(found).toMatchObject({ code: 1, stdout: expect.stringContaining('not installed') });
  });
});
