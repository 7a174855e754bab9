import type { ContainerRestartRule } from '@lockstep/kube/objects/pod.ts';
import {
  type FakeProcess,
  MemoryProcessRunner,
} from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { describe, expect, it } from 'vitest';
import type { Exit } from '../jobset/worker-end/worker-end.ts';
import { createSupervisor, type Supervisor } from './supervisor.ts';
import { UNSEEN_WORKER } from './worker/unseen-worker.fixture.ts';
import { type OwnEnd, restartsGroup } from './worker-exit.ts';

class Scene {
  readonly clock = new VirtualClock();
  readonly ended: OwnEnd[] = [];
  readonly processes: MemoryProcessRunner;
  readonly supervisor: Supervisor;

  constructor(program: (self: FakeProcess) => void, command = 'train') {
    this.processes = new MemoryProcessRunner({ train: program });
    this.supervisor = createSupervisor({
      ...UNSEEN_WORKER,
      command: { argv: [command, '--fast'], env: { PATH: '/bin' }, cwd: '/' },
      rules: [],
      stopGraceMs: 5000,
      processes: this.processes,
      clock: this.clock,
      random: new SeededRandom(1),
      logger: SILENT,
    });
  }

  lift(epoch: number): Promise<void> {
    this.supervisor.lift(epoch, (end) => this.ended.push(end));
    return this.clock.settle();
  }

  get workers(): readonly FakeProcess[] {
    return this.processes.started;
  }
}

describe('a supervisor', () => {
  it('gives the worker its command, its environment and its epoch', async () => {
    const scene = new Scene(() => undefined);
    await scene.lift(4);
    const [worker] = scene.workers;
    expect(worker?.command.argv).toEqual(['train', '--fast']);
    expect(worker?.command.env).toMatchObject({ PATH: '/bin', LOCKSTEP_EPOCH: '4' });
  });

  it('marks each run of the worker differently', async () => {
    const scene = new Scene((self) => self.exit(1));
    await scene.lift(1);
    await scene.lift(2);
    const marks = scene.workers.map((worker) => worker.command.env['LOCKSTEP_WORKER']);
    expect(new Set(marks).size).toBe(2);
  });

  it('tells of the end only when all descendants are gone', async () => {
    const scene = new Scene((self) => {
      self.fork('same group').onSignal(() => undefined);
      self.fork('own group').onSignal(() => undefined);
      self.exit(3);
    });
    await scene.lift(1);
    expect(scene.ended).toEqual([
      { epoch: 1, how: 'Exited', exit: { exitCode: 3 }, atMs: 0, restartsGroup: true },
    ]);
    expect(scene.processes.running).toEqual([]);
  });

  it('stops with SIGTERM, and with SIGKILL only what ignores it for longer than the grace', async () => {
    const scene = new Scene((self) => self.onSignal(() => undefined));
    await scene.lift(1);
    scene.supervisor.stopWorker({ isSilent: false });
    await scene.clock.advance(4999);
    expect(scene.workers[0]?.signals).toEqual(['SIGTERM']);
    await scene.clock.advance(1);
    expect(scene.workers[0]?.signals).toEqual(['SIGTERM', 'SIGKILL']);
    expect(scene.ended).toMatchObject([{ exit: { signal: 'SIGKILL' } }]);
    expect(scene.clock.pendingTimers).toBe(0);
  });

  it('stops a worker whose stop came before its process', async () => {
    const scene = new Scene(() => undefined);
    scene.supervisor.lift(1, (end) => scene.ended.push(end));
    scene.supervisor.stopWorker({ isSilent: false });
    await scene.clock.settle();
    expect(scene.ended).toMatchObject([{ exit: { signal: 'SIGTERM' } }]);
    expect(scene.clock.pendingTimers).toBe(0);
  });

  it('forwards signals while there is a worker', async () => {
    const scene = new Scene((self) => {
      self.onSignal((signal) => {
        if (signal === 'SIGUSR2') self.exit(0);
      });
    });
    expect(scene.supervisor.forward('SIGHUP')).toBe(false);
    await scene.lift(1);
    expect(scene.supervisor.forward('SIGUSR1')).toBe(true);
    expect(scene.supervisor.forward('SIGUSR2')).toBe(true);
    await scene.clock.settle();
    expect(scene.workers[0]?.signals).toEqual(['SIGUSR1', 'SIGUSR2']);
    expect(scene.ended).toMatchObject([{ exit: { exitCode: 0 } }]);
    expect(scene.ended[0]).not.toHaveProperty('restartsGroup');
    expect(scene.supervisor.forward('SIGHUP')).toBe(false);
  });

  it('reports a program that does not exist as shells do', async () => {
    const scene = new Scene(() => undefined, 'nothing');
    await scene.lift(1);
    expect(scene.ended).toMatchObject([{ exit: { exitCode: 127 }, restartsGroup: true }]);
  });
});

const RULES: readonly ContainerRestartRule[] = [
  { action: 'Terminate', exitCodes: { operator: 'In', values: [3] } },
  { action: 'Restart', exitCodes: { operator: 'In', values: [42] } },
  { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [137, 0] } },
];

const ENDED = { epoch: 1, how: 'Exited', atMs: 0 } as const;

describe('the exit of a worker', () => {
  it('restarts the group whatever the rules say if the supervisor killed the worker as hung', () => {
    const end: OwnEnd = { ...ENDED, how: 'Hung', exit: { signal: 'SIGKILL' } };
    expect(restartsGroup(undefined, end)).toBe(true);
  });

  it.each<[string, readonly ContainerRestartRule[], Exit, boolean]>([
    ['restarts the group when it failed and there are no rules', [], { exitCode: 1 }, true],
    ['leaves when it succeeded and there are no rules', [], { exitCode: 0 }, false],
    ['restarts the group for Restart', RULES, { exitCode: 42 }, true],
    [
      'restarts the group for RestartAllContainers, a signal being 128+n',
      RULES,
      { signal: 'SIGKILL' },
      true,
    ],
    ['restarts the group even for 0 if a rule says so', RULES, { exitCode: 0 }, true],
    ['leaves for Terminate', RULES, { exitCode: 3 }, false],
    ['leaves when no rule matches', RULES, { exitCode: 1 }, false],
  ])('%s', (_, rules, exit, expected) => {
    expect(restartsGroup(rules, { ...ENDED, exit })).toBe(expected);
  });
});
