import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createNodeProcessRunner } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { expect, test } from 'vitest';
import { joinRunning } from './control-plane.ts';

test('a credential plugin that always asks is refused before it does: an operator cannot answer', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'lockstep-join-'));
  const file = join(directory, 'kubeconfig');
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'sh',
    interactiveMode: 'Always',
  };
  const config = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { exec } }],
  };
  writeFileSync(file, JSON.stringify(config));
  const options = {
    clock: nodeClock,
    random: systemRandom,
    logger: SILENT,
    processes: createNodeProcessRunner(),
    stateDirectory: directory,
    path: '',
    nodes: [],
  };
  await expect(joinRunning(options, file)).rejects.toThrow(
    `${file}: users[0].user.exec.interactiveMode: "Always": the operator, which runs in the background, cannot ask at a terminal: use a kubeconfig with a token`,
  );
  rmSync(directory, { recursive: true });
});
