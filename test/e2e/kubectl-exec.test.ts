/**
 * What a stock kubectl streams: commands in a container, standard streams and ports. Skipped, with
 * the reason printed, if kubectl is not installed.
 */

import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  hasKubectl,
  KUBECTL,
  type KubectlResult,
  kubectlOutput,
  runKubectl,
} from './kubectl.fixture.ts';
import { type ClusterUnderTest, outputUntil, startCluster } from './local-cluster.fixture.ts';

const POD = `
apiVersion: v1
kind: Pod
metadata: { name: a }
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers:
    - name: worker
      image: sh
      env: [{ name: COLOUR, value: blue }]
      command: [sh, -c, "while :; do echo tick; sleep 0.2; done"]
    - name: reader
      image: sh
      stdin: true
      command: [sh, -c, "while read line; do echo got $line; done; sleep 1000"]
    - name: web
      image: node
      ports: [{ containerPort: 8080 }]
      command: [node, -e, "SERVER"]
`;

/** Answers with what was posted; if Pods share an address, the port differs. */
const SERVER =
  "require('http').createServer((asked, answer) => asked.pipe(answer))" +
  '.listen(process.env.LOCKSTEP_PORT_8080 ?? 8080, process.env.LOCKSTEP_POD_IP)';

const TERMINAL_TIMEOUT_MS = 60_000;

const hasTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux') ?? false;

describe.skipIf(!hasKubectl())('kubectl', () => {
  let cluster: ClusterUnderTest;

  beforeAll(async () => {
    cluster = await startCluster();
    const manifest = join(cluster.shared, 'pod.yaml');
    writeFileSync(manifest, POD.replace('SERVER', SERVER));
    await kubectlOutput(cluster.kubeconfig, 'create', '-f', manifest);
    await kubectlOutput(cluster.kubeconfig, 'wait', '--for=condition=Ready', 'pod/a');
  });

  afterAll(() => cluster.stop());

  function exec(args: readonly string[], input?: string): Promise<KubectlResult> {
    return runKubectl(cluster.kubeconfig, ['exec', ...args], input);
  }

  it('runs a command in a container and ends with its exit code', async () => {
    const script = 'echo "$COLOUR $HOSTNAME"; echo wrong >&2; exit 3';
    const result = await exec(['a', '-c', 'worker', '--', 'sh', '-c', script]);
    expect(result).toMatchObject({ exitCode: 3, stdout: 'blue a\n' });
    expect(result.stderr).toContain('wrong\n');
    expect(result.stderr).toContain('command terminated with exit code 3');
  });

  it('hands over what it reads, whole, and the end of it', async () => {
    const input = Array.from({ length: 200_000 }, (_, i) => `line ${i}\n`).join('');
    const result = await exec(['-i', 'a', '-c', 'worker', '--', 'cat'], input);
    expect(result.exitCode).toBe(0);
    expect(result.stdout === input).toBe(true);
  });

  it('does so over SPDY too, as older versions do', async () => {
    const script = 'cat; echo wrong >&2; exit 4';
    const result = await runKubectl(
      cluster.kubeconfig,
      ['exec', '-i', 'a', '-c', 'worker', '--', 'sh', '-c', script],
      'input\n',
      { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false' },
    );
    expect(result).toMatchObject({ exitCode: 4, stdout: 'input\n' });
    expect(result.stderr).toContain('wrong\n');
  });

  it('gets the reason why a command cannot be run', async () => {
    const missing = await exec(['a', '-c', 'worker', '--', 'no-such-program']);
    expect(missing.exitCode).toBe(1);
    expect(missing.stderr).toContain('executable file not found in PATH');
    const nobody = await exec(['a', '-c', 'nobody', '--', 'true']);
    expect(nobody.stderr).toContain('container nobody is not valid for pod a');
    const unnamed = await exec(['nobody', '--', 'true']);
    expect(unnamed.stderr).toContain('pods "nobody" not found');
  });

  it.skipIf(!hasTerminal)('gives a terminal of the size of its own', async () => {
    const inner = `${KUBECTL} --kubeconfig ${cluster.kubeconfig} exec -it a -c worker --`;
    // The terminal may get its size after it exists.
    const sized = 'until stty size | grep -q 97; do sleep 0.1; done';
    const outer = `stty rows 31 cols 97; ${inner} sh -c '${sized}; tty; stty size; exit 5'`;
    const terminal = spawnSync('script', ['-qec', outer, '/dev/null'], {
      encoding: 'utf8',
      timeout: TERMINAL_TIMEOUT_MS,
    });
    expect(terminal.stdout).toMatch(/\/dev\/pts\/\d+\r?\n31 97\r?\n/);
    expect(terminal.status).toBe(5);
  });

  it.skipIf(process.platform !== 'linux')(
    'takes the command with it when it is ended',
    async () => {
      const mark = `lockstep-e2e-${process.pid}`;
      const script = `echo up; sleep 1000 & sleep 1000; : ${mark}`;
      const args = ['--kubeconfig', cluster.kubeconfig, 'exec', 'a', '-c', 'worker'];
      const child = spawn(KUBECTL, [...args, '--', 'sh', '-c', script]);
      await outputUntil(child, 'up');
      expect(processesWith(`: ${mark}`)).not.toEqual([]);
      child.kill('SIGKILL');
      await until('it has ended', () => expect(processesWith(`: ${mark}`)).toEqual([]));
    },
  );

  it('attaches to what a container writes and reads', async () => {
    const args = ['--kubeconfig', cluster.kubeconfig, 'attach', 'a'];
    const listener = spawn(KUBECTL, [...args, '-c', 'worker']);
    await outputUntil(listener, 'tick');
    listener.kill();
    const talker = spawn(KUBECTL, [...args, '-i', '-c', 'reader']);
    talker.stdin.write('something\n');
    await outputUntil(talker, 'got something');
    talker.kill();
  });

  it('forwards connections to a port, many at a time and large ones', async () => {
    const args = ['--kubeconfig', cluster.kubeconfig, 'port-forward', 'pod/a', ':8080'];
    const forward = spawn(KUBECTL, args);
    const said = await outputUntil(forward, '-> 8080');
    const port = /127\.0\.0\.1:(\d+)/.exec(said)?.[1];
    const bodies = Array.from({ length: 10 }, (_, i) => `${i}`.repeat(i * 50_000));
    const answers = await Promise.all(
      bodies.map(async (body) => {
        const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body });
        return answer.text();
      }),
    );
    expect(answers.map((answer) => answer.length)).toEqual(bodies.map((body) => body.length));
    expect(answers.every((answer, i) => answer === bodies[i])).toBe(true);
    forward.kill();
  });

  it('reports that a port is closed', async () => {
    const args = ['--kubeconfig', cluster.kubeconfig, 'port-forward', 'pod/a', ':81'];
    const forward = spawn(KUBECTL, args);
    const port = /127\.0\.0\.1:(\d+)/.exec(await outputUntil(forward, '-> 81'))?.[1];
    const complaint = outputUntil(forward, 'ECONNREFUSED');
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
    expect(await complaint).toContain('error forwarding port 81 to pod default_a');
    forward.kill();
  });

  it('adds a container that sees what another does, and says how that ended', async () => {
    const input = "grep -q '[t]ick' /proc/*/cmdline && echo seen; exit 3\n";
    const debug = ['debug', '-i', 'a', '--image=sh', '-c', 'look', '--target=worker', '--', 'sh'];
    const { stdout } = await runKubectl(cluster.kubeconfig, debug, input);
    expect(stdout).toContain('seen\n');
    const path = '{.status.ephemeralContainerStatuses[0].state.terminated.exitCode}';
    const ended = (): Promise<string> =>
      kubectlOutput(cluster.kubeconfig, 'get', 'pod', 'a', '-o', `jsonpath=${path}`);
    await until('its exit code is seen', async () => expect(await ended()).toBe('3'));
    expect(await kubectlOutput(cluster.kubeconfig, 'logs', 'a', '-c', 'look')).toBe('seen\n');
  });

  it.skipIf(!hasTerminal)('gives such a container a terminal', async () => {
    const debug = `${KUBECTL} --kubeconfig ${cluster.kubeconfig} debug -it a --image=sh -c term -- sh -c 'read line; tty'`;
    const session = spawn('script', ['-qec', debug, '/dev/null']);
    await outputUntil(session, 'try pressing enter');
    const answer = outputUntil(session, '/dev/pts/');
    session.stdin.write('\n');
    expect(await answer).toContain('/dev/pts/');
    session.kill();
  });

  it('copies a file there and back', async () => {
    const file = join(cluster.shared, 'file.txt');
    writeFileSync(file, 'copied\n');
    await kubectlOutput(cluster.kubeconfig, 'cp', file, 'a:there.txt', '-c', 'worker');
    const back = join(cluster.shared, 'back.txt');
    await kubectlOutput(cluster.kubeconfig, 'cp', 'a:there.txt', back, '-c', 'worker');
    expect(readFileSync(back, 'utf8')).toBe('copied\n');
  });
});

/** Command lines of this machine's processes that contain the text. */
function processesWith(text: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return line.includes(text) && !line.includes(KUBECTL) ? [line] : [];
      } catch {
        return [];
      }
    });
}
