/** An agent and the keeper of its processes, connected in memory. */

import { COMMANDS, PROGRAMS } from '@lockstep/kube/runtime/memory/fake-programs.fixture.ts';
import {
  type FakeProcess,
  MemoryProcessRunner,
} from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import { processRunnerConformance } from '@lockstep/kube/runtime/ports/process-runner.conformance.ts';
import { describe, expect, it } from 'vitest';
import type { OutputHandler, ProcessKeeper } from '../ports/process-keeper.ts';
import { messagePair } from './message-pair.fixture.ts';
import { ProcessHost } from './process-host.ts';
import type { AgentMessage, KeeperMessage } from './process-messages.ts';
import { RemoteKeeper } from './remote-keeper.ts';

processRunnerConformance('RemoteKeeper', () => ({
  runner: connected(new ProcessHost(new MemoryProcessRunner(PROGRAMS))),
  env: {},
  cwd: '/',
  commands: COMMANDS,
}));

describe('processes whose agent was killed', () => {
  it('continue, and the next agent gets what they wrote and how they ended', async () => {
    const { runner, host } = setUp();
    const first = connected(host);
    await start(first, 'a/worker/0');
    const worker = only(runner);
    host.disconnect();
    worker.write('stdout', 'one ');
    worker.write('stderr', 'two');
    const next = connected(host);
    expect(await next.keys()).toEqual(['a/worker/0']);
    let output = '';
    const kept = await next.adopt('a/worker/0', (stream, bytes) => {
      output += `${stream} ${new TextDecoder().decode(bytes)};`;
    });
    expect(kept?.hasExited).toBe(false);
    expect(kept?.command).toEqual({ argv: ['runs'], env: { A: 'b' }, cwd: '/' });
    worker.write('stdout', 'three');
    worker.exit(9);
    expect(await kept?.child.exited).toEqual({ exitCode: 9, signal: undefined });
    expect(output).toBe('stdout one ;stderr two;stdout three;');
  });

  it('that ended meanwhile are reported as ended to every agent, until they are forgotten', async () => {
    const { runner, host } = setUp();
    await start(connected(host), 'a/worker/0');
    host.disconnect();
    only(runner).exit(7);
    for (let i = 0; i < 2; i++) {
      const next = connected(host);
      const kept = await next.adopt('a/worker/0', () => undefined);
      expect(kept?.hasExited).toBe(true);
      expect(await kept?.child.exited).toEqual({ exitCode: 7, signal: undefined });
      host.disconnect();
    }
    const last = connected(host);
    last.forget('a/worker/0');
    expect(await last.keys()).toEqual([]);
    expect(await last.adopt('a/worker/0', () => undefined)).toBeUndefined();
  });

  it('are ended if they were for a moment only', async () => {
    const { runner, host } = setUp();
    await start(connected(host), undefined);
    host.disconnect();
    expect(only(runner).isRunning).toBe(false);
    expect(await connected(host).keys()).toEqual([]);
  });

  it('are held back while their output is not read, and continue when it is', async () => {
    const { runner, host, holds } = setUp();
    const taken: number[] = [];
    await start(connected(host), 'a/worker/0');
    host.disconnect();
    for (let i = 0; i < 3; i++) only(runner).write('stdout', 'x'.repeat(600_000));
    expect(holds.length).toBe(1);
    await connected(host).adopt('a/worker/0', (_stream, bytes) => taken.push(bytes.byteLength));
    await holds[0];
    expect(taken.reduce((sum, size) => sum + size, 0)).toBe(3 * 600_000);
  });

  it('all die with the node', async () => {
    const { runner, host } = setUp();
    const agent = connected(host);
    await start(agent, 'a/worker/0');
    await start(agent, 'a/worker/1');
    host.disconnect();
    await host.killAll();
    expect(runner.running).toEqual([]);
    expect(await connected(host).keys()).toEqual([]);
  });
});

function setUp() {
  const runner = new MemoryProcessRunner(PROGRAMS);
  const holds: Promise<unknown>[] = [];
  const host = new ProcessHost({
    start: async (command) => {
      const process = await runner.start(command);
      return { ...process, holdOutput: (until) => void holds.push(until) };
    },
    killByEnvironment: (name, value) => runner.killByEnvironment(name, value),
  });
  return { runner, host, holds };
}

function connected(host: ProcessHost): ProcessKeeper {
  const [agent, keeper] = messagePair<AgentMessage, KeeperMessage>();
  host.connect(keeper);
  return new RemoteKeeper(agent);
}

async function start(keeper: ProcessKeeper, key: string | undefined): Promise<void> {
  const onOutput: OutputHandler = () => undefined;
  await keeper.start({ argv: ['runs'], env: { A: 'b' }, cwd: '/', key, onOutput });
  for (let i = 0; i < 5; i++) await Promise.resolve();
}

function only(runner: MemoryProcessRunner): FakeProcess {
  const [process] = runner.started;
  if (process === undefined) throw new Error('nothing was started');
  return process;
}
