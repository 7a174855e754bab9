/** A page that is open while its server, or the cluster behind it, is away. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { type ClusterUnderTest, startCluster } from '../e2e/local-cluster.fixture.ts';
import { removeWorkloads } from '../fixtures/workloads.ts';
import { pages, type Served, serveDashboard } from './browser.fixture.ts';

const browser = pages();
const directory = mkdtempSync(join(tmpdir(), 'lockstep-survival-'));
const kubeconfig = join(directory, 'kubeconfig');
let cluster: ClusterUnderTest;
let relay: Relay;
let served: Served;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(async () => {
  await cluster?.stop();
  rmSync(directory, { recursive: true, force: true });
});

// Each try has a server and a relay of its own: a failed one may have left them stopped.
beforeEach(async () => {
  const text = readFileSync(cluster.kubeconfig, 'utf8');
  const port = Number(/server: https:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1]);
  relay = new Relay(port);
  const own = await relay.open();
  writeFileSync(kubeconfig, text.replace(`127.0.0.1:${port}`, `127.0.0.1:${own}`));
  served = await serveDashboard({ of: ['--kubeconfig', kubeconfig], stateHome: directory });
});

afterEach(async () => {
  await served?.stop();
  await relay?.close();
  await removeWorkloads(cluster.client);
});

it('continues with a server that was started again, without a new address', async () => {
  const page = await browser.open(served.address);
  await create('before');
  await shows(page, 'before');

  await served.stop();
  await page
    .getByText(/does not answer/)
    .first()
    .waitFor();
  await create('meanwhile');
  served = await serveDashboard({
    of: ['--kubeconfig', kubeconfig],
    stateHome: directory,
    port: served.port,
  });

  await shows(page, 'meanwhile');
  await page.getByText('Live', { exact: true }).waitFor();
  expect(await page.getByRole('link', { name: 'before' }).count()).toBe(1);
});

it('says that the cluster does not answer, and continues when it does', async () => {
  const page = await browser.open(served.address);
  await create('known');
  await shows(page, 'known');

  await relay.close();
  await page
    .getByText(/cluster has not answered/)
    .first()
    .waitFor();
  await create('unseen');
  await relay.open();

  await shows(page, 'unseen');
  await page
    .getByText(/cluster has not answered/)
    .first()
    .waitFor({ state: 'detached' });
});

async function create(name: string): Promise<void> {
  const template = {
    spec: {
      template: {
        spec: { containers: [{ name: 'worker', image: 'none' }], restartPolicy: 'Never' },
      },
    },
  } as const;
  const jobSet: JobSet = {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name, namespace: 'default' },
    spec: { suspend: true, replicatedJobs: [{ name: 'w', template }] },
  };
  await cluster.client.create(JOBSETS, jobSet);
}

async function shows(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).waitFor();
}

/** Stands between the server of the page and the API server, and can go away and come back. */
class Relay {
  readonly #target: number;
  readonly #sockets = new Set<net.Socket>();
  #server: net.Server | undefined;
  #port = 0;

  constructor(target: number) {
    this.#target = target;
  }

  /** Resolves with its port, which stays. */
  async open(): Promise<number> {
    const server = net.createServer((inner) => {
      const outer = net.connect(this.#target, '127.0.0.1');
      for (const [one, other] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        this.#sockets.add(one);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          this.#sockets.delete(one);
          other.destroy();
        });
        one.pipe(other);
      }
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#server = server;
    const address = server.address();
    this.#port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    return this.#port;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
