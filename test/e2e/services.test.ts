/**
 * The Services of an installation on a real Kubernetes: its API server calls the webhooks by one,
 * and agents find the hub of the leading replica by the other. The operator is a process with
 * everything that a container of the manifest's Deployment gets. It uses an address that is not
 * loopback, because Kubernetes accepts no loopback address behind a Service. The API server reads
 * the endpoints itself (`--enable-aggregator-routing`); for agents, the test is the cluster's name
 * service and network.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CONFIG_MAPS, SERVICE_ACCOUNTS, SERVICES } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { ENDPOINT_SLICES, SERVICE_NAME } from '@lockstep/kube/objects/endpoint-slice.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { CLUSTER_ROLE_BINDINGS, RBAC_GROUP } from '@lockstep/kube/objects/rbac.ts';
import { apiVersionOf } from '@lockstep/kube/resource.ts';
import { freePorts } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createNodeProcessRunner } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import { createPinoLogger } from '@lockstep/kube/runtime/adapters/pino-logger.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WorkerGroup } from '../../src/bench/worker-group.ts';
import { type ControlPlane, joinRunning } from '../../src/cli/local-cluster/control-plane.ts';
import { Watchdog } from '../../src/cli/watchdog/watchdog.ts';
import { DEPLOYMENTS } from '../../src/deploy/kinds.ts';
import { manifest } from '../../src/deploy/manifest.ts';
import { METRICS_READER_NAME, OPERATOR_NAME } from '../../src/deploy/permissions.ts';
import {
  DEFAULT_NAMESPACE,
  defaultSettings,
  type InstallationSettings,
} from '../../src/deploy/settings.ts';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { EPOCH } from '../../src/jobset/names.ts';
import {
  HUB_SERVICE_NAME,
  LEADER_ELECTION_ID,
  WEBHOOK_SERVICE_NAME,
} from '../../src/operator/configuration/object-names.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { tokenOf } from '../integration/api-server.fixture.ts';
import { ADDRESS, CONTROL_PLANE, EXCEPTIONS, KUBERNETES } from '../kubernetes.ts';

const RUNTIME = { clock: nodeClock, random: systemRandom } as const;
const TIMING = { ...RUNTIME, timeoutMs: 60_000 };
const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));
const SETTINGS: InstallationSettings = defaultSettings('0.0.0');
const ACCOUNT = { namespace: DEFAULT_NAMESPACE, name: OPERATOR_NAME };
const HUB_HOST = `${HUB_SERVICE_NAME}.${DEFAULT_NAMESPACE}.svc`;

/** Only the hub's port is published to clients, so the others can be chosen freely. */
const FREE_PORTS = [9443, 8443, 8081];

/** Agents look the hub up in a hosts file of their own. */
const canMount =
  spawnSync('unshare', ['--map-root-user', '--mount', 'mount', '--bind', '/dev/null', '/etc/hosts'])
    .status === 0;

/**
 * Other API servers send requests to the Service's address, which leads nowhere on this machine.
 */
function asksForEndpoints(controlPlane: string): boolean {
  const pid = readFileSync(join(controlPlane, 'kube-apiserver.pid'), 'utf8');
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--enable-aggregator-routing=true');
}

const missing = [
  ...(CONTROL_PLANE !== undefined && asksForEndpoints(CONTROL_PLANE)
    ? []
    : ['a Kubernetes that was started for the tests, with --enable-aggregator-routing']),
  ...(ADDRESS === undefined ? ['a network of their own'] : []),
  ...(canMount ? [] : ['mount namespaces']),
];
const suite = `the Services of an installation${missing.length === 0 ? '' : ` (needs ${missing.join(', ')})`}`;

describe.skipIf(missing.length > 0)(suite, () => {
  const address = ADDRESS ?? '';
  let directory: string;
  let logPath: string;
  let log: number;
  let watchdog: Watchdog;
  let hosts: string;
  let controlPlane: ControlPlane;
  let client: Client;
  let operator: ChildProcess | undefined;
  let ports: ReadonlyMap<number, number>;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'lockstep-services-'));
    logPath = join(directory, 'cluster.log');
    log = openSync(logPath, 'a', 0o600);
    watchdog = Watchdog.start(join(DIST, 'watchdog.js'), directory, true);
    hosts = join(directory, 'hosts');
    const options = {
      ...RUNTIME,
      logger: createPinoLogger({ destination: log, level: 'info' }),
      processes: watchdog.guard(createNodeProcessRunner()),
      stateDirectory: join(directory, 'nodes'),
      path: [agentPrograms(), dirname(process.execPath), process.env['PATH']].join(delimiter),
      nodes: [{ name: 'services-0', labels: {}, podNamespaces: 'Off' as const }],
    };
    controlPlane = await joinRunning(options, KUBERNETES ?? '');
    ({ client } = controlPlane);
    await applyManifest();
    const free = await freePorts(FREE_PORTS.length, systemRandom, address);
    ports = new Map(FREE_PORTS.map((port, i) => [port, free[i] ?? 0]));
    await leadWebhookService();
    operator = await startOperator();
    await leadHubName();
  });

  afterAll(async () => {
    // What a start that failed has installed must go too: webhooks without a server refuse all that follows.
    await endOperator();
    // Webhooks first, because they have no server any more.
    for (const { of, object } of manifest(SETTINGS).toReversed()) {
      const { namespace = '', name = '' } = object.metadata;
      await client.delete(of, { namespace, name }).catch(() => undefined);
    }
    for (const { of, object } of manifest(SETTINGS)) {
      if (of.kind !== 'Namespace' && of.kind !== CUSTOM_RESOURCE_DEFINITIONS.kind) continue;
      const at = { name: object.metadata.name ?? '' };
      await waitFor(client, of, at, (found) => found === undefined, TIMING);
    }
    await controlPlane.stop();
    watchdog.release();
    closeSync(log);
    rmSync(directory, { recursive: true, force: true });
  });

  async function endOperator(): Promise<void> {
    if (operator === undefined) return;
    operator.kill('SIGTERM');
    await once(operator, 'exit');
  }

  /** The program that nodes start as agents: the agent, within the cluster's name service. */
  function agentPrograms(): string {
    const path = join(directory, 'bin');
    mkdirSync(path);
    const agent = join(DIST, 'bin/lockstep-agent');
    const inNames = `mount --bind ${hosts} /etc/hosts && exec ${process.execPath} ${agent} "$@"`;
    writeFileSync(
      join(path, 'lockstep-agent'),
      `#!/bin/sh\nexec unshare --map-root-user --mount sh -c '${inNames}' sh "$@"\n`,
      { mode: 0o755 },
    );
    return path;
  }

  /** All objects except the Deployment, which this process replaces. */
  async function applyManifest(): Promise<void> {
    for (const { of, object } of manifest(SETTINGS)) {
      if (of === DEPLOYMENTS) continue;
      const { namespace = '', name = '' } = object.metadata;
      const patch = { type: 'apply', patch: object, fieldManager: 'test', force: true } as const;
      await client.patch(of, { namespace, name }, patch);
    }
  }

  /** Does what the cluster does for Pods with the labels of the Service. */
  async function leadWebhookService(): Promise<void> {
    const { spec } = await client.get(SERVICES, { ...ACCOUNT, name: WEBHOOK_SERVICE_NAME });
    await client.create(ENDPOINT_SLICES, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        namespace: DEFAULT_NAMESPACE,
        name: WEBHOOK_SERVICE_NAME,
        labels: { [SERVICE_NAME]: WEBHOOK_SERVICE_NAME },
      },
      addressType: 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: (spec?.ports ?? []).map(({ name = '' }) => ({ name, port: ports.get(9443) ?? 0 })),
    });
  }

  /** With the account, the configuration and the arguments of the manifest. */
  async function startOperator(): Promise<ChildProcess> {
    const access = await loadKubeconfig({ path: KUBERNETES, env: {}, homeDirectory: '/' });
    const root = mkdtempSync(join(directory, 'root-'));
    const write = (path: string, text: string): void => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text, { mode: 0o600 });
    };
    const account = 'var/run/secrets/kubernetes.io/serviceaccount';
    write(`${account}/ca.crt`, access.tls.certificateAuthority ?? '');
    write(`${account}/token`, await tokenOf(client, ACCOUNT));
    write(`${account}/namespace`, DEFAULT_NAMESPACE);
    const { data = {} } = await client.get(CONFIG_MAPS, ACCOUNT);
    for (const [file, text] of Object.entries(data)) write(`etc/lockstep/${file}`, text);
    const { hostname, port } = new URL(access.server);
    const child = spawn(process.execPath, [join(DIST, 'operator.js'), ...operatorArguments()], {
      stdio: ['ignore', log, log],
      env: {
        KUBERNETES_SERVICE_HOST: hostname,
        KUBERNETES_SERVICE_PORT: port,
        POD_IP: address,
        LOCKSTEP_ROOT: root,
        LOCKSTEP_POD_IP: address,
        ...Object.fromEntries([...ports].map(([from, to]) => [`LOCKSTEP_PORT_${from}`, `${to}`])),
      },
    });
    watchdog.watch(child.pid ?? 0, once(child, 'exit'));
    const ready = `http://${address}:${ports.get(8081)}/readyz`;
    const leads = async (): Promise<void> => {
      const log = readFileSync(logPath, 'utf8');
      expect(child.exitCode, log).toBeNull();
      expect((await fetch(ready)).ok && (await isLed()), log).toBe(true);
    };
    await until('the operator is ready', leads, TIMING.timeoutMs);
    return child;
  }

  function operatorArguments(): readonly string[] {
    const deployment = manifest(SETTINGS).find(({ of }) => of === DEPLOYMENTS)
      ?.object as unknown as {
      readonly spec: {
        readonly template: {
          readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
        };
      };
    };
    return deployment.spec.template.spec.containers[0]?.args ?? [];
  }

  async function isLed(): Promise<boolean> {
    const at = { namespace: DEFAULT_NAMESPACE, name: LEADER_ELECTION_ID };
    const lease = await client.get(LEASES, at).catch(() => undefined);
    return (lease?.spec?.holderIdentity ?? '') !== '';
  }

  /** Stands for the cluster's name service and network: the name leads to the endpoint. */
  async function leadHubName(): Promise<void> {
    const at = { namespace: DEFAULT_NAMESPACE, name: HUB_SERVICE_NAME };
    const slice = await waitFor(client, ENDPOINT_SLICES, at, (one) => one !== undefined, TIMING);
    const service = await client.get(SERVICES, at);
    expect(slice?.metadata.labels?.[SERVICE_NAME]).toBe(service.metadata.name);
    expect(slice?.ports?.map(({ name, port }) => [name, port])).toEqual(
      service.spec?.ports?.map(({ name, port }) => [name, port]),
    );
    const [endpoint] = slice?.endpoints ?? [];
    writeFileSync(hosts, `127.0.0.1 localhost\n${endpoint?.addresses[0]} ${HUB_HOST}\n`);
  }

  function jobSetWith(spec: Partial<NonNullable<JobSet['spec']>>): JobSet {
    return {
      apiVersion: `${JOBSETS.group}/${JOBSETS.version}`,
      kind: JOBSETS.kind,
      metadata: { namespace: 'default', name: 'asked', labels: {} },
      spec: { replicatedJobs: [replicatedJob('w')], ...spec },
    };
  }

  test('the API server calls the webhooks by theirs: invalid objects are refused, with all causes', async () => {
    const rule = { name: 'r', action: 'FailJobSet' } as const;
    const refused = client.create(
      JOBSETS,
      jobSetWith({
        replicatedJobs: [replicatedJob('w'), replicatedJob('v')],
        successPolicy: { operator: 'All', targetReplicatedJobs: ['nobody'] },
        failurePolicy: { rules: [{ ...rule, onJobFailureMessagePatterns: ['*', '('] }] },
      }),
    );
    const error = await refused.catch((reason: unknown) => reason);
    if (!(error instanceof ApiStatusError)) throw new Error('it was not refused');
    expect(error.code).toBe(422);
    expect(error.message).toMatch(/^admission webhook "\w+\.kb\.io" denied the request/);
    expect(error.status.details?.causes?.map(({ field }) => field)).toEqual(
      expect.arrayContaining([
        'spec.successPolicy.targetReplicatedJobs[0]',
        'spec.failurePolicy.rules[0].onJobFailureMessagePatterns[0]',
        'spec.failurePolicy.rules[0].onJobFailureMessagePatterns[1]',
      ]),
    );
  });

  test('and valid objects are stored with their defaults', async () => {
    const { metadata, spec } = await client.create(JOBSETS, jobSetWith({ suspend: true }));
    expect(spec).toMatchObject({
      network: { enableDNSHostnames: true, publishNotReadyAddresses: true },
      replicatedJobs: [{ template: { spec: { completionMode: 'Indexed' } } }],
    });
    await client.delete(JOBSETS, { namespace: 'default', name: metadata.name });
  });

  test('metrics are for those whom the cluster lets read them', async () => {
    const reader = { namespace: DEFAULT_NAMESPACE, name: 'reader' };
    await client.create(SERVICE_ACCOUNTS, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: reader,
    });
    expect(await metrics()).toBe(401);
    expect(await metrics('no-token')).toBe(401);
    expect(await metrics(await tokenOf(client, reader))).toBe(403);
    const roleRef = {
      apiGroup: RBAC_GROUP,
      kind: 'ClusterRole',
      name: METRICS_READER_NAME,
    } as const;
    const subjects = [{ kind: 'ServiceAccount', ...reader }] as const;
    const binding = { apiVersion: apiVersionOf(CLUSTER_ROLE_BINDINGS), kind: 'ClusterRoleBinding' };
    const metadata = { name: 'reader-of-metrics' };
    await client.create(CLUSTER_ROLE_BINDINGS, { ...binding, metadata, roleRef, subjects });
    // The answer about the first token is cached for a while.
    await until('the reader may read', async () =>
      expect(await metrics(await tokenOf(client, reader))).toBe(200),
    );
    await client.delete(CLUSTER_ROLE_BINDINGS, metadata);
  });

  /** The status code of the answer; the certificate is self-signed. */
  function metrics(token?: string): Promise<number | undefined> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const port = ports.get(8443);
    const options = { host: address, port, path: '/metrics', headers, rejectUnauthorized: false };
    return new Promise((resolve, reject) => {
      const asked = request(options, (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode));
      });
      asked.once('error', reject);
      asked.end();
    });
  }

  const hasSidecars = !EXCEPTIONS.podsAreNotRestarted;
  test.runIf(hasSidecars)(
    'agents find the hub by its Service, also the hub of the next leader',
    async () => {
      const group = await WorkerGroup.start({
        client,
        directory,
        name: 'served',
        mode: 'Sidecar',
        size: 3,
      });
      await group.running(1);
      group.kill(1);
      await group.running(2);

      await endOperator();
      const at = { namespace: DEFAULT_NAMESPACE, name: HUB_SERVICE_NAME };
      // As if it led to a Pod that is gone.
      await client.delete(ENDPOINT_SLICES, at);
      operator = await startOperator();
      await leadHubName();
      group.kill(2);
      await group.running(3);

      expect(group.status).toMatchObject({ inPlaceRestarts: 2, inPlaceRestartsCountTowardsMax: 2 });
      const annotated = group
        .livePods()
        .filter(({ metadata }) => EPOCH in (metadata.annotations ?? {}));
      expect(annotated, 'the hub keeps announcements to itself').toEqual([]);
      await group.remove();
    },
  );
});
