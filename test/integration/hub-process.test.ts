/**
 * The hub with real processes: operators that are killed, agents without any rights at the API
 * server, and strangers at its port. Agents use TLS, with tokens of the cluster.
 */
import net from 'node:net';
import tls from 'node:tls';
import { createTokenSigner, issueToken } from '@lockstep/embedded-kubernetes/in-memory';
import type { Stored } from '@lockstep/kube/meta.ts';
import {
  CONFIG_MAPS,
  SECRETS,
  SERVICE_ACCOUNTS,
  type TokenRequest,
} from '@lockstep/kube/objects/core.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { ROLE_BINDINGS, ROLES } from '@lockstep/kube/objects/rbac.ts';
import { SUBJECT_ACCESS_REVIEWS } from '@lockstep/kube/objects/subject-access-review.ts';
import { freePorts } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import { createStreamConnector } from '@lockstep/kube/runtime/adapters/stream-connector.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { createCertificateAuthority } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { staticToken } from '@lockstep/kube/runtime/credentials/credential-source.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ByteStream } from '@lockstep/kube/runtime/ports/stream.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WorkerGroup } from '../../src/bench/worker-group.ts';
import type { JobSet } from '../../src/jobset/jobset.ts';
import {
  ENV_HUB_CA,
  EPOCH,
  HUB_AUDIENCE,
  HUB_AUTHORITIES_NAME,
  HUB_PATH,
  HUB_PROTOCOL,
} from '../../src/jobset/names.ts';
import { AGENT_MODES, KUBERNETES } from '../kubernetes.ts';
import type { ApiProxy } from './api-proxy.fixture.ts';
import {
  ClusterInBadWeather,
  OPERATOR,
  type OperatorProcess,
  PATIENCE_MS,
  RUNTIME,
  until,
} from './bad-weather.fixture.ts';

const cluster = new ClusterInBadWeather();
const HUB_SECRET = { namespace: OPERATOR.namespace, name: 'hub-process-cert' };
const AUTHORITIES = { namespace: 'default', name: HUB_AUTHORITIES_NAME };
let proxy: ApiProxy;
/** Ports of every operator here, so that agents find the next one where the last one was. */
let [hubPort, metricsPort] = [0, 0];
beforeAll(async () => {
  await cluster.start({ agentsHaveRights: false });
  proxy = await cluster.proxy();
  [hubPort = 0, metricsPort = 0] = await freePorts(2, systemRandom);
});
afterAll(() => cluster.stop());

/** By default agents can use only its hub. */
function startOperator(channel: 'Hub' | 'Auto' = 'Hub'): OperatorProcess {
  const hub = ['--hub-bind-address', `127.0.0.1:${hubPort}`, '--agent-channel', channel];
  const metrics = ['--metrics-bind-address', `127.0.0.1:${metricsPort}`];
  const secret = ['--hub-secret-name', HUB_SECRET.name];
  return cluster.startOperator(proxy, ...hub, ...metrics, ...secret);
}

/** The value of a series, 0 if there is none. */
async function metric(series: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  const line = (await response.text()).split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.split(' ')[1] ?? 0);
}

const RESTARTS = 20;
/** A few seconds on an idle machine. */
const LONG_MS = 180_000;

test('an operator that is killed in a loop during twenty restarts loses none and adds none', {
  timeout: LONG_MS,
}, async () => {
  let operator = startOperator();
  const group = await cluster.group('looped');
  for (let restart = 1; restart <= RESTARTS; restart++) {
    group.kill(restart % group.size);
    if (restart % 4 === 0) {
      // The moment of its death wanders through the restart, which takes some ten milliseconds.
      await sleep(RUNTIME.clock, 2 * restart);
      await operator.kill();
      operator = startOperator();
    }
    await group.running(restart + 1);
  }
  expect(group.status).toMatchObject({
    deprecatedEpoch: RESTARTS,
    syncedEpoch: RESTARTS + 1,
    inPlaceRestarts: RESTARTS,
    inPlaceRestartsCountTowardsMax: RESTARTS,
  });
  expectLockstep(group);
  const witnesses = (group.status.restartHistory ?? []).map(({ witness }) => witness?.signal);
  expect(new Set(witnesses)).toEqual(new Set(['SIGKILL']));
  await cluster.remove(group);
  await operator.kill();
});

/** All start once in each epoch, and none before every other worker of the last one has ended. */
function expectLockstep(group: WorkerGroup): void {
  const { size } = group;
  let starts = 0;
  let ends = 0;
  for (const { what } of group.marks()) {
    if (what === 'end') {
      ends++;
      continue;
    }
    // One worker of each epoch is killed, and marks nothing.
    const epochsBefore = Math.floor(starts / size);
    expect(ends).toBe(epochsBefore * (size - 1));
    starts++;
  }
  expect(starts).toBe((RESTARTS + 1) * size);
}

/** With Pods that mount no token of their account. */
function withoutTokens(jobSet: JobSet): JobSet {
  const replicatedJobs = (jobSet.spec?.replicatedJobs ?? []).map((job) => {
    const { spec } = job.template;
    const pod = { ...spec.template.spec, automountServiceAccountToken: false };
    return { ...job, template: { spec: { ...spec, template: { ...spec.template, spec: pod } } } };
  });
  return { ...jobSet, spec: { ...jobSet.spec, replicatedJobs } };
}

const DEFAULT_ACCOUNT = { namespace: 'default', name: 'default' };

async function setPullSecrets(names: readonly string[]): Promise<void> {
  const patch = { imagePullSecrets: names.map((name) => ({ name })) };
  await cluster.client.patch(SERVICE_ACCOUNTS, DEFAULT_ACCOUNT, { type: 'merge', patch });
}

describe('agents whose service account has no rights at all', () => {
  test.each(AGENT_MODES)('take part in %s mode, as that account', async (mode) => {
    const operator = startOperator();
    const name = `powerless-${mode.toLowerCase()}`;
    await setPullSecrets(['registry']);
    const group = await cluster.group(name, mode, 3, withoutTokens);
    await setPullSecrets([]);
    const before = group.livePods().map(({ metadata }) => metadata.uid);
    for (const { spec } of group.livePods()) {
      expect(spec.serviceAccountName).toBe('default');
      expect(spec.imagePullSecrets).toEqual([{ name: 'registry' }]);
      const mounted = JSON.stringify(spec);
      expect(mounted).toContain('/var/run/secrets/lockstep-hub');
      expect(mounted).not.toContain('/var/run/secrets/kubernetes.io/serviceaccount');
    }
    expect(await agentRights(group)).toEqual([]);
    group.kill(1);
    await group.running(2);
    const after = group.livePods();
    expect(after.map(({ metadata }) => metadata.uid)).toEqual(before);
    // No announcement was written there.
    expect(after.filter(({ metadata }) => metadata.annotations?.[EPOCH] !== undefined)).toEqual([]);
    expect(group.status).toMatchObject({ inPlaceRestarts: 1, inPlaceRestartsCountTowardsMax: 1 });
    const at = { namespace: 'default', name: `${name}-lockstep-agent` };
    await expect(cluster.client.get(SERVICE_ACCOUNTS, at)).rejects.toThrow('not found');
    await cluster.remove(group);
    await operator.kill();
  });
});

describe('an operator that is installed again, with other authorities', () => {
  test.each(['Hub', 'Auto'] as const)(
    'is found by a group that runs, with channel %s',
    {
      timeout: LONG_MS,
    },
    async (channel) => {
      let operator = startOperator(channel);
      const group = await cluster.group(`stranded-${channel.toLowerCase()}`);
      const held = await cluster.client.get(CONFIG_MAPS, AUTHORITIES);
      await operator.kill();
      await cluster.client.delete(SECRETS, HUB_SECRET);
      operator = startOperator(channel);
      await until('agents trust the new authority', async () => {
        return (await metric('lockstep_hub_streams').catch(() => 0)) === group.size;
      });
      const renewed = await cluster.client.get(CONFIG_MAPS, AUTHORITIES);
      expect(renewed.data).not.toEqual(held.data);
      group.kill(1);
      await group.running(2);
      expect(group.status).toMatchObject({ inPlaceRestarts: 1, inPlaceRestartsCountTowardsMax: 1 });
      expect(group.starts()).toHaveLength(2 * group.size);
      await cluster.remove(group);
      await operator.kill();
    },
  );
});

/** The objects for the agents of the group, and what their account may do that an agent needs. */
async function agentRights(group: WorkerGroup): Promise<readonly string[]> {
  const namespace = 'default';
  const { items: roles } = await cluster.client.list(ROLES, { namespace });
  const { items: bindings } = await cluster.client.list(ROLE_BINDINGS, { namespace });
  const names = [...roles, ...bindings].map(({ metadata }) => metadata.name);
  const account = group.livePods()[0]?.spec.serviceAccountName ?? '';
  const reviews = await Promise.all([
    review(account, { verb: 'patch', group: '', resource: 'pods' }),
    review(account, { verb: 'watch', group: 'jobset.x-k8s.io', resource: 'jobsets' }),
  ]);
  return [...names.filter((name) => name.startsWith(group.name)), ...reviews.flat()];
}

/** The allowed requests. The embedded API server does not check rights, so it allows all. */
async function review(
  account: string,
  attributes: { readonly verb: string; readonly group: string; readonly resource: string },
): Promise<readonly string[]> {
  if (KUBERNETES === undefined) return [];
  const user = `system:serviceaccount:default:${account}`;
  const { status } = await cluster.client.create(SUBJECT_ACCESS_REVIEWS, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: SUBJECT_ACCESS_REVIEWS.kind,
    metadata: {},
    spec: { user, resourceAttributes: { namespace: 'default', ...attributes } },
  });
  return status?.allowed === true ? [`${attributes.verb} ${attributes.resource}`] : [];
}

describe('strangers at the port of the hub', () => {
  let operator: OperatorProcess;
  let group: WorkerGroup;
  beforeAll(async () => {
    operator = startOperator();
    group = await cluster.group('unmoved');
    // Members of other tests are gone.
    await until('its members are there alone', hasAllStreams);
  });
  afterAll(async () => {
    await cluster.remove(group);
    await operator.kill();
  });

  async function hasAllStreams(): Promise<boolean> {
    return (await metric('lockstep_hub_streams')) === group.size;
  }

  /** Its members have kept their streams, and restart at once. */
  async function expectUnmoved(): Promise<void> {
    const epoch = (group.status.syncedEpoch ?? 0) + 1;
    expect(await hasAllStreams()).toBe(true);
    group.kill(1);
    await group.running(epoch);
    expect(await metric('lockstep_hub_streams_closed_total{reason="Closed"}')).toBe(0);
    expect(group.status.inPlaceRestarts).toBe(epoch - 1);
  }

  test('ten thousand who never say who they are', { timeout: LONG_MS }, async () => {
    const sockets = Array.from({ length: STRANGERS }, () => {
      const socket = net.connect(hubPort, '127.0.0.1');
      return socket.on('error', () => undefined);
    });
    // The last ones are cut off by their number, or all by the time that they take.
    await until('the first are cut off', async () => (await dropped()) >= STRANGERS - MAX_PENDING);
    await expectUnmoved();
    for (const socket of sockets) socket.destroy();
    await until('all are counted', async () => (await dropped()) >= STRANGERS);
    await until('the log tells', () =>
      /connections ended before they asked for a stream/.test(cluster.log()),
    );
  });

  test('who do not trust its certificate, or shake hands and fall silent', async () => {
    const { certificate } = createCertificateAuthority({ commonName: 'x', clock: RUNTIME.clock });
    const before = await metric('lockstep_hub_connections_dropped_total{reason="NoHandshake"}');
    await expect(connect(await memberToken(), certificate)).rejects.toThrow(/certificate/);
    const mute = tls.connect({ port: hubPort, host: '127.0.0.1', ca: hubAuthority() });
    await new Promise((resolve) => mute.once('secureConnect', resolve));
    mute.end();
    await until('both are counted', async () => {
      const after = await metric('lockstep_hub_connections_dropped_total{reason="NoHandshake"}');
      const silent = await metric('lockstep_hub_connections_dropped_total{reason="NoRequest"}');
      return after > before && silent > 0;
    });
    await expectUnmoved();
  });

  test('with tokens that are not of a member', async () => {
    const signer = createTokenSigner();
    const claims = { name: 'x', uid: 'x' };
    const forged = issueToken(
      signer,
      {
        namespace: 'default',
        serviceAccount: claims,
        audiences: [HUB_AUDIENCE],
        expiresAtMs: RUNTIME.clock.now() + 60_000,
        boundTo: { kind: 'Pod', ...claims },
        id: 'id',
      },
      RUNTIME.clock.now(),
    );
    const podOf = (name: string): Pod => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default' },
      spec: { schedulerName: 'nobody', containers: [{ name: 'c', image: 'none' }] },
    });
    const stranger = await cluster.client.create(PODS, podOf('stranger'));
    const ofStranger = await tokenFor(stranger, HUB_AUDIENCE);
    const gone = await cluster.client.create(PODS, podOf('gone'));
    const ofGone = await tokenFor(gone, HUB_AUDIENCE);
    await cluster.client.delete(PODS, gone.metadata, { gracePeriodSeconds: 0 });
    const tokens = [
      [forged, 401, 'a key that this cluster does not have'],
      [await memberToken('https://kubernetes.default.svc'), 401, 'for another audience'],
      [ofStranger, 403, 'the Pod belongs to no JobSet'],
      [ofGone, 410, 'default/gone'],
    ] as const;
    for (const [token, status, reason] of tokens) {
      await expect(connect(token)).rejects.toMatchObject({ status });
      await until('the log says why', () => expect(cluster.log()).toContain(reason));
    }
    await cluster.client.delete(PODS, stranger.metadata, { gracePeriodSeconds: 0 });
    const invalid = 'lockstep_hub_streams_refused_total{reason="InvalidToken"}';
    expect(await metric(invalid)).toBe(2);
    await expectUnmoved();
  });

  test('with the stolen token of a member, and a million messages', async () => {
    const victim = group.livePods()[0];
    const token = await memberToken();
    const closed = 'lockstep_hub_streams_closed_total{reason="TooManyMessages"}';
    // The agent that it displaced may be back before the check: then try again.
    await until('it was cut off', async () => {
      await flood(token);
      return (await metric(closed)) > 0;
    });
    await until('the agent is back', hasAllStreams);
    expect(cluster.log()).toMatch(
      new RegExp(`"reason":"TooManyMessages","pod":"default/${victim?.metadata.name}"`),
    );
    await expectUnmoved();
  });

  function memberToken(audience = HUB_AUDIENCE): Promise<string> {
    const [member] = group.livePods();
    if (member === undefined) throw new Error('the group has no member');
    return tokenFor(member, audience);
  }

  function hubAuthority(): string {
    const { initContainers = [], containers = [] } = group.livePods()[0]?.spec ?? {};
    const variables = [...initContainers, ...containers].flatMap(({ env = [] }) => env);
    return variables.find(({ name }) => name === ENV_HUB_CA)?.value ?? '';
  }

  function connect(
    token: string,
    certificateAuthority = hubAuthority(),
    closed: () => void = () => undefined,
  ): Promise<ByteStream> {
    const connector = createStreamConnector({
      server: `https://127.0.0.1:${hubPort}`,
      path: HUB_PATH,
      protocol: HUB_PROTOCOL,
      certificateAuthority,
      credentials: staticToken(token),
    });
    const deaf = { received: () => undefined, closed };
    return connector.connect(deaf, AbortSignal.timeout(PATIENCE_MS));
  }

  /** Sends a million messages at once; resolves when the hub ends the stream. */
  async function flood(token: string): Promise<void> {
    let close: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      close = resolve;
    });
    const stream = await connect(token, hubAuthority(), close);
    const thousand = Buffer.from('{"type":"ping"}\n'.repeat(1000));
    stream.write(Buffer.from('{"type":"hello"}\n'));
    for (let sent = 0; sent < 1_000_000; sent += 1000) stream.write(thousand);
    await closed;
  }
});

const STRANGERS = 10_000;
/** The hub's limit for connections without a stream yet. */
const MAX_PENDING = 8192;

/** Connections that never finished a handshake. */
async function dropped(): Promise<number> {
  const of = (reason: string): Promise<number> =>
    metric(`lockstep_hub_connections_dropped_total{reason="${reason}"}`);
  return (await of('Crowded')) + (await of('NoHandshake'));
}

/** A token that is bound to the Pod, as the node makes them for its agent. */
async function tokenFor({ metadata, spec }: Stored<Pod>, audience: string): Promise<string> {
  const { name, uid, namespace = '' } = metadata;
  const account = { namespace, name: spec.serviceAccountName ?? 'default' };
  const request: TokenRequest = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {},
    spec: {
      audiences: [audience],
      boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
    },
  };
  const { client } = cluster;
  const { status } = await client.createSubresource(SERVICE_ACCOUNTS, account, 'token', request);
  return status?.token ?? '';
}
