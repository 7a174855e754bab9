/**
 * A cluster for an end-to-end test: `lockstep up` as a user starts it, and a client of it. With
 * `LOCKSTEP_TEST_KUBECONFIG` it joins the cluster of that file, so each suite runs on a real
 * Kubernetes too; `npm run test:kubernetes` does so. For `npm run test:node` it is the real nodes with
 * what is installed there.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectClient } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { removeWorkloads } from '../fixtures/workloads.ts';
import { KUBERNETES, NODE_RUN } from '../kubernetes.ts';
import { onNode } from './on-node.fixture.ts';

export const LOCKSTEP = fileURLToPath(new URL('../../bin/lockstep.js', import.meta.url));

/** Flags of `lockstep up` and `lockstep demo` that choose the cluster. */
export const WHERE: readonly string[] =
  KUBERNETES === undefined ? [] : ['--kubeconfig', KUBERNETES];

const START_TIMEOUT_MS = 60_000;

export interface ClusterUnderTest {
  readonly client: Client;
  readonly kubeconfig: string;
  /** A directory outside the cluster's state, for hostPath volumes. */
  readonly shared: string;
  readonly logs: () => string;
  stop(): Promise<void>;
}

/** `flags` are the options of `lockstep up`. */
export async function startCluster(...flags: readonly string[]): Promise<ClusterUnderTest> {
  const directory = mkdtempSync(join(tmpdir(), 'lockstep-e2e-'));
  if (NODE_RUN !== undefined) return await realNodes(directory, flags);
  const state = join(directory, 'state');
  const args = [LOCKSTEP, 'up', '--state-dir', state, ...WHERE, ...flags];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = await outputUntil(child, 'export KUBECONFIG=');
  const kubeconfig = /export KUBECONFIG=(.*)/.exec(output)?.[1] ?? '';
  const access = await loadKubeconfig({ path: kubeconfig, env: {}, homeDirectory: directory });
  const connection = connectClient(access, {
    clock: nodeClock,
    random: systemRandom,
    userAgent: 'lockstep-e2e',
  });
  return {
    client: connection.client,
    kubeconfig,
    shared: directory,
    logs: () => readFileSync(join(state, 'cluster.log'), 'utf8'),
    stop: async () => {
      // A real cluster outlives the command, so leftovers would disturb the next suite.
      try {
        if (KUBERNETES !== undefined) await removeWorkloads(connection.client);
      } finally {
        connection.close();
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGINT');
        await ended;
        rmSync(directory, { recursive: true, force: true });
      }
    },
  };
}

async function realNodes(directory: string, flags: readonly string[]): Promise<ClusterUnderTest> {
  if (flags.length > 0) throw new Error(`real nodes take no flags: ${flags.join(' ')}`);
  const kubeconfig = KUBERNETES ?? '';
  const access = await loadKubeconfig({ path: kubeconfig, env: {}, homeDirectory: directory });
  const { client, close } = connectClient(access, {
    clock: nodeClock,
    random: systemRandom,
    userAgent: 'lockstep-e2e',
    through: (transport) => onNode(transport, directory),
  });
  return {
    client,
    kubeconfig,
    shared: directory,
    logs: () => {
      throw new Error('real nodes have no log of the whole cluster');
    },
    stop: async () => {
      try {
        await removeWorkloads(client);
      } finally {
        close();
        rmSync(directory, { recursive: true, force: true });
      }
    },
  };
}

/** What the process printed up to and including `text`; rejects if it ends or stays silent. */
export function outputUntil(child: ChildProcess, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(
      () => reject(new Error(`no "${text}" within ${START_TIMEOUT_MS} ms:\n${output}`)),
      START_TIMEOUT_MS,
    );
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
      if (!output.includes(text)) return;
      clearTimeout(timer);
      resolve(output);
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      reject(new Error(`ended with ${signal ?? code} before "${text}":\n${output}`));
    });
  });
}
