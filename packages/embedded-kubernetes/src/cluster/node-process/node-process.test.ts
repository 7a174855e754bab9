/** What happens to a node whose agent dies, hangs or loses power, with agents in memory. */

import { MemoryProcessRunner } from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FromNode, ToNode } from './node-messages.ts';
import { type NodeChild, NodeProcess } from './node-process.ts';

let clock: VirtualClock;
let runner: MemoryProcessRunner;
let children: FakeChild[];
/** What the next children do when they are configured. */
let behaviour: 'ready' | 'dies' | 'hangs';
let node: NodeProcess;

beforeEach(() => {
  clock = new VirtualClock();
  runner = new MemoryProcessRunner({ worker: () => undefined });
  children = [];
  behaviour = 'ready';
  node = new NodeProcess({
    configuration: {
      name: 'n1',
      labels: {},
      stateDirectory: '/state',
      path: '/bin',
      server: 'https://127.0.0.1:6443',
      authority: 'PEM',
      credentials: { certificate: 'PEM', key: 'PEM' },
      leaseRenewalMs: 10_000,
      hostIP: undefined,
    },
    clock,
    logger: SILENT,
    processes: runner,
    spawn: () => {
      const child = new FakeChild(children.length + 1, behaviour);
      children.push(child);
      return child;
    },
    servingCertificate: (address) => ({ certificate: `of ${address}`, key: 'PEM' }),
  });
});

async function startNode(): Promise<FakeChild> {
  await node.start();
  return latest();
}

function latest(): FakeChild {
  const child = children.at(-1);
  if (child === undefined) throw new Error('there is no child');
  return child;
}

/** Starts a process of a Pod. */
async function startWorker(child: FakeChild, id: string): Promise<void> {
  const command = { argv: ['worker'], env: {}, cwd: '/', takesInput: false } as const;
  child.say({ type: 'keeper', message: { type: 'start', id, isKept: true, ...command } });
  await clock.settle();
}

describe('an agent that dies', () => {
  it('is started again soon, with the address that it had, and finds its processes', async () => {
    const first = await startNode();
    await startWorker(first, 'pod/main/0');
    first.die();
    await clock.advance(1_000);
    expect(children.length).toBe(2);
    expect(latest().configuration?.hostIP).toBe('127.1.0.1');
    latest().say({ type: 'keeper', message: { type: 'keys', request: 1 } });
    await clock.settle();
    expect(latest().received).toContainEqual({
      type: 'keeper',
      message: { type: 'keys', request: 1, keys: ['pod/main/0'] },
    });
    expect(runner.running.length).toBe(1);
  });

  it('young, over and over, is started ever later', async () => {
    await startNode();
    behaviour = 'dies';
    latest().die();
    await clock.advance(60_000);
    expect(children.length).toBeGreaterThan(5);
    expect(children.length).toBeLessThan(15);
  });
});

describe('a node that loses power', () => {
  it('loses its agent and all processes, and stays off until it is started', async () => {
    const first = await startNode();
    await startWorker(first, 'pod/main/0');
    await node.kill();
    expect(first.signals).toEqual(['SIGKILL']);
    expect(runner.running).toEqual([]);
    await clock.advance(60_000);
    expect(children.length).toBe(1);
    await startNode();
    expect(children.length).toBe(2);
  });

  it('while its agent is about to be started again, stays off', async () => {
    (await startNode()).die();
    await clock.settle();
    await node.kill();
    await clock.advance(60_000);
    expect(children.length).toBe(1);
  });
});

describe('an agent that hangs', () => {
  it('keeps its processes, and continues as it was', async () => {
    const first = await startNode();
    await startWorker(first, 'pod/main/0');
    node.freeze();
    node.freeze();
    await node.start();
    expect(first.signals).toEqual(['SIGSTOP', 'SIGCONT']);
    expect(children.length).toBe(1);
    expect(runner.running.length).toBe(1);
  });

  it('must be there', async () => {
    await startNode();
    await node.kill();
    expect(() => node.freeze()).toThrow(/is off: start it first$/);
  });

  it('is not asked to stop, but killed', async () => {
    const first = await startNode();
    node.freeze();
    await node.stop();
    expect(first.signals).toEqual(['SIGSTOP', 'SIGKILL']);
  });
});

describe('the start', () => {
  it.each(['dies', 'hangs'] as const)(
    'of an agent that %s is reported, and can be tried again',
    async (how) => {
      behaviour = how;
      let failure: unknown;
      node.start().catch((error: unknown) => {
        failure = error;
      });
      await clock.advance(30_000);
      expect(failure).toBeInstanceOf(Error);
      expect(children.length).toBe(1);
      behaviour = 'ready';
      await startNode();
      expect(children.length).toBe(2);
    },
  );

  it('gives the agent a certificate for the address that it takes', async () => {
    const first = await startNode();
    first.say({ type: 'certificate', address: '127.7.0.1' });
    expect(first.received.at(-1)).toEqual({
      type: 'certificate',
      pair: { certificate: 'of 127.7.0.1', key: 'PEM' },
    });
  });
});

it('a node that stops lets its agent end the Pods first', async () => {
  const first = await startNode();
  const stopped = node.stop();
  expect(first.received.at(-1)).toEqual({ type: 'stop' });
  first.die();
  await stopped;
  await clock.advance(60_000);
  expect(children.length).toBe(1);
});

class FakeChild implements NodeChild {
  readonly pid: number;
  readonly received: ToNode[] = [];
  readonly signals: string[] = [];
  readonly exited: Promise<string>;
  readonly #behaviour: typeof behaviour;
  #handler: (message: FromNode) => void = () => undefined;
  #exit: (how: string) => void = () => undefined;

  constructor(pid: number, how: typeof behaviour) {
    this.pid = pid;
    this.#behaviour = how;
    this.exited = new Promise((resolve) => {
      this.#exit = resolve;
    });
  }

  get configuration() {
    const [first] = this.received;
    return first?.type === 'configure' ? first.configuration : undefined;
  }

  send(message: ToNode): void {
    this.received.push(message);
    if (message.type !== 'configure') return;
    if (this.#behaviour === 'ready') this.say({ type: 'ready', hostIP: '127.1.0.1' });
    if (this.#behaviour === 'dies') this.die();
  }

  onMessage(handler: (message: FromNode) => void): void {
    this.#handler = handler;
  }

  signal(signal: string): void {
    this.signals.push(signal);
    if (signal === 'SIGKILL') this.die();
  }

  say(message: FromNode): void {
    this.#handler(message);
  }

  die(): void {
    this.#exit('SIGKILL');
  }
}
