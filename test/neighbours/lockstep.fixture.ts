/** Our operator beside controllers of other projects: started, and gone with what refuses without it. */
import { readFileSync } from 'node:fs';
import { freePort } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { WEBHOOK_CONFIGURATIONS } from '../../src/cli/webhook-configurations.ts';
import { unlessGone } from '../fixtures/workloads.ts';
import type { ClusterInBadWeather, OperatorProcess } from '../integration/bad-weather.fixture.ts';
import { KUBERNETES } from '../kubernetes.ts';

const LOOPBACK = '127.0.0.1';
const START_TIMEOUT_MS = 60_000;
const WITH_WEBHOOKS = ['--webhook-bind-address', `${LOOPBACK}:0`, '--install-webhooks'];

export class Lockstep {
  readonly #client: Client;
  readonly #process: OperatorProcess;

  private constructor(client: Client, process: OperatorProcess) {
    this.#client = client;
    this.#process = process;
  }

  /** Resolves when it is ready, and its webhooks are asked. */
  static async start(cluster: ClusterInBadWeather, ...flags: readonly string[]): Promise<Lockstep> {
    return await Lockstep.startAt(
      KUBERNETES ?? cluster.state.kubeconfig,
      cluster.client,
      cluster,
      ...flags,
    );
  }

  /** As an administrator of another cluster, whose client is `client`. */
  static async startAt(
    kubeconfig: string,
    client: Client,
    cluster: ClusterInBadWeather,
    ...flags: readonly string[]
  ): Promise<Lockstep> {
    const health = `${LOOPBACK}:${await freePort(systemRandom)}`;
    const parts = parse(readFileSync(kubeconfig, 'utf8')) as {
      readonly clusters: readonly [{ readonly cluster: object }];
      readonly users: readonly [{ readonly user: object }];
    };
    const to = { cluster: parts.clusters[0].cluster, user: parts.users[0].user };
    const probes = ['--health-probe-bind-address', health];
    const operator = cluster.startOperator(to, ...WITH_WEBHOOKS, ...probes, ...flags);
    await until(
      'Lockstep is ready',
      async () => expect((await fetch(`http://${health}/readyz`)).status).toBe(200),
      START_TIMEOUT_MS,
    );
    return new Lockstep(client, operator);
  }

  async stop(): Promise<void> {
    await this.#process.kill();
    for (const [of, name] of WEBHOOK_CONFIGURATIONS) {
      await this.#client.delete(of, { name }).catch(unlessGone);
    }
  }
}
