import { type ChildProcess, spawn } from 'node:child_process';
import { MARKER_VARIABLE } from '@lockstep/embedded-kubernetes';
import { freePorts } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { afterEach, expect, test } from 'vitest';
import { machinePorts } from './socket-owners.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A process of a Pod's container that listens; the two families may share one port. */
async function listen(podUid: string, port: number, host: '0.0.0.0' | '::'): Promise<void> {
  const program = `require('net').createServer().listen({ port: ${port}, host: '${host}', ipv6Only: true }, () => console.log('listening'))`;
  const child = spawn(process.execPath, ['-e', program], {
    env: { [MARKER_VARIABLE]: `${podUid}/worker/0` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', (code) => reject(new Error(`ended with exit code ${code}`)));
  });
}

test('finds the Pods whose processes listen on one port, including later ones', async () => {
  const [shared = 0, own = 0] = await freePorts(2, systemRandom);
  const ports = machinePorts();
  const found = () => ports.find().filter(({ port }) => port === shared || port === own);
  await listen('pod-b', shared, '0.0.0.0');
  await listen('pod-c', own, '0.0.0.0');
  expect(found()).toEqual([]);
  await listen('pod-a', shared, '::');
  const one = { port: shared, podUids: ['pod-a', 'pod-b'] };
  expect(found()).toEqual([one]);
  expect(found(), 'once more').toEqual([one]);
  await listen('pod-d', own, '::');
  expect(found()).toContainEqual({ port: own, podUids: ['pod-c', 'pod-d'] });
  expect(found()).toContainEqual(one);
});
