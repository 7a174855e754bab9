/**
 * A cluster, embedded or real, whose operators are processes that a test can kill. They reach the
 * API server through proxies of their own. Pods are real processes, with real agents.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RBAC_GROUP, ROLE_BINDINGS, ROLES } from '@lockstep/kube/objects/rbac.ts';
import { apiVersionOf } from '@lockstep/kube/resource.ts';
import { createHttpTransport } from '@lockstep/kube/runtime/adapters/http-transport.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createNodeProcessRunner } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import { createPinoLogger } from '@lockstep/kube/runtime/adapters/pino-logger.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { ClusterAccess } from '@lockstep/kube/runtime/credentials/cluster-access.ts';
import { until as untilSeen } from '@lockstep/kube/until.fixture.ts';
import { afterEach, expect } from 'vitest';
import { type Mode, WorkerGroup } from '../../src/bench/worker-group.ts';
import {
  type ControlPlane,
  joinRunning,
  startEmbedded,
} from '../../src/cli/local-cluster/control-plane.ts';
import { type StateDirectory, temporaryStateDirectory } from '../../src/cli/state-directory.ts';
import { Watchdog } from '../../src/cli/watchdog/watchdog.ts';
import { agentRules } from '../../src/jobset/injection/agent-rights.ts';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { EPOCH } from '../../src/jobset/names.ts';
import { removeWorkloads } from '../fixtures/workloads.ts';
import { KUBERNETES } from '../kubernetes.ts';
import { ApiProxy } from './api-proxy.fixture.ts';
import { createAccount, installJobSets, removeAccount, tokenOf } from './api-server.fixture.ts';

export const RUNTIME = { clock: nodeClock, random: systemRandom } as const;
/** Limits each wait. */
export const PATIENCE_MS = 90_000;
/** The operators' service account. */
export const OPERATOR = { namespace: 'kube-system', name: 'lockstep-operator' } as const;

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));
const NODE = { name: 'weather-0', labels: {} };
/** Lines of the cluster's log that are shown after a failed test. */
const SHOWN_LOG_LINES = 40;
const SHOWN_LINE_LENGTH = 400;

export class ClusterInBadWeather {
  readonly state: StateDirectory = temporaryStateDirectory();
  readonly #watchdog = Watchdog.start(join(DIST, 'watchdog.js'), this.state.path, true);
  readonly #log = openSync(join(this.state.path, 'cluster.log'), 'a', 0o600);
  readonly #stops: (() => Promise<void> | void)[] = [];
  readonly #groups = new Set<WorkerGroup>();
  #controlPlane: ControlPlane | undefined;
  #access: ClusterAccess | undefined;
  #kubeconfigs = 0;

  /** Declared beside tests: a failed test prints the cluster's log. */
  constructor() {
    afterEach(({ task }) => {
      if (task.result?.state === 'fail') throw new Error(`the cluster said:\n${this.#lastWords()}`);
    });
  }

  /**
   * Agents that use the API server do so as the account `default`, which has the rights that
   * `docs/reference/agents.md` gives to copy, unless a test wants it to have none.
   */
  async start({ agentsHaveRights = true } = {}): Promise<void> {
    const { state } = this;
    const options = {
      ...RUNTIME,
      logger: createPinoLogger({ destination: this.#log, level: 'info' }),
      processes: this.#watchdog.guard(createNodeProcessRunner()),
      stateDirectory: state.path,
      path: [join(DIST, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
      nodes: [NODE],
    };
    this.#controlPlane =
      KUBERNETES === undefined
        ? await startEmbedded(options, state.kubeconfig)
        : await joinRunning(options, KUBERNETES);
    this.#stops.push(() => this.#controlPlane?.stop());
    const path = this.#controlPlane.kubeconfig;
    this.#access = await loadKubeconfig({ path, env: {}, homeDirectory: '/' });
    await installJobSets(this.client);
    await createAccount(this.client, OPERATOR);
    this.#stops.push(() => removeAccount(this.client, OPERATOR));
    if (agentsHaveRights) {
      await grantAgentRights(this.client);
      this.#stops.push(() => revokeAgentRights(this.client));
    }
  }

  get client(): Client {
    if (this.#controlPlane === undefined) throw new Error('the cluster was not started');
    return this.#controlPlane.client;
  }

  get access(): ClusterAccess {
    if (this.#access === undefined) throw new Error('the cluster was not started');
    return this.#access;
  }

  /** A token for the operators, valid for as long as the object to which it is bound exists. */
  token(boundTo?: Parameters<typeof tokenOf>[2]): Promise<string> {
    return tokenOf(this.client, OPERATOR, boundTo);
  }

  /** A proxy of its own to the API server, with the rights of an operator. */
  async proxy(): Promise<ApiProxy> {
    const { server, tls } = this.access;
    const { certificateAuthority } = tls;
    const upstream = createHttpTransport({ server, tls: { certificateAuthority } });
    const proxy = await ApiProxy.start(upstream, await this.token());
    this.#stops.push(async () => {
      await proxy.close();
      upstream.close();
    });
    return proxy;
  }

  /** `to` is an `ApiProxy`, or the cluster and user of a kubeconfig. */
  startOperator(to: ApiProxy | KubeconfigParts, ...flags: readonly string[]): OperatorProcess {
    const parts = to instanceof ApiProxy ? { cluster: { server: to.url }, user: {} } : to;
    const path = join(this.state.path, `operator-${this.#kubeconfigs++}.kubeconfig`);
    writeFileSync(path, JSON.stringify(kubeconfigOf(parts)), { mode: 0o600 });
    const argv = [
      join(DIST, 'operator.js'),
      ...(this.#controlPlane?.operatorFlags ?? []),
      '--kubeconfig',
      path,
      '--agent-delivery',
      'WorkerImage',
      ...flags,
    ];
    const child = spawn(process.execPath, argv, { stdio: ['ignore', this.#log, this.#log] });
    const operator = new OperatorProcess(child);
    this.#watchdog.watch(child.pid ?? 0, operator.exited);
    this.#stops.push(() => operator.kill());
    return operator;
  }

  /** A group of workers that all run in the first epoch. */
  async group(
    name: string,
    mode: Mode = 'Supervisor',
    size = 3,
    edit = (jobSet: JobSet): JobSet => jobSet,
  ): Promise<WorkerGroup> {
    const { client, state } = this;
    const group = await WorkerGroup.start({
      client,
      directory: state.path,
      name,
      mode,
      size,
      edit,
    });
    this.#groups.add(group);
    await group.running(1);
    return group;
  }

  /** Removes a group, without waiting for what belongs to it. */
  async remove(group: WorkerGroup): Promise<void> {
    this.#groups.delete(group);
    const at = { namespace: 'default', name: group.name };
    await this.client.delete(JOBSETS, at, { propagationPolicy: 'Background' });
    await Promise.all([group.pods.stop(), group.jobSets.stop()]);
  }

  log(): string {
    return readFileSync(join(this.state.path, 'cluster.log'), 'utf8');
  }

  #lastWords(): string {
    const lines = this.log().trimEnd().split('\n').slice(-SHOWN_LOG_LINES);
    return lines.map((line) => line.slice(0, SHOWN_LINE_LENGTH)).join('\n');
  }

  async stop(): Promise<void> {
    for (const group of this.#groups) await this.remove(group);
    // Only with nodes; without nodes Pods would stay.
    if (KUBERNETES !== undefined) await removeWorkloads(this.client);
    for (const stop of this.#stops.splice(0).reverse()) await stop();
    this.#watchdog.release();
    closeSync(this.#log);
    this.state.release(true);
  }
}

const AGENT_RIGHTS = { namespace: 'default', name: 'lockstep-agent' } as const;

async function grantAgentRights(client: Client): Promise<void> {
  const apiVersion = apiVersionOf(ROLES);
  const metadata = AGENT_RIGHTS;
  const [patchPods, followJobSets] = agentRules([]);
  const { resourceNames: _all, ...followAll } = followJobSets ?? { apiGroups: [], verbs: [] };
  const rules = [...(patchPods === undefined ? [] : [patchPods]), followAll];
  const fieldManager = 'test';
  const role = { apiVersion, kind: ROLES.kind, metadata, rules };
  await client.patch(ROLES, metadata, { type: 'apply', patch: role, fieldManager });
  const roleRef = { apiGroup: RBAC_GROUP, kind: ROLES.kind, name: metadata.name };
  const subjects = [{ kind: 'ServiceAccount', namespace: 'default', name: 'default' }];
  const binding = { apiVersion, kind: ROLE_BINDINGS.kind, metadata, roleRef, subjects };
  await client.patch(ROLE_BINDINGS, metadata, { type: 'apply', patch: binding, fieldManager });
}

async function revokeAgentRights(client: Client): Promise<void> {
  await client.delete(ROLE_BINDINGS, AGENT_RIGHTS);
  await client.delete(ROLES, AGENT_RIGHTS);
}

export interface KubeconfigParts {
  readonly cluster: object;
  readonly user: object;
}

export class OperatorProcess {
  readonly exited: Promise<unknown>;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.exited = new Promise((resolve) => child.once('exit', resolve));
  }

  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Acts as a node that loses power. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    if (!this.hasExited) await this.exited;
  }
}

/** Waits for what no watch reports, as long as weather lasts. */
export async function until(what: string, look: () => unknown): Promise<void> {
  await untilSeen(what, look, PATIENCE_MS);
}

/** The member of rank 1 loses its worker, and announces the next epoch. */
export async function lose(group: WorkerGroup, next = 2): Promise<void> {
  group.kill(1);
  await group.until('a member announces the next epoch', () =>
    group.livePods().some(({ metadata }) => metadata.annotations?.[EPOCH] === `${next}`),
  );
}

/** All workers run again after one restart, which was charged once. */
export async function expectOneRestart(group: WorkerGroup): Promise<void> {
  await group.running(2);
  expect(group.status).toMatchObject({ inPlaceRestarts: 1, inPlaceRestartsCountTowardsMax: 1 });
  expect(group.starts()).toHaveLength(2 * group.size);
}

/** The workers of these ranks still run. */
export function expectRunning(group: WorkerGroup, ...ranks: readonly number[]): void {
  expect(ranks.filter((rank) => isAlive(group.pid(rank)))).toEqual(ranks);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function kubeconfigOf({ cluster, user }: KubeconfigParts): object {
  const name = 'weather';
  const context = { cluster: name, user: name, namespace: OPERATOR.namespace };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster }],
    users: [{ name, user }],
    contexts: [{ name, context }],
    'current-context': name,
  };
}
