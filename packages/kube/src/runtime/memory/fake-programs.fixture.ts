import type { FakeProgram } from './memory-process-runner.ts';

/** The programs that the conformance suite of process runners starts. */
export const PROGRAMS: Readonly<Record<string, FakeProgram>> = {
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

/** The commands that start them, by what they do. */
export const COMMANDS = {
  exits3: ['exits3'],
  writes: ['writes'],
  runs: ['runs'],
  exits7OnTerm: ['exits7OnTerm'],
  ignoresTerm: ['ignoresTerm'],
  leavesOrphan: ['leavesOrphan'],
} as const;
