/** The tests that every implementation of the port of processes must pass. */

import { describe, expect, it } from 'vitest';
import { until } from '../../until.fixture.ts';
import {
  type ProcessCommand,
  type ProcessRunner,
  ProcessStartError,
  type RunningProcess,
} from './process-runner.ts';

/** A runner under test, and commands that do what their names say. */
export interface ProcessRunnerUnderTest {
  readonly runner: ProcessRunner;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly commands: {
    readonly exits3: Argv;
    /** Writes `out` and `err` to the two streams and exits with 0. */
    readonly writes: Argv;
    /** Writes `ready`, then runs until it is killed. */
    readonly runs: Argv;
    /** Writes `ready`, then on SIGTERM writes `got TERM` and exits with 7. */
    readonly exits7OnTerm: Argv;
    /** Writes `ready`, then ignores SIGTERM. */
    readonly ignoresTerm: Argv;
    /** Starts a child in its own group that runs until killed, writes `ready`, exits with 0. */
    readonly leavesOrphan: Argv;
  };
}

type Argv = readonly [string, ...string[]];

export function processRunnerConformance(name: string, make: () => ProcessRunnerUnderTest): void {
  describe(`${name} as a ProcessRunner`, () => {
    it('reports the exit code', async () => {
      const test = make();
      const { exited } = await launch(test, test.commands.exits3);
      expect(await exited).toEqual({ exitCode: 3, signal: undefined });
    });

    it('has delivered all output when it reports the end', async () => {
      const test = make();
      const process = await launch(test, test.commands.writes);
      expect(await process.exited).toEqual({ exitCode: 0, signal: undefined });
      expect(process.output()).toEqual({ stdout: 'out', stderr: 'err' });
    });

    it('reports the signal that ended a process', async () => {
      const test = make();
      const process = await launch(test, test.commands.runs);
      await process.wrote('ready');
      process.signalGroup('SIGKILL');
      expect(await process.exited).toEqual({ exitCode: undefined, signal: 'SIGKILL' });
    });

    it('lets a process answer a signal in its own way', async () => {
      const test = make();
      const process = await launch(test, test.commands.exits7OnTerm);
      await process.wrote('ready');
      process.signalGroup('SIGTERM');
      expect(await process.exited).toEqual({ exitCode: 7, signal: undefined });
      expect(process.output().stdout).toContain('got TERM');
    });

    it('ends with SIGKILL what ignores SIGTERM', async () => {
      const test = make();
      const process = await launch(test, test.commands.ignoresTerm);
      await process.wrote('ready');
      process.signalGroup('SIGTERM');
      process.signalGroup('SIGKILL');
      expect(await process.exited).toEqual({ exitCode: undefined, signal: 'SIGKILL' });
    });

    it('takes a signal to a group that is gone as harmless', async () => {
      const test = make();
      const process = await launch(test, test.commands.exits3);
      await process.exited;
      process.signalGroup('SIGTERM');
      process.signalGroup('SIGKILL');
    });

    it('gives every process a number and a group of its own', async () => {
      const test = make();
      const one = await launch(test, test.commands.runs);
      const two = await launch(test, test.commands.runs);
      expect(one.pid).not.toBe(two.pid);
      await Promise.all([one.wrote('ready'), two.wrote('ready')]);
      one.signalGroup('SIGKILL');
      await one.exited;
      let hasTwoEnded = false;
      void two.exited.then(() => {
        hasTwoEnded = true;
      });
      await Promise.resolve();
      expect(hasTwoEnded).toBe(false);
      two.signalGroup('SIGKILL');
      await two.exited;
    });

    it('rejects a command that does not exist, naming it', async () => {
      const test = make();
      for (const program of ['no-such-program', '/no/such/program']) {
        const error = await launch(test, [program, 'argument']).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(ProcessStartError);
        expect(error).toMatchObject({ code: 'ENOENT', message: expect.stringContaining(program) });
      }
    });

    it('kills by environment what left its group, and nothing else', async () => {
      const test = make();
      const orphaned = await launch(test, test.commands.leavesOrphan, { MARK: 'a' });
      await orphaned.wrote('ready');
      await orphaned.exited;
      const other = await launch(test, test.commands.runs, { MARK: 'ab', XMARK: 'a' });
      await other.wrote('ready');
      expect(await test.runner.killByEnvironment('MARK', 'a')).toBe(1);
      expect(await test.runner.killByEnvironment('MARK', 'a')).toBe(0);
      expect(await test.runner.killByEnvironment('MARK', 'ab')).toBe(1);
      expect(await other.exited).toEqual({ exitCode: undefined, signal: 'SIGKILL' });
    });
  });
}

interface Launched extends RunningProcess {
  output(): { readonly stdout: string; readonly stderr: string };
  /** Resolves as soon as standard output contains `text`. */
  wrote(text: string): Promise<void>;
}

async function launch(
  test: ProcessRunnerUnderTest,
  argv: Argv,
  env: Readonly<Record<string, string>> = {},
): Promise<Launched> {
  const output = { stdout: '', stderr: '' };
  const command: ProcessCommand = {
    argv,
    env: { ...test.env, ...env },
    cwd: test.cwd,
    onOutput: (stream, chunk) => {
      output[stream] += new TextDecoder().decode(chunk);
    },
  };
  const process = await test.runner.start(command);
  return {
    ...process,
    output: () => output,
    wrote: (text) => until('the output comes', () => expect(output.stdout).toContain(text)),
  };
}
