/** The log of a container's run: its lines, its limits, and how it is read back. */

import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryFiles } from '../memory/memory-files.ts';
import { ContainerLog, loggedRuns, MAX_LOG_BYTES, MAX_LOG_FILES } from './container-log.ts';
import { MAX_LINE_BYTES, parseCriLine } from './cri-lines.ts';
import { type LogQuery, parseLogQuery } from './log-query.ts';
import { readLog } from './log-reader.ts';

const DIRECTORY = '/logs/c';

function open(
  restart = 0,
  files = new MemoryFiles(),
): { log: ContainerLog; files: MemoryFiles; clock: VirtualClock; problems: unknown[] } {
  const clock = new VirtualClock();
  const problems: unknown[] = [];
  const note = (error: unknown): void => void problems.push(error);
  return { files, clock, problems, log: new ContainerLog(files, clock, DIRECTORY, restart, note) };
}

function query(text: string, nowMs = 0): LogQuery {
  const { query: parsed, problem } = parseLogQuery(new URLSearchParams(text), nowMs);
  if (parsed === undefined) throw new Error(problem);
  return parsed;
}

async function read(files: MemoryFiles, asked: LogQuery, live?: ContainerLog): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const source = { files, directory: DIRECTORY, restart: 0, live };
  for await (const chunk of readLog(source, asked, new AbortController().signal))
    chunks.push(chunk);
  return Buffer.concat(chunks);
}

const TEN = Array.from({ length: 10 }, (_, i) => `line ${i}\n`).join('');

describe('a log', () => {
  it('gives back every byte of one stream, however it was cut', async () => {
    // Lengths around the longest line, with a newline at every n-th byte.
    const piece = fc.tuple(fc.nat(2 * MAX_LINE_BYTES + 10), fc.integer({ min: 1, max: 20_000 }));
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
        const chunks = pieces.map(([length, every]) =>
          Buffer.from(Array.from({ length }, (_, i) => ((i + 1) % every === 0 ? 0x0a : i & 0xff))),
        );
        const { log, files } = open();
        for (const chunk of chunks) log.append('stdout', chunk);
        log.end();
        // Byte by byte, the matcher would take seconds.
        expect((await read(files, query(''))).equals(Buffer.concat(chunks))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('has lines of the CRI, long ones in parts', () => {
    const { log, files } = open();
    log.append('stderr', Buffer.from(`${'x'.repeat(MAX_LINE_BYTES + 1)}\nshort`));
    log.end();
    const lines = Buffer.from(files.readLog(`${DIRECTORY}/0.log`, 0, 1e6))
      .toString('latin1')
      .split('\n');
    expect(lines.map((line) => line.slice(0, 42))).toEqual([
      `2026-01-01T00:00:00.000000000Z stderr P ${'xx'}`,
      '2026-01-01T00:00:00.000000000Z stderr F x',
      '2026-01-01T00:00:00.000000000Z stderr P sh',
      '',
    ]);
    expect(parseCriLine(Buffer.from(lines[0] ?? ''))?.content).toHaveLength(MAX_LINE_BYTES);
  });

  it.each(['', 'x', 'a b c d', '2026 stdout X text', '2026 stdin F text'])(
    'has no line %j',
    (text) => {
      expect(parseCriLine(Buffer.from(text))).toBeUndefined();
    },
  );

  it('is rotated, and read over its files in order', async () => {
    const { log, files } = open();
    const line = Buffer.from(`${'y'.repeat(10_000)}\n`);
    for (let i = 0; i * line.length < 8 * MAX_LOG_BYTES; i++) {
      log.append('stdout', Buffer.concat([Buffer.from(`${i} `), line]));
    }
    log.end();
    expect(files.logNames(DIRECTORY)).toHaveLength(MAX_LOG_FILES);
    const lines = (await read(files, query(''))).toString().trimEnd().split('\n');
    const numbers = lines.map((text) => Number.parseInt(text, 10));
    expect(numbers.at(-1)).toBe(Math.ceil((8 * MAX_LOG_BYTES) / line.length) - 1);
    expect(numbers.every((number, i) => i === 0 || number === (numbers[i - 1] ?? 0) + 1)).toBe(
      true,
    );
    const tail = (await read(files, query('tailLines=2000'))).toString().trimEnd().split('\n');
    expect(tail.join() === lines.slice(-2000).join()).toBe(true);
  });

  it('continues after a full disk lost output, and reports the loss once', async () => {
    const { log, files, problems } = open();
    log.append('stdout', Buffer.from('before\n'));
    files.isFull = true;
    for (const text of ['lost\n', 'lost, too\n']) log.append('stdout', Buffer.from(text));
    expect(problems).toEqual([new Error("ENOSPC: no space left on device, write '/logs/c/0.log'")]);
    files.isFull = false;
    log.append('stdout', Buffer.from('after\n'));
    log.append('stdout', Buffer.from('and so on\n'));
    files.isFull = true;
    log.end();
    expect((await read(files, query(''))).toString()).toBe('before\nafter\nand so on\n');
    expect(problems).toHaveLength(1);
  });

  it('rotates on a full disk once there is room', async () => {
    const { log, files, problems } = open();
    const half = Buffer.from(`${'x'.repeat(999)}\n`.repeat((MAX_LOG_BYTES * 0.6) / 1000));
    log.append('stdout', half);
    files.isFull = true;
    log.append('stdout', half);
    files.isFull = false;
    log.append('stdout', Buffer.from('end\n'));
    expect(problems).toHaveLength(1);
    expect((await read(files, query('tailLines=1'))).toString()).toBe('end\n');
    expect(files.logNames(DIRECTORY)).toEqual(['0.log', '0.log.1']);
    log.end();
  });

  it('begins on a full disk with what it can take', async () => {
    const files = new MemoryFiles();
    files.isFull = true;
    const { log, problems } = open(0, files);
    log.append('stderr', Buffer.from('lost\n'));
    files.isFull = false;
    log.append('stderr', Buffer.from('kept\n'));
    log.end();
    expect([problems.length, (await read(files, query(''))).toString()]).toEqual([1, 'kept\n']);
  });

  it('knows which runs it has', () => {
    const { files } = open(3);
    open(11, files).log.end();
    expect(loggedRuns(files, DIRECTORY)).toEqual([3, 11]);
  });
});

describe('reading', () => {
  it.each([
    ['tailLines=0', ''],
    ['tailLines=3', 'line 7\nline 8\nline 9\n'],
    ['tailLines=100', TEN],
    ['limitBytes=9', 'line 0\nli'],
    ['tailLines=1&timestamps=true', '2026-01-01T00:00:00.000000000Z line 9\n'],
    ['previous=true&timestamps=false', TEN],
  ])('with %s', async (text, expected) => {
    const { log, files } = open();
    log.append('stdout', Buffer.from(TEN));
    log.end();
    expect((await read(files, query(text))).toString()).toBe(expected);
  });

  it('since a time', async () => {
    const { log, files, clock } = open();
    log.append('stdout', Buffer.from('old\n'));
    await clock.advance(60_000);
    log.append('stdout', Buffer.from('new\n'));
    log.end();
    expect((await read(files, query('sinceSeconds=10', clock.now()))).toString()).toBe('new\n');
    const since = new Date(clock.now() - 61_000).toISOString();
    expect((await read(files, query(`sinceTime=${since}`))).toString()).toBe('old\nnew\n');
  });

  it('follows until the container ends, over a rotation', async () => {
    const { log, files } = open();
    const reading = read(files, query('follow=true&tailLines=0'), log);
    const big = Buffer.alloc(MAX_LOG_BYTES / 2, 'z\n');
    for (let i = 0; i < 3; i++) {
      log.append('stdout', big.subarray(0, 100_000));
      await Promise.resolve();
    }
    log.append('stdout', Buffer.from('last\n'));
    log.end();
    expect((await reading).toString().endsWith('last\n')).toBe(true);
  });

  it.each([
    ['tailLines=-1', 'tailLines: Invalid value: "-1": must be an integer of at least 0'],
    ['limitBytes=0', 'limitBytes: Invalid value: "0": must be an integer of at least 1'],
    ['follow=maybe', 'follow: Invalid value: "maybe": must be true or false'],
    ['sinceTime=noon', 'sinceTime: Invalid value: "noon": must be a time in RFC 3339'],
    [
      'sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z',
      'sinceTime, sinceSeconds: at most one of them may be given',
    ],
  ])('refuses %s', (text, problem) => {
    expect(parseLogQuery(new URLSearchParams(text), 0).problem).toBe(problem);
  });
});
