/** `lockstep logs`, `report`, `restart` and `nodes` as a user runs them, on a group that fails, in both modes. */

import { execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GoodputAt } from '../../src/jobset/goodput/goodput-at.ts';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import type { RestartMode } from '../../src/jobset/jobset-status.ts';
import { RESTART_MODE } from '../../src/jobset/names.ts';
import { AGENT_MODES, EXCEPTIONS } from '../kubernetes.ts';
import { type ClusterUnderTest, LOCKSTEP, startCluster } from './local-cluster.fixture.ts';

const SIZE = 3;

let cluster: ClusterUnderTest;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(async () => {
  await cluster.stop();
});

/** Each worker counts aloud. Rank 1 fails once when there is a file. */
function countingGroup(name: string, mode: RestartMode): JobSet {
  const fail = join(cluster.shared, `${name}.fail`);
  const script =
    `n=0; echo begins; while sleep 0.05; do n=$((n + 1)); echo "count $n"; ` +
    `if [ $RANK = 1 ] && mv ${fail} ${fail}ed 2>/dev/null; then echo dies; exit 3; fi; done`;
  const rank = { fieldRef: { fieldPath: `metadata.annotations['${COMPLETION_INDEX}']` } };
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name, namespace: 'default', annotations: { [RESTART_MODE]: mode } },
    spec: {
      failurePolicy: { maxRestarts: 10, restartStrategy: 'InPlaceRestart' },
      replicatedJobs: [
        {
          name: 'w',
          template: {
            spec: {
              parallelism: SIZE,
              completions: SIZE,
              template: {
                spec: {
                  restartPolicy: 'Never',
                  terminationGracePeriodSeconds: 1,
                  containers: [
                    {
                      name: 'worker',
                      image: 'sh',
                      command: ['sh', '-c', script],
                      env: [{ name: 'RANK', valueFrom: rank }],
                    },
                  ],
                },
              },
            },
          },
        },
      ],
    },
  };
}

interface Result {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

function lockstep(...args: readonly string[]): Promise<Result> {
  const argv = [LOCKSTEP, ...args, '--kubeconfig', cluster.kubeconfig];
  return new Promise((resolve) => {
    execFile(process.execPath, argv, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}

/** The texts of one rank, in their order. */
function linesOf(output: string, rank: number): readonly string[] {
  const prefix = `[${rank}] `;
  return output
    .split('\n')
    .filter((line) => line.startsWith(prefix))
    .map((line) => line.slice(prefix.length));
}

/** A line that each run of a worker prints once. */
function isLate(line: string): boolean {
  return line === 'count 8';
}

/** Splits the lines of a worker at each of its starts, and expects that none is missing or double. */
function runsOf(lines: readonly string[]): readonly (readonly string[])[] {
  const starts = lines.flatMap((line, i) => (line === 'begins' ? [i] : []));
  const runs = starts.map((start, i) => lines.slice(start, starts[i + 1]));
  for (const run of runs) {
    const counts = run.filter((line) => line.startsWith('count'));
    expect(counts).toEqual(counts.map((_, i) => `count ${i + 1}`));
  }
  return runs;
}

describe.each(AGENT_MODES)('a group in mode %s', (mode) => {
  const name = `counting-${mode.toLowerCase()}`;

  it('is followed through a restart, without losing a line or showing one twice', async () => {
    const args = [LOCKSTEP, 'logs', name, '-f', '--kubeconfig', cluster.kubeconfig];
    await cluster.client.create(JOBSETS, countingGroup(name, mode));
    const command = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise((resolve) => command.once('exit', resolve));
    let output = '';
    command.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    await until('ten lines', () => expect(linesOf(output, 1)).toContain('count 10'));
    writeFileSync(join(cluster.shared, `${name}.fail`), '');
    const lateLines = (): readonly number[] =>
      [0, 1, 2].map((rank) => linesOf(output, rank).filter(isLate).length);
    await until('all have run again', () => expect(lateLines()).toEqual([2, 2, 2]));
    command.kill('SIGINT');
    expect(await ended).toBe(0);
    for (let rank = 0; rank < SIZE; rank++) expect(runsOf(linesOf(output, rank))).toHaveLength(2);
    expect(linesOf(output, 1)).toContain('dies');
    expect(output).not.toContain('"logger":"agent"');
  });

  const isGone = mode === 'Sidecar' && EXCEPTIONS.logsOfEarlierRunsGo;
  if (isGone) {
    it('says that no line of an earlier epoch is left', async () => {
      for (const args of [['--epoch', '1'], ['--failed']]) {
        const { exitCode, stdout, stderr } = await lockstep('logs', name, ...args);
        expect([exitCode, stdout]).toEqual([0, '']);
        expect(stderr).toMatch(/^lockstep: no line of epoch 1 is left: in sidecar mode, .*\n$/);
      }
    });
  } else {
    it('shows the lines of one epoch, of one rank, and of those that failed', async () => {
      const { stdout: first } = await lockstep('logs', name, '--epoch', '1');
      for (let rank = 0; rank < SIZE; rank++) expect(runsOf(linesOf(first, rank))).toHaveLength(1);
      expect(linesOf(first, 1).at(-1)).toBe('dies');
      const { stdout: second } = await lockstep('logs', name, '--epoch', '2', '--rank', '1');
      expect(second).toMatch(/^(\[1\] .*\n)+$/);
      expect(second).not.toContain('dies');
      const { stdout: failed } = await lockstep('logs', name, '--failed', '--timestamps');
      expect(failed).toMatch(/^(\[1\] \d{4}-\S+Z .*\n)+$/);
      expect(failed).toMatch(/ dies\n$/);
      // The worker that was started in place counts again, in the same log.
      const { stdout: tail } = await lockstep('logs', name, '--failed', '--tail', '2');
      expect(tail).toMatch(/^\[1\] count \d+\n\[1\] dies\n$/);
    });
  }

  it('has a report that says who failed', async () => {
    const { stdout, exitCode } = await lockstep('report', name);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`JobSet default/${name}: 1 of 10 restarts used\n`);
    expect(stdout).toContain('for failures: 1 restart in place, 0 of all Jobs\n');
    expect(stdout).toMatch(/epoch 1 ended: a worker failed, counted; had run for /);
    expect(stdout).toMatch(/, released after \d+\.\d\d s\n/);
    const json = JSON.parse((await lockstep('report', name, '-o', 'json')).stdout) as object;
    expect(json).toMatchObject({ name, inPlaceRestarts: 1, restartHistory: [{ epoch: 1 }] });
  });

  it('tells where all of its time went', async () => {
    const { stdout } = await lockstep('report', name);
    expect(stdout).toMatch(/\nwhere the time went:\n( {2}\w+ .*\n)* {2}total .* 100\.0 %/);
    expect(stdout).toMatch(/\n {2}Running .* workers ran, and told of no checkpoint\n/);
    const { goodput } = JSON.parse((await lockstep('report', name, '-o', 'json')).stdout) as {
      readonly goodput: GoodputAt;
    };
    const classes = Object.values(goodput.classes).reduce((sum, ms) => sum + ms, 0);
    expect(Math.abs(classes - goodput.elapsedMs)).toBeLessThanOrEqual(goodput.elapsedMs / 1000);
    const { stdout: status } = await lockstep('status', name);
    expect(status).toMatch(/\n {2}time: .*\n {2}the rest: Running /);
  });

  it('is restarted by request, without a charge', async () => {
    const { stdout, stderr, exitCode } = await lockstep('restart', name);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^epoch 2 ended \(Requested, not counted\); 3 members run again in epoch 3 after \d+\.\d s\n$/,
    );
    const { stdout: report } = await lockstep('report', name);
    expect(report).toContain('1 of 10 restarts used\n');
    expect(report).toContain('for failures: 1 restart in place, ');
    expect(report).toContain('recorded: 2 restarts (1 WorkerFailed, 1 Requested), ');
    expect(report).toMatch(
      /epoch 2 ended: a user asked for it, not counted: no failure; had run for /,
    );
  });

  it('lists the nodes that members have left, and forgets them once', async () => {
    const at = { namespace: 'default', name };
    const time = '2026-01-01T00:00:00.000000Z';
    const entry = { time, reason: 'r', pod: 'p', worker: 'worker 1 of w' };
    const avoidedNodes = ['gone-0', 'gone-1'].map((node) => ({ node, ...entry }));
    const status = { type: 'merge', patch: { status: { avoidedNodes } } } as const;
    await cluster.client.patch(JOBSETS, at, status, { subresource: 'status' });
    const { stdout: table } = await lockstep('nodes', name);
    expect(table).toMatch(/^NODE +AGE +MEMBER +POD +WHY\ngone-0 .* worker 1 of w .* r\ngone-1 /);
    const wrong = await lockstep('nodes', name, '--forget', 'other');
    expect([wrong.exitCode, wrong.stdout]).toEqual([1, '']);
    expect(wrong.stderr).toContain('does not avoid other; it avoids gone-0, gone-1; nothing was');
    const one = await lockstep('nodes', name, '--forget', 'gone-1');
    expect(one).toEqual({ exitCode: 0, stdout: 'forgotten: gone-1\n', stderr: '' });
    const rest = JSON.parse((await lockstep('nodes', name, '-o', 'json')).stdout) as object;
    expect(rest).toMatchObject({ namespace: 'default', name, avoidedNodes: [{ node: 'gone-0' }] });
    expect((await lockstep('nodes', name, '--all')).stdout).toBe('forgotten: gone-0\n');
    const none = `JobSet default/${name} avoids no node\n`;
    for (const more of [[], ['--all']]) {
      expect(await lockstep('nodes', name, ...more)).toMatchObject({ exitCode: 0, stdout: none });
    }
  });

  it('refuses ranks and epochs that do not exist', async () => {
    const expected: readonly (readonly [readonly string[], number, RegExp])[] = [
      [['--rank', '3'], 1, /there is no rank 3: those of w are 0 to 2/],
      [['--epoch', '9'], 1, /--epoch: epoch 9 has not begun: the current one is 3/],
      [['-c', 'nothing'], 1, /--container is "nothing": Pod \S+ has worker/],
      [['--since', 'soon'], 2, /--since is "soon", allowed is a duration/],
    ];
    for (const [args, code, text] of expected) {
      const { exitCode, stdout, stderr } = await lockstep('logs', name, ...args);
      expect(stderr).toMatch(text);
      expect([exitCode, stdout]).toEqual([code, '']);
    }
  });
});

it.each(['logs', 'report', 'restart', 'nodes'])(
  'lockstep %s says which JobSets there are',
  async (verb) => {
    const { exitCode, stderr } = await lockstep(verb, 'counted');
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/there is no JobSet default\/counted; in namespace default there are /);
  },
);
