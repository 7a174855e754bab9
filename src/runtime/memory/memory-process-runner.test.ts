import { describe, expect, it } from 'vitest';
import { processRunnerConformance } from '../ports/process-runner.conformance.ts';
import { type FakeProgram, MemoryProcessRunner } from './memory-process-runner.ts';

const PROGRAMS: Readonly<Record<string, FakeProgram>> = {
  exits3: (self) => self.exit(3),
  writes: (self) => {
    self.write('stdout', 'out');
    self.write('stderr', 'err');
    self.exit(0);
  },
  runs: (self) => self.write('stdout', 'ready'),
  exits7OnTerm: (self) => {
    self.onSignal(() => {
      self.write('stdout', 'got TERM');
      self.exit(7);
    });
    self.write('stdout', 'ready');
  },
  ignoresTerm: (self) => {
    self.onSignal(() => undefined);
    self.write('stdout', 'ready');
  },
  leavesOrphan: (self) => {
    self.fork('own group');
    self.write('stdout', 'ready');
    self.exit(0);
  },
};

processRunnerConformance('MemoryProcessRunner', () => ({
  runner: new MemoryProcessRunner(PROGRAMS),
  env: {},
  cwd: '/',
  commands: {
    exits3: ['exits3'],
    writes: ['writes'],
    runs: ['runs'],
    exits7OnTerm: ['exits7OnTerm'],
    ignoresTerm: ['ignoresTerm'],
    leavesOrphan: ['leavesOrphan'],
  },
}));

describe('MemoryProcessRunner', () => {
  it('shows a test what was started, signalled and is still running', async () => {
    const runner = new MemoryProcessRunner({ worker: (self) => void self.fork('same group') });
    const worker = await runner.start({ argv: ['worker', '-x'], env: {}, cwd: '/' });
    await Promise.resolve();
    expect(runner.started.map((process) => process.command.argv)).toEqual([
      ['worker', '-x'],
      ['worker', '-x'],
    ]);
    worker.signalGroup('SIGTERM');
    expect(runner.started.map((process) => process.signals)).toEqual([['SIGTERM'], ['SIGTERM']]);
    expect(runner.running).toEqual([]);
  });
});
