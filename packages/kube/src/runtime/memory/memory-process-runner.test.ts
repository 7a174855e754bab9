import { describe, expect, it } from 'vitest';
import { processRunnerConformance } from '../ports/process-runner.conformance.ts';
import { COMMANDS, PROGRAMS } from './fake-programs.fixture.ts';
import { MemoryProcessRunner } from './memory-process-runner.ts';

processRunnerConformance('MemoryProcessRunner', () => ({
  runner: new MemoryProcessRunner(PROGRAMS),
  env: {},
  cwd: '/',
  commands: COMMANDS,
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
