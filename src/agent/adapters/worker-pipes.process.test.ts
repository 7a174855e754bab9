import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeProcessRunner } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OutputSink } from './output-sink.ts';
import { createWorkerPipes } from './worker-pipes.ts';

const PATH = process.env['PATH'] ?? '';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-pipes-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** The output, and the part that the agent heard. */
class Scene {
  readonly logger = new MemoryLogger();
  readonly out: Buffer[] = [];
  readonly heard: Buffer[] = [];
  readonly drains: (() => void)[] = [];
  /** Whether the sink takes more. */
  isOpen = true;
  readonly sink: OutputSink = {
    write: (bytes) => {
      this.out.push(Buffer.from(bytes));
      return this.isOpen;
    },
    drained: (then) => void this.drains.push(then),
    waiting: 0,
  };

  async run(script: string, path = PATH, program = '/bin/bash', linePrefix?: string) {
    const pipes = createWorkerPipes({
      sinks: { stderr: this.sink },
      path,
      directory,
      logger: this.logger,
    });
    const hear = (_stream: string, chunk: Uint8Array) => this.heard.push(Buffer.from(chunk));
    const relayed = await pipes.begin(hear, linePrefix);
    const child = await createNodeProcessRunner().start({
      argv: [program, '-c', script],
      env: { PATH, DIRECTORY: directory },
      cwd: directory,
      streams: relayed.streams,
    });
    relayed.handedOver();
    const finish = async () => {
      const exit = await child.exited;
      relayed.end();
      child.signalGroup('SIGKILL');
      return exit;
    };
    return { relayed, child, finish };
  }

  get text(): string {
    return Buffer.concat(this.out).toString();
  }
}

describe('the standard error of a worker', () => {
  it.each([
    ['echo said >&2', 'said\n'],
    ['echo said > /dev/stderr', 'said\n'],
    ['echo said >> /proc/self/fd/2', 'said\n'],
    ['printf unfinished >&2', 'unfinished'],
    [`python3 -c 'import sys; print("said", file=sys.stderr)'`, 'said\n'],
    [`python3 -c 'import sys; sys.stderr.buffer.write(bytes(range(256)))' ; echo >&2`, undefined],
  ])('of %j passes', async (script, text) => {
    const scene = new Scene();
    const { finish } = await scene.run(script);
    expect(await finish()).toMatchObject({ exitCode: 0 });
    if (text === undefined) {
      const bytes = Buffer.from([...Array.from({ length: 256 }, (_, byte) => byte), 10]);
      expect(Buffer.concat(scene.out)).toEqual(bytes);
    } else expect(scene.text).toBe(text);
    expect(Buffer.concat(scene.heard)).toEqual(Buffer.concat(scene.out));
    await until('nothing is left', () => expect(readdirSync(directory)).toEqual([]));
  });

  it('of 50 MB passes unchanged, and by lines', async () => {
    const script = 'for i in 1 2 3 4 5; do seq 1 1400000; done';
    const wanted = spawnSync('/bin/bash', ['-c', script], { maxBuffer: 2 ** 27 }).stdout;
    const scene = new Scene();
    const { finish } = await scene.run(`{ ${script}; } >&2`);
    await finish();
    const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    expect(wanted.length).toBeGreaterThan(50_000_000);
    expect(digest(Buffer.concat(scene.out))).toBe(digest(wanted));
    // A line is cut only where the worker pauses within it, as it does on a busy machine.
    const cut = scene.out.filter((bytes) => bytes.at(-1) !== 10);
    expect(cut.length).toBeLessThan(scene.out.length / 20);
  });

  it('waits in the worker while nobody takes it', async () => {
    const scene = new Scene();
    scene.isOpen = false;
    const { child, finish } = await scene.run('head -c 10000000 /dev/zero >&2; echo done >&2');
    await until('it is held back', () => scene.drains.length > 0);
    const taken = scene.text.length;
    expect(taken).toBeLessThan(2_000_000);
    let hasEnded = false;
    void child.exited.then(() => {
      hasEnded = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([hasEnded, scene.text.length]).toEqual([false, taken]);
    scene.isOpen = true;
    for (const drained of scene.drains) drained();
    await finish();
    expect(scene.text.length).toBe(10_000_005);
  });

  it('keeps nothing waiting when a descendant holds it', async () => {
    const scene = new Scene();
    const { finish } = await scene.run('sleep 100 & echo last >&2; exit 3');
    expect(await finish()).toMatchObject({ exitCode: 3 });
    expect(scene.text).toBe('last\n');
  });

  it('is another one for a process beside the worker, and free again after that', async () => {
    const { sink, logger } = new Scene();
    const pipes = createWorkerPipes({ sinks: { stderr: sink }, path: PATH, directory, logger });
    const heard: string[] = [];
    const say = async (name: string) => {
      const relayed = await pipes.begin((_stream, chunk) => heard.push(`${name}: ${chunk}`));
      writeSync(relayed.streams.stderr ?? 0, `${name}\n`);
      relayed.handedOver();
      return relayed;
    };
    const openFiles = () => readdirSync('/proc/self/fd').length;
    const [worker, standby] = [await say('worker'), await say('standby')];
    const open = openFiles();
    for (const relayed of [worker, standby]) relayed.end();
    expect(heard.toSorted()).toEqual(['standby: standby\n', 'worker: worker\n']);
    for (let time = 0; time < 20; time++) (await say('next')).end();
    expect(heard.slice(2)).toEqual(Array(20).fill('next: next\n'));
    expect(openFiles()).toBeLessThanOrEqual(open);
  });

  it('is the own one of the agent where there is no mkfifo', async () => {
    const scene = new Scene();
    const { relayed, finish } = await scene.run('exit 0', '/nowhere');
    expect(relayed.streams).toEqual({});
    await finish();
    expect(scene.logger.records).toMatchObject([
      { level: 'warn', fields: { err: expect.stringContaining('no mkfifo') } },
    ]);
  });
});

describe('the standard error of one of several processes', () => {
  function run(scene: Scene, script: string) {
    return scene.run(script, PATH, '/bin/bash', '[7] ');
  }

  it('passes by whole lines, and a beginning when it has waited for long', async () => {
    const scene = new Scene();
    const goesOn = 'until [ -e "$DIRECTORY/go" ]; do sleep 0.01; done; echo " whole" >&2';
    const { finish } = await run(scene, `printf half >&2; ${goesOn}`);
    await until('the beginning is out', () => scene.out.length > 0);
    writeFileSync(join(directory, 'go'), '');
    await finish();
    expect(scene.out.map(String)).toEqual(['[7] half\n', '[7]  whole\n']);
    expect(Buffer.concat(scene.heard).toString()).toBe('half whole\n');
  });

  it('waits in the process while nobody takes it, and is whole after that', async () => {
    const scene = new Scene();
    scene.isOpen = false;
    const { child, finish } = await run(scene, 'seq 1 300000 >&2');
    await until('it is held back', () => scene.drains.length > 0);
    let hasEnded = false;
    void child.exited.then(() => {
      hasEnded = true;
    });
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect([hasEnded, scene.out.length]).toEqual([false, 1]);
    expect(scene.text.length).toBeLessThan(256 * 1024);
    scene.isOpen = true;
    for (const drained of scene.drains.splice(0)) drained();
    await finish();
    const lines = scene.text.trimEnd().split('\n');
    expect(lines).toHaveLength(300_000);
    expect(lines.every((line, index) => line === `[7] ${index + 1}`)).toBe(true);
  });

  it('keeps the last of it when the process is gone before its reader', async () => {
    const scene = new Scene();
    scene.isOpen = false;
    const { finish } = await run(scene, 'seq 1 10000 >&2; echo last >&2');
    await finish();
    expect(scene.text.endsWith('[7] 10000\n[7] last\n')).toBe(true);
    expect(scene.text.length).toBeLessThan(256 * 1024);
  });

  it('keeps a line whole whose beginning went to a reader that is slow', async () => {
    const scene = new Scene();
    scene.isOpen = false;
    const { child, finish } = await run(scene, 'seq 1 10000 >&2; sleep 1.5');
    await child.exited;
    expect(scene.out).toHaveLength(1);
    await finish();
    const numbers = Array.from({ length: 10_000 }, (_, index) => `[7] ${index + 1}\n`);
    expect(scene.text).toBe(numbers.join(''));
  });

  it.each([
    ['much', 4 * 1024 * 1024 - 16_000, '[7] 10000\n'],
    ['too much', 4 * 1024 * 1024, 'read too slowly\n'],
  ])('is shortened by whole lines while %s waits for the reader', async (_, waiting, end) => {
    const scene = new Scene();
    scene.isOpen = false;
    Object.assign(scene.sink, { waiting });
    const { finish } = await run(scene, 'seq 1 10000 >&2');
    await finish();
    for (const drained of scene.drains.splice(0)) drained();
    expect(scene.text.length).toBeLessThan(70_000);
    const said = scene.text.split('\n').filter((line) => !/^(\[7\] [0-9]+)?$/.test(line));
    expect(said).toEqual([expect.stringMatching(/^\[7\] lockstep: [0-9]+ bytes were dropped/)]);
    expect(scene.text.endsWith(end)).toBe(true);
  });
});
