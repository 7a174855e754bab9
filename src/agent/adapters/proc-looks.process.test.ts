import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, expect, it } from 'vitest';
import { createProcLooks, ownCgroup, threadIds } from './proc-looks.ts';

const looks = createProcLooks({ clock: nodeClock, cgroup: undefined });

const started: ChildProcess[] = [];
afterEach(() => {
  for (const { pid, exitCode } of started.splice(0)) {
    if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL');
  }
});

function start(script: string): number {
  const child = spawn('/bin/bash', ['-c', script], { detached: true, stdio: 'ignore' });
  started.push(child);
  if (child.pid === undefined) throw new Error('no process');
  return child.pid;
}

const statesOf = (pid: number): string =>
  [...(looks.tree(pid)?.processes.values() ?? [])]
    .map(({ states }) => [...states].join(''))
    .join('');

it('sees a process below the worker that was stopped', async () => {
  const pid = start('bash -c "kill -STOP \\$\\$; :" & wait');
  await until('the process is stopped', () => expect(statesOf(pid)).toBe('ST'));
});

it('counts the CPU time of a process that spins', async () => {
  const pid = start('while :; do :; done');
  const used = (): number =>
    [...(looks.tree(pid)?.processes.values() ?? [])].reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  await until('100 ms are used', () => expect(used()).toBeGreaterThan(100));
});

it('counts how long a thread waits for a CPU that it shares', async () => {
  const first = `taskset -cp $$ | sed 's/.*: //; s/[-,].*//'`;
  const pid = start(`taskset -cp "$(${first})" $$; (while :; do :; done) & while :; do :; done`);
  const spinner = () => looks.tree(pid)?.processes.values().next().value;
  await until('200 ms are used', () => expect(spinner()?.cpuMs).toBeGreaterThan(200));
  const { cpuMs, runnableMs } = spinner() ?? { cpuMs: 0, runnableMs: new Map() };
  expect(runnableMs.get(pid)).toBeGreaterThan(1.3 * cpuMs);
});

it('sees whether the worker is there', async () => {
  const pid = start('exit 0');
  await until('it has ended', () => expect(looks.tree(pid)?.isAlive).toBe(false));
  expect(looks.tree(2 ** 22 + 1)).toMatchObject({ isAlive: false, processes: new Map() });
});

it('looks at 1,024 processes at most', () => {
  const proc = mkdtempSync(join(tmpdir(), 'lockstep-proc-'));
  const add = (pid: string, children: string): void => {
    mkdirSync(join(proc, pid, 'task', pid), { recursive: true });
    const stat = `1 (a) b) S${' 7'.repeat(30)}`;
    writeFileSync(join(proc, pid, 'stat'), stat);
    writeFileSync(join(proc, pid, 'task', pid, 'stat'), stat);
    writeFileSync(join(proc, pid, 'task', pid, 'schedstat'), '4000000 5000000 7\n');
    writeFileSync(join(proc, pid, 'task', pid, 'children'), children);
  };
  try {
    const children = Array.from({ length: 1100 }, (_, index) => String(index + 2));
    for (const pid of ['self', ...children]) add(pid, '');
    add('1', `${children.join(' ')} `);
    const tree = createProcLooks({ clock: nodeClock, cgroup: undefined, proc }).tree(1);
    expect(tree?.processes.size).toBe(1024);
    const seen = { parent: 7, states: new Set('S'), cpuMs: 140 };
    expect(tree?.processes.get('256 7')).toEqual({ ...seen, runnableMs: new Map([[256, 9]]) });
    expect(tree?.processes.get('1024 7')).toEqual({ ...seen, runnableMs: new Map() });
    const shared = createProcLooks({ clock: nodeClock, cgroup: undefined, proc }).tree(1, 8);
    expect(shared).toMatchObject({ isAlive: true, isCut: true });
    expect(shared?.processes.size).toBeLessThan(1024 / 8);
    // Not all of them could get another priority.
    expect(threadIds(1, proc)).toBeUndefined();
    expect(threadIds(2, proc)).toEqual([2]);
  } finally {
    rmSync(proc, { recursive: true });
  }
});

it('names the threads of a process and what they wait for', async () => {
  const pid = start('exec python3 -c "import threading; threading.Barrier(2).wait()"');
  const waits = { pid, thread: pid, name: 'python3', state: 'S' };
  await until('it waits', () => expect(looks.threads(pid)).toMatchObject([waits]));
});

it('reads how often memory ran out from the own cgroup', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lockstep-cgroup-'));
  try {
    const cgroup = createProcLooks({ clock: nodeClock, cgroup: directory });
    expect(cgroup.oomKills()).toBeUndefined();
    writeFileSync(join(directory, 'memory.events'), 'low 0\noom 3\noom_kill 2\noom_group_kill 0\n');
    expect(cgroup.oomKills()).toBe(2);
  } finally {
    rmSync(directory, { recursive: true });
  }
  expect(ownCgroup('/nowhere')).toBeUndefined();
});

it.each([
  ['the path of the machine', '/kubepods/pod7', ''],
  ['a path below the mount', '/kubepods/pod7', '/kubepods/pod7'],
  ['the root', '/', ''],
])('finds the count of cgroup v1 where its file names %s', (_what, path, below) => {
  const root = mkdtempSync(join(tmpdir(), 'lockstep-cgroup-'));
  try {
    const memory = `${join(root, 'memory')}${below}`;
    mkdirSync(join(root, 'self'));
    mkdirSync(memory, { recursive: true });
    const lines = ['5:cpu,cpuacct:/other', `4:memory:${path}`, '0::/unified', ''];
    writeFileSync(join(root, 'self', 'cgroup'), lines.join('\n'));
    expect(ownCgroup(root, root)).toBeUndefined();
    writeFileSync(
      join(memory, 'memory.oom_control'),
      'oom_kill_disable 0\nunder_oom 0\noom_kill 3\n',
    );
    const cgroup = ownCgroup(root, root);
    expect(cgroup).toBe(memory);
    expect(createProcLooks({ clock: nodeClock, cgroup }).oomKills()).toBe(3);
  } finally {
    rmSync(root, { recursive: true });
  }
});
