import { chmodSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../../until.fixture.ts';
import { processRunnerConformance } from '../ports/process-runner.conformance.ts';
import type { ProcessCommand } from '../ports/process-runner.ts';
import { createNodeProcessRunner } from './node-process-runner.ts';

const directory = mkdtempSync(join(tmpdir(), 'lockstep-process-'));
const env = { PATH: process.env['PATH'] ?? '' };
afterAll(() => rmSync(directory, { recursive: true }));

// `exec sleep`, so that the signal reaches the process that the test waits for.
processRunnerConformance('NodeProcessRunner', () => ({
  runner: createNodeProcessRunner(),
  env,
  cwd: directory,
  commands: {
    exits3: ['sh', '-c', 'exit 3'],
    writes: ['sh', '-c', 'printf out; printf err >&2'],
    runs: ['sh', '-c', 'printf ready; exec sleep 1000'],
    exits7OnTerm: [
      'sh',
      '-c',
      'trap "printf \\"got TERM\\"; exit 7" TERM; printf ready; while :; do sleep 0.01; done',
    ],
    ignoresTerm: ['sh', '-c', 'trap "" TERM; printf ready; exec sleep 1000'],
    leavesOrphan: ['sh', '-c', 'setsid sleep 1000 >/dev/null 2>&1 & printf ready'],
  },
}));

describe('NodeProcessRunner', () => {
  const runner = createNodeProcessRunner();
  const command = (script: string, more: Partial<ProcessCommand> = {}): ProcessCommand => ({
    argv: ['sh', '-c', script],
    env,
    cwd: directory,
    ...more,
  });

  it('delivers more output than a pipe holds, in order', async () => {
    let received = '';
    const onOutput = (_: string, chunk: Uint8Array): void => {
      received += new TextDecoder().decode(chunk);
    };
    const { exited } = await runner.start(command('seq 1 60000', { onOutput }));
    await exited;
    const lines = received.trimEnd().split('\n');
    expect(lines).toHaveLength(60_000);
    expect(lines.every((line, at) => line === String(at + 1))).toBe(true);
  });

  it('reports the end although a descendant keeps the pipe open, silent or not', async () => {
    for (const descendant of ['sleep 1000', 'yes']) {
      let received = 0;
      const onOutput = (_: string, chunk: Uint8Array): void => {
        received += chunk.length;
      };
      const marked = { ...env, PIPE_HOLDER: descendant };
      const script = `printf first; setsid ${descendant} & exit 4`;
      const process = await runner.start(command(script, { onOutput, env: marked }));
      expect(await process.exited).toEqual({ exitCode: 4, signal: undefined });
      expect(received).toBeGreaterThanOrEqual('first'.length);
      // If it writes first, its broken pipe ends it instead.
      await runner.killByEnvironment('PIPE_HOLDER', descendant);
      expect(await runner.killByEnvironment('PIPE_HOLDER', descendant)).toBe(0);
    }
  });

  it('hands over exactly the given environment and working directory', async () => {
    let received = '';
    const onOutput = (_: string, chunk: Uint8Array): void => {
      received += new TextDecoder().decode(chunk);
    };
    const { exited } = await runner.start({
      ...command('', { onOutput, env: { PATH: env.PATH, ONLY: 'this one' } }),
      argv: ['env'],
    });
    await exited;
    const names = received.trim().split('\n').sort();
    expect(names).toEqual([`ONLY=this one`, `PATH=${env.PATH}`]);
    received = '';
    await (await runner.start(command('pwd', { onOutput }))).exited;
    expect(received.trim()).toBe(directory);
  });

  it('names the faulty part of a command that cannot be started', async () => {
    const script = join(directory, 'not-executable');
    writeFileSync(script, '#!/bin/sh\n');
    chmodSync(script, 0o644);
    await expect(runner.start({ argv: [script], env, cwd: directory })).rejects.toMatchObject({
      code: 'EACCES',
      message: expect.stringMatching(/not-executable": permission denied/),
    });
    const gone = join(directory, 'gone');
    await expect(runner.start({ argv: ['sh'], env, cwd: gone })).rejects.toMatchObject({
      code: 'ENOENT',
      message: expect.stringContaining(`working directory "${gone}"`),
    });
    await expect(runner.start({ argv: ['a\0b'], env, cwd: directory })).rejects.toMatchObject({
      name: 'ProcessStartError',
    });
    const argv = ['sh', '-c', ':', 'x'.repeat(3_000_000)] as const;
    await expect(runner.start({ argv, env, cwd: directory })).rejects.toMatchObject({
      code: 'E2BIG',
    });
  });

  it.each(['Told', 'Asked'] as const)(
    'lends its streams to a program whose user is %s',
    async (user) => {
      let received = '';
      const onOutput = (stream: string, chunk: Uint8Array): void => {
        expect(stream).toBe('stdout');
        received += new TextDecoder().decode(chunk);
      };
      const script =
        'readlink /proc/$$/fd/0 /proc/$$/fd/2; cut -d " " -f 5 /proc/$$/stat; exec sleep 1000';
      const { exited, signalGroup, pid } = await runner.start(command(script, { onOutput, user }));
      await until('three lines', () => expect(received.split('\n')).toHaveLength(4));
      const [input, errors, group] = received.split('\n');
      const own = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ')[2];
      expect(errors).toBe(readlinkSync('/proc/self/fd/2'));
      expect(input).toBe(user === 'Asked' ? readlinkSync('/proc/self/fd/0') : '/dev/null');
      expect(group).toBe(user === 'Asked' ? own : String(pid));
      signalGroup('SIGTERM');
      expect(await exited).toEqual({ exitCode: undefined, signal: 'SIGTERM' });
    },
  );

  it('kills the members of a group whose leader has ended', async () => {
    const marked = { ...env, GROUP_MEMBER: 'left' };
    const process = await runner.start(
      command('sleep 1000 >/dev/null 2>&1 & exit 0', { env: marked, onOutput: () => undefined }),
    );
    await process.exited;
    process.signalGroup('SIGKILL');
    expect(await runner.killByEnvironment('GROUP_MEMBER', 'left')).toBeLessThanOrEqual(1);
    expect(await runner.killByEnvironment('GROUP_MEMBER', 'left')).toBe(0);
  });
});
