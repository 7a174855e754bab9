/**
 * The rights of the manifest are sufficient, and none is superfluous. The operator and its agents
 * run through everything that they do with these rights alone, and each right has to be used.
 * Rights that the operator only holds in order to grant them are used by agents.
 */

import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import {
  CONFIG_MAPS,
  NAMESPACES,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '@lockstep/kube/objects/core.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { ROLE_BINDINGS, ROLES } from '@lockstep/kube/objects/rbac.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createEventRecorder } from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { startLeaderElection } from '@lockstep/kube/runtime/controller/leader-election.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { createMetrics } from '@lockstep/kube/runtime/metrics.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { failure } from '@lockstep/kube/status.ts';
import { alreadyExists, badRequest } from '@lockstep/kube/status-errors.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manifest } from '../../src/deploy/manifest.ts';
import {
  AGENT_RIGHTS_RULES,
  CLUSTER_RULES,
  NAMESPACE_RULES,
  WEBHOOK_RULES,
} from '../../src/deploy/permissions.ts';
import { defaultSettings } from '../../src/deploy/settings.ts';
import { DEFAULT_FEATURE_GATES } from '../../src/jobset/feature-gates.ts';
import { agentRules } from '../../src/jobset/injection/agent-rights.ts';
import { JOBSETS, type JobSetSpec } from '../../src/jobset/jobset.ts';
import { HUB_AUTHORITIES_NAME, LOST_NODE_DEADLINE, RESTART_MODE } from '../../src/jobset/names.ts';
import {
  CONFIGURATION_NAME,
  HUB_SECRET_NAME,
  HUB_SERVICE_NAME,
  LEADER_ELECTION_ID,
  WEBHOOK_SECRET_NAME,
} from '../../src/operator/configuration/object-names.ts';
import { authorizedPage } from '../../src/operator/hub/authorized-page.ts';
import { publishHubEndpoint } from '../../src/operator/hub/hub-endpoint.ts';
import { startHubListener } from '../../src/operator/hub/hub-listener.ts';
import { PodTokens } from '../../src/operator/hub/pod-tokens.ts';
import { startPlacementController } from '../../src/operator/pod-placement/placement-controller.ts';
import { startPodLookups } from '../../src/operator/pod-placement/pod-lookups.ts';
import { type FileSettings, watchSettings } from '../../src/operator/process/settings-watch.ts';
import { createNodeFeatures } from '../../src/operator/tracking/node-features.ts';
import { jobSetQuestions, jobSetValidator } from '../../src/operator/webhooks/jobset-webhooks.ts';
import { podMutator } from '../../src/operator/webhooks/pod-webhooks.ts';
import { startWebhooks } from '../../src/operator/webhooks/webhooks.ts';
import {
  type ClusterUnderTest,
  type Granted,
  VirtualCluster,
} from '../fixtures/cluster-under-test.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { PlacementCluster, RACK } from '../fixtures/placement-cluster.ts';
import { EXCEPTIONS } from '../kubernetes.ts';
import { GroupUnderTest } from './group-under-test.fixture.ts';
import { Restriction, requestsOf } from './restricted-client.fixture.ts';
import { HubNetwork, supervised } from './training-group.fixture.ts';

const SETTINGS = defaultSettings('test');
const OPERATOR_NAMESPACE = SETTINGS.namespace;
const OPERATOR_RULES = [...CLUSTER_RULES, ...WEBHOOK_RULES];
const CALM_MS = 10_000;
const SHORT_TTL_SECONDS = 5;

const OPERATOR: readonly Granted[] = [
  ...OPERATOR_RULES.map((rule) => ({ rule })),
  ...NAMESPACE_RULES.map((rule) => ({ rule, namespace: OPERATOR_NAMESPACE })),
];
/** An operator that gives rights to accounts that templates name. */
const GRANTING = [...CLUSTER_RULES, ...AGENT_RIGHTS_RULES].map((rule) => ({ rule }));
const AGENTS = agentRules(['train']).map((rule) => ({ rule, namespace: 'default' }));
const operator = new Restriction(OPERATOR);
const granting = new Restriction(GRANTING);
const agents = new Restriction(AGENTS);
/** What the API server itself has refused. */
const refused: ReadonlySet<string>[] = [];

const IN_PLACE: JobSetSpec = {
  failurePolicy: { maxRestarts: 3, restartStrategy: 'InPlaceRestart' },
  replicatedJobs: [replicatedJob('w', 2)],
};

/** A client of a server that cannot stream a state, so that agents list it. */
function withoutStreams(client: Client): Client {
  return new Proxy(client, {
    get: (target, key: keyof Client) => {
      if (key !== 'watch') return target[key].bind(target);
      const watch: Client['watch'] = (of, options) => {
        if (options.sendInitialEvents === true) throw badRequest('unknown parameter');
        return target.watch(of, options);
      };
      return watch;
    },
  });
}

/**
 * A client of a server that answers a repeated request after it carried out the first, and refuses
 * Services of that name as a quota does.
 */
function withRepeatedCreation(client: Client, refused: string): Client {
  return new Proxy(client, {
    get: (target, key: keyof Client) => {
      if (key !== 'create') return target[key].bind(target);
      const create: Client['create'] = async (of, object, options) => {
        if (of.plural === SERVICES.plural && object.metadata.name === refused) {
          throw failure('Forbidden', 'exceeded quota');
        }
        const created = await target.create(of, object, options);
        if (of.plural === JOBS.plural) throw alreadyExists(of, created.metadata.name);
        return created;
      };
      return create;
    },
  });
}

/** A client of a server that knows every token, because the one in memory signs none. */
function withKnownTokens(client: Client): Client {
  return new Proxy(client, {
    get: (target, key: keyof Client) => {
      if (key !== 'create') return target[key].bind(target);
      const create: Client['create'] = async (of, object, options) => {
        const created = await target.create(of, object, options);
        const status = { authenticated: true, user: { username: 'admin' } };
        return of.kind === 'TokenReview' ? { ...created, status } : created;
      };
      return create;
    },
  });
}

/** With the claim `data` in each container. */
function mounting(job: ReturnType<typeof replicatedJob>): ReturnType<typeof replicatedJob> {
  const { spec } = job.template;
  const pod = spec.template.spec;
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const containers = pod.containers.map((container) => ({ ...container, volumeMounts }));
  const template = { ...spec.template, spec: { ...pod, containers } };
  return { ...job, template: { spec: { ...spec, template } } };
}

/** With resources of which a sidecar agent may take a share. */
function requesting(job: ReturnType<typeof replicatedJob>): ReturnType<typeof replicatedJob> {
  const { spec } = job.template;
  const pod = spec.template.spec;
  const resources = { requests: { cpu: '1' } };
  const containers = pod.containers.map((container) => ({ ...container, resources }));
  const template = { ...spec.template, spec: { ...pod, containers } };
  return { ...job, template: { spec: { ...spec, template } } };
}

/** Its Jobs fail with their first Pod. */
function fragile(job: ReturnType<typeof replicatedJob>): ReturnType<typeof replicatedJob> {
  const { spec } = job.template;
  const pod = { ...spec.template.spec, restartPolicy: 'Never' as const };
  return {
    ...job,
    template: { spec: { ...spec, backoffLimit: 0, template: { ...spec.template, spec: pod } } },
  };
}

/** The client of an account with these rights, if the cluster checks rights. */
async function clientOf(
  cluster: ClusterUnderTest,
  name: string,
  granted: readonly Granted[],
): Promise<Client> {
  const account = await cluster.as(name, granted);
  refused.push(account.refused);
  return account.client;
}

function runtimeOf(cluster: PlacementCluster) {
  const client = operator.applyTo(cluster.client);
  return { client, clock: cluster.clock, random: new SeededRandom(9), logger: SILENT };
}

describe('a group', () => {
  const network = new HubNetwork();
  let group: GroupUnderTest;

  beforeAll(async () => {
    group = new GroupUnderTest(supervised('Canonical'), network);
    await group.start(async (cluster) => {
      await cluster.createNamespace(OPERATOR_NAMESPACE);
      const ofOperator = await clientOf(cluster, 'operator', OPERATOR);
      group.asOperator = () => operator.applyTo(withRepeatedCreation(ofOperator, 'other'));
      const ofAgents = await clientOf(cluster, 'agents', AGENTS);
      let count = 0;
      group.asAgent = () => agents.applyTo(count++ === 0 ? withoutStreams(ofAgents) : ofAgents);
    });
  });
  afterAll(() => group.stop());

  const gone = (name: string) =>
    group.cluster.until(async () => !(await group.cluster.exists(JOBSETS, name)));

  test('restarts in place, is suspended, resumed with other resources, and ends', async () => {
    await group.cluster.provideVolume();
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    await group.create({
      ...IN_PLACE,
      replicatedJobs: [mounting(replicatedJob('w', 2))],
      volumeClaimPolicies: [{ templates: [claim], retentionPolicy: { whenDeleted: 'Delete' } }],
      ttlSecondsAfterFinished: SHORT_TTL_SECONDS,
    });
    await group.allIn(1, 2);
    group.exit('w/0', 3);
    await group.allIn(2, 2);
    await group.announce(group.podNameIn('w/0'), '99');
    await group.cluster.calm(CALM_MS);
    const authorities = { namespace: 'default', name: HUB_AUTHORITIES_NAME };
    const { client } = group.cluster;
    await client.patch(CONFIG_MAPS, authorities, {
      type: 'merge',
      patch: { data: { 'ca.crt': 'mine' } },
    });
    await group.cluster.until(
      async () => (await client.get(CONFIG_MAPS, authorities)).data?.['ca.crt'] !== 'mine',
    );
    await group.patch({ spec: { suspend: true } });
    await group.cluster.running(0);
    // A Job controller that is late leaves the start time of a suspended Job.
    const suspended = { namespace: 'default', name: 'train-w-0' };
    const virtual = group.cluster instanceof VirtualCluster ? group.cluster : undefined;
    await virtual?.stopControllers();
    await virtual?.client.patch(
      JOBS,
      suspended,
      { type: 'merge', patch: { status: { startTime: '2026-01-01T00:00:00Z' } } },
      { subresource: 'status' },
    );
    const { spec } = await group.jobSet();
    const [job] = spec?.replicatedJobs ?? [];
    if (job === undefined) throw new Error('the JobSet has lost its Job');
    const { template } = job;
    const pod = template.spec.template;
    const changed = { ...pod, spec: { ...pod.spec, nodeSelector: { pool: 'x' } } };
    await group.cluster.addNode('n2', {}, { pool: 'x' });
    const next = { ...job, template: { spec: { ...template.spec, template: changed } } };
    await group.patch({ spec: { suspend: false, replicatedJobs: [next] } });
    await group.cluster.until(
      async () => (await group.cluster.client.get(JOBS, suspended)).spec.suspend === false,
    );
    await virtual?.startControllers();
    await group.until(({ syncedEpoch }) => (syncedEpoch ?? 0) > 2);
    await group.finish('w/0', 0);
    await group.finish('w/1', 0);
    await gone('train');
  });

  test.skipIf(EXCEPTIONS.timeIsReal)('deletes the Pod of a lost node by force', async () => {
    const { client } = group.cluster;
    if (!(group.cluster instanceof VirtualCluster)) throw new Error('its nodes cannot be lost');
    const { cluster } = group;
    await cluster.addNode('n3');
    await group.create(IN_PLACE, { [LOST_NODE_DEADLINE]: '2m' });
    await group.until(({ syncedEpoch }) => syncedEpoch === 1);
    const pods = await group.cluster.pods();
    const lost = pods.find(({ spec }) => spec.nodeName === 'n3') ?? pods[0];
    const node = lost?.spec.nodeName ?? '';
    const name = lost?.metadata.name ?? '';
    await cluster.silence(node);
    await client.delete(PODS, { namespace: 'default', name });
    const isWaiting = async (): Promise<boolean> => {
      const { status } = await group.jobSet();
      const found = status?.conditions?.find(({ type }) => type === 'WaitingForLostNode');
      return (
        found?.status === 'True' && found.message?.includes(`${name} on node ${node}`) === true
      );
    };
    await group.cluster.until(isWaiting);
    await cluster.calm(CALM_MS);
    expect((await group.jobSet()).status?.syncedEpoch).toBe(1);
    await group.until(({ syncedEpoch }) => syncedEpoch === 2);
    expect(await isWaiting()).toBe(false);
    const { status } = await group.jobSet();
    expect(status?.inPlaceRestarts).toBe(1);
    expect((await group.podUids()).get(name)).toBeUndefined();
    const told = (await group.events()).map(({ reason }) => reason);
    expect(told).toEqual(expect.arrayContaining(['PodOverdue', 'LostPodDeleted']));
    await cluster.recover(node);
    await client.delete(JOBSETS, { namespace: 'default', name: 'train' });
    await gone('train');
  });

  test('recreates its Jobs, and reports repeatedly what is in its way', async () => {
    const { client } = group.cluster;
    await group.create(IN_PLACE, {}, 'other');
    await group.cluster.until(async () => {
      const { items } = await client.list(EVENTS, { namespace: 'default' });
      return items.some(
        ({ reason, series }) => reason === 'HeadlessServiceCreationFailed' && series?.count,
      );
    });
    await client.delete(JOBSETS, { namespace: 'default', name: 'other' });
    await gone('other');
    const recreated: JobSetSpec = {
      failurePolicy: { maxRestarts: 1 },
      replicatedJobs: [fragile(replicatedJob('w'))],
    };
    await group.create(recreated);
    await group.cluster.until(async () => group.running().has('w/0'));
    await group.finish('w/0', 1);
    await group.until(({ restarts }) => restarts === 1);
  });
});

/** With that account for its Pods. */
function running(
  job: ReturnType<typeof replicatedJob>,
  serviceAccountName: string,
): ReturnType<typeof replicatedJob> {
  const { spec } = job.template;
  const template = { ...spec.template, spec: { ...spec.template.spec, serviceAccountName } };
  return { ...job, template: { spec: { ...spec, template } } };
}

describe('a group whose accounts get rights from the operator', () => {
  const network = new HubNetwork();
  let group: GroupUnderTest;
  const NAMED: JobSetSpec = {
    ...IN_PLACE,
    replicatedJobs: [running(replicatedJob('w', 2), 'trainer')],
  };
  const name = 'train-lockstep-agent';
  const at = { namespace: 'default', name };

  beforeAll(async () => {
    group = new GroupUnderTest(supervised('Canonical'), network);
    group.agentRights = true;
    await group.start(async (cluster) => {
      const ofOperator = await clientOf(cluster, 'granting', GRANTING);
      group.asOperator = () => granting.applyTo(ofOperator);
    });
    for (const account of ['trainer', 'default']) {
      const metadata = { namespace: 'default', name: account };
      const object = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
      await group.cluster.client.create(SERVICE_ACCOUNTS, object).catch(() => undefined);
    }
  });
  afterAll(() => group.stop());

  const gone = (what: string) =>
    group.cluster.until(async () => !(await group.cluster.exists(JOBSETS, what)));

  test('gets them again when they were changed, and they go with the JobSet', async () => {
    await group.create(NAMED);
    await group.until(({ syncedEpoch }) => syncedEpoch === 1);
    const { client } = group.cluster;
    await client.patch(ROLES, at, { type: 'merge', patch: { rules: [] } });
    await client.patch(ROLE_BINDINGS, at, { type: 'merge', patch: { subjects: [] } });
    await group.startOperator();
    await group.cluster.until(async () => (await client.get(ROLES, at)).rules.length === 2);
    await group.cluster.until(
      async () => (await client.get(ROLE_BINDINGS, at)).subjects.length === 1,
    );
    expect((await client.get(ROLE_BINDINGS, at)).subjects).toMatchObject([{ name: 'trainer' }]);
    await client.delete(JOBSETS, { namespace: 'default', name: 'train' });
    await gone('train');
    await group.cluster.until(async () => !(await group.cluster.exists(ROLES, name)));
    await group.cluster.running(0);
  });

  test('reports repeatedly what is in its way', async () => {
    const { client } = group.cluster;
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: at };
    await client.create(ROLES, { ...role, rules: [] });
    await group.create(NAMED);
    await group.cluster.until(async () => {
      const { items } = await client.list(EVENTS, { namespace: 'default' });
      return items.some(({ reason, series }) => reason === 'AgentRightsFailed' && series?.count);
    });
    expect(await group.cluster.exists(JOBS, 'train-w-0')).toBe(false);
    await client.delete(ROLES, at);
    await group.cluster.until(() => group.cluster.exists(JOBS, 'train-w-0'));
    await client.delete(JOBSETS, { namespace: 'default', name: 'train' });
    await gone('train');
    await group.cluster.running(0);
  });

  test('gives none to the account that all Pods share, nor to agents of the hub', async () => {
    for (const [channel, account] of [
      ['Auto', 'default'],
      ['Hub', 'trainer'],
    ] as const) {
      network.channel = channel;
      const replicatedJobs = [running(replicatedJob('w', 2), account)];
      await group.create({ ...IN_PLACE, replicatedJobs });
      await group.cluster.until(() => group.cluster.exists(JOBS, 'train-w-0'));
      expect(await group.cluster.exists(ROLES, name), channel).toBe(false);
      expect(await group.cluster.exists(ROLE_BINDINGS, name), channel).toBe(false);
      await group.cluster.client.delete(JOBSETS, { namespace: 'default', name: 'train' });
      await gone('train');
      await group.cluster.running(0);
    }
  });
});

describe.skipIf(EXCEPTIONS.onlyGroupsHaveRights)('exclusive placement', () => {
  let cluster: PlacementCluster;
  const ends: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    cluster = new PlacementCluster();
    await cluster.start();
    await cluster.addNode('n1', {}, { [RACK]: 'r1' });
    await cluster.addNode('n2', {}, { [RACK]: 'r2' });
  });
  afterAll(async () => {
    for (const end of ends) await cluster.reached(end());
    await cluster.stop();
  });

  test('removes followers at a wrong place, and places others', async () => {
    const runtime = runtimeOf(cluster);
    const events = createEventRecorder({ ...runtime, controller: 'jobset' });
    const pods = createInformer({
      ...runtime,
      resource: PODS,
      labelSelector: 'jobset.sigs.k8s.io/jobset-name',
      metadataOnly: true,
    });
    const controller = startPlacementController({ ...runtime, events, pods });
    const lookups = startPodLookups(runtime);
    ends.push(
      () => controller.stop(),
      () => events.stop(),
      () => pods.stop(),
      () => lookups.stop(),
    );
    const leader = await cluster.createWorker(0, { nodeSelector: { [RACK]: 'r1' } });
    await cluster.createWorker(1, { nodeSelector: { [RACK]: 'r2' } });
    await cluster.until(async () => (await cluster.pods()).length === 1);
    const asked = podMutator(lookups)(
      {
        uid: 'u',
        kind: { group: '', version: 'v1', kind: 'Pod' },
        resource: { group: '', version: 'v1', resource: 'pods' },
        namespace: 'default',
        operation: 'CREATE',
        userInfo: {},
        object: cluster.workerOf(2),
      },
      new AbortController().signal,
    );
    const answer = await cluster.reached(asked);
    expect(answer).toMatchObject({ object: { spec: { nodeSelector: { [RACK]: 'r1' } } } });
    expect(leader.metadata.name).toMatch(/^train-w-0-0/);
  });
});

describe.skipIf(EXCEPTIONS.onlyGroupsHaveRights)('the process of an operator', () => {
  let cluster: PlacementCluster;
  const ends: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    cluster = new PlacementCluster();
    await cluster.start();
    await create(NAMESPACES, { name: OPERATOR_NAMESPACE });
    for (const { of, object } of manifest(SETTINGS)) {
      const isWebhook =
        of.kind === MUTATING_WEBHOOK_CONFIGURATIONS.kind ||
        of.kind === VALIDATING_WEBHOOK_CONFIGURATIONS.kind;
      if (isWebhook) await cluster.client.create(of, object);
    }
  });
  afterAll(async () => {
    for (const end of ends) await cluster.reached(end());
    await cluster.stop();
  });

  async function create(of: typeof NAMESPACES, metadata: { readonly name: string }): Promise<void> {
    await cluster.client.create(of, { apiVersion: 'v1', kind: of.kind, metadata });
  }

  /** The Secret is damaged, and the operator writes it again. */
  async function renewed(name: string): Promise<void> {
    const at = { namespace: OPERATOR_NAMESPACE, name };
    const patch = { data: { 'tls.crt': '' } };
    await cluster.client.patch(SECRETS, at, { type: 'merge', patch });
    await cluster.until(
      async () => (await cluster.client.get(SECRETS, at)).data?.['tls.crt'] !== '',
    );
  }

  const listener = () => ({
    url: 'https://hooks.test',
    useCertificate: () => undefined,
    close: () => Promise.resolve(),
  });

  test('asks whether nodes can restart all containers of a Pod', async () => {
    const features = createNodeFeatures({
      ...runtimeOf(cluster),
      namespace: OPERATOR_NAMESPACE,
    });
    await cluster.reached(features.restartAllProblem(IN_PLACE, new AbortController().signal));
  });

  test('asks who may read its metrics', async () => {
    const { handler } = createMetrics();
    const client = operator.applyTo(withKnownTokens(cluster.client));
    const page = authorizedPage(handler, { ...runtimeOf(cluster), client });
    const { signal } = new AbortController();
    const headers = { authorization: 'Bearer token' };
    const asked = page({ method: 'GET', path: '/metrics', headers, signal });
    expect((await cluster.reached(asked)).status).toBe(200);
  });

  test('leads, and renews its lease', async () => {
    const election = startLeaderElection({
      ...runtimeOf(cluster),
      namespace: OPERATOR_NAMESPACE,
      name: LEADER_ELECTION_ID,
      identity: 'me',
    });
    const leading = await cluster.reached(election.lead(new AbortController().signal));
    await cluster.clock.advance(CALM_MS);
    await cluster.reached(leading.resign());
    await cluster.reached(election.stop());
    const at = { namespace: OPERATOR_NAMESPACE, name: LEADER_ELECTION_ID };
    expect((await cluster.client.get(LEASES, at)).spec?.holderIdentity).toBe('');
  });

  test('tells of wrong settings, and restarts with changed ones', async () => {
    const runtime = runtimeOf(cluster);
    const metadata = { namespace: OPERATOR_NAMESPACE, name: CONFIGURATION_NAME };
    await cluster.client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    const events = createEventRecorder({ ...runtime, controller: 'lockstep-operator' });
    const ending = new AbortController();
    let file: FileSettings = { problem: 'wrong' };
    const watching = watchSettings({
      ...runtime,
      events,
      pod: { namespace: OPERATOR_NAMESPACE, name: 'operator-0' },
      running: { text: 'old', digest: 'old' },
      look: () => file,
      isReady: () => true,
      isLeader: () => true,
      leave: () => undefined,
      end: () => ending.abort(),
      signal: ending.signal,
    });
    await cluster.clock.advance(CALM_MS);
    file = { text: 'new', digest: 'new' };
    await cluster.until(async () => ending.signal.aborted);
    await cluster.reached(watching);
    await cluster.reached(events.stop());
    const { items } = await cluster.client.list(EVENTS, { namespace: OPERATOR_NAMESPACE });
    expect(items).toMatchObject([{ reason: 'ConfigurationWrong' }]);
  });

  test('serves webhooks with certificates of its own, and asks what JobSets share', async () => {
    const runtime = runtimeOf(cluster);
    const webhooks = startWebhooks({
      ...runtime,
      gates: DEFAULT_FEATURE_GATES,
      operatorNamespace: OPERATOR_NAMESPACE,
      secretName: WEBHOOK_SECRET_NAME,
      host: 'hooks.test',
      address: { kind: 'Service', namespace: OPERATOR_NAMESPACE, name: 'hooks' },
      install: false,
      listen: async () => listener(),
      cannotListen: (error) => {
        throw error;
      },
    });
    ends.push(() => webhooks.stop());
    await cluster.until(async () => webhooks.problem() === undefined);
    await renewed(WEBHOOK_SECRET_NAME);
    const object = {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      metadata: {
        name: 'train',
        namespace: 'default',
        annotations: { [RESTART_MODE]: 'Sidecar' },
      },
      spec: {
        ...IN_PLACE,
        replicatedJobs: [requesting(replicatedJob('w'))],
        volumeClaimPolicies: [{ templates: [{ metadata: { name: 'data' }, spec: {} }] }],
      },
    };
    const asked = jobSetValidator(jobSetQuestions(runtime.client), DEFAULT_FEATURE_GATES)(
      {
        uid: 'u',
        operation: 'CREATE',
        kind: { group: JOBSETS.group, version: JOBSETS.version, kind: 'JobSet' },
        resource: { group: JOBSETS.group, version: JOBSETS.version, resource: 'jobsets' },
        namespace: 'default',
        userInfo: {},
        object,
      },
      new AbortController().signal,
    );
    await cluster.reached(asked.catch(() => undefined));
  });

  test('serves its hub, and reviews the tokens of agents', async () => {
    const runtime = runtimeOf(cluster);
    const starting = startHubListener({
      ...runtime,
      operatorNamespace: OPERATOR_NAMESPACE,
      secretName: HUB_SECRET_NAME,
      host: 'hub.test',
      channel: 'Auto',
      listen: async () => listener(),
      signal: new AbortController().signal,
    });
    const hub = await cluster.reached(starting);
    ends.push(() => hub.stop());
    await renewed(HUB_SECRET_NAME);
    const keyless: Client = {
      ...runtime.client,
      getPath: () => Promise.reject(failure('Forbidden', 'no keys for you')),
    };
    const tokens = new PodTokens({ ...runtime, client: keyless, importKey: () => undefined });
    const encode = (part: object): string =>
      Buffer.from(JSON.stringify(part)).toString('base64url');
    const token = `${encode({ alg: 'ES256', kid: 'k' })}.${encode({ iss: 'i', aud: ['lockstep-hub'] })}.c2ln`;
    await cluster.reached(tokens.podOf(token).catch(() => undefined));
    // The embedded cluster has no EndpointSlices, because it has no use for them.
    const client = operator.applyTo(new MemoryClient());
    for (const address of ['10.0.0.1', '10.0.0.2', 'fd00::1']) {
      const service = { namespace: OPERATOR_NAMESPACE, service: HUB_SERVICE_NAME };
      const endpoint = publishHubEndpoint({ ...runtime, ...service, client, address, port: 9445 });
      await cluster.clock.advance(1000);
      await cluster.reached(endpoint.stop());
    }
  });
});

describe('the rights', () => {
  test('suffice', () => {
    expect([...operator.refused]).toEqual([]);
    expect([...granting.refused]).toEqual([]);
    expect([...agents.refused]).toEqual([]);
    expect(refused.flatMap((each) => [...each])).toEqual([]);
  });

  test.skipIf(EXCEPTIONS.onlyGroupsHaveRights)(
    'of the operator are all used, except those that it holds in order to grant or own',
    () => {
      const needed = [...OPERATOR_RULES, ...NAMESPACE_RULES].filter(
        ({ heldTo }) => heldTo === undefined,
      );
      const unused = needed.flatMap(requestsOf).filter((request) => !operator.used.has(request));
      expect(unused).toEqual([]);
    },
  );

  test('of an operator that gives rights to agents are all used besides, except those to give', () => {
    const needed = AGENT_RIGHTS_RULES.filter(({ heldTo }) => heldTo === undefined);
    const unused = needed.flatMap(requestsOf).filter((request) => !granting.used.has(request));
    expect(unused).toEqual([]);
  });

  test('of another touch neither accounts nor roles, nor does it try', () => {
    const all = [...operator.used, ...operator.refused].join('\n');
    expect(all).not.toMatch(/serviceaccounts|roles|rolebindings|patch \/pods$/m);
    const held = [...OPERATOR_RULES, ...NAMESPACE_RULES].flatMap(requestsOf).join('\n');
    expect(held).not.toMatch(/serviceaccounts|roles|rolebindings|patch \/pods$/m);
  });

  test('of agents are all used, and an operator that gives them holds each of them', () => {
    const requests = agentRules(['train']).flatMap(requestsOf);
    expect(requests.filter((request) => !agents.used.has(request))).toEqual([]);
    const held = new Set([...OPERATOR_RULES, ...AGENT_RIGHTS_RULES].flatMap(requestsOf));
    const notHeld = requests.filter((request) => !held.has(request.replace(/ train$/, '')));
    expect(notHeld).toEqual([]);
  });

  test('that it never uses itself are marked', () => {
    const held = [...OPERATOR_RULES, ...AGENT_RIGHTS_RULES].filter(
      ({ heldTo }) => heldTo !== undefined,
    );
    expect(held.flatMap((rule) => requestsOf(rule).map((it) => `${rule.heldTo}: ${it}`))).toEqual([
      'OwnChildren: update jobset.x-k8s.io/jobsets/finalizers',
      'GrantToAgents: patch /pods',
    ]);
    for (const request of held.flatMap(requestsOf)) {
      expect(operator.used).not.toContain(request);
      expect(granting.used).not.toContain(request);
    }
  });
});
