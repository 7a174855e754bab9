import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { type StreamConnector, StreamRefusedError } from '@lockstep/kube/runtime/ports/stream.ts';
import { TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import { expect, test } from 'vitest';
import { parseAgentMessage } from '../jobset/hub/message.ts';
import type { Progress } from '../jobset/progress/progress.ts';
import { FakeHub } from './fake-hub.fixture.ts';
import { createHubChannel } from './hub-channel.ts';

/** After this time another leader is certainly there. */
const FAIL_OVER_MS = 15_000;

test('tells what the worker has reported with each message that it sends anyway', async () => {
  const clock = new VirtualClock();
  const hub = new FakeHub(clock);
  const sent: string[] = [];
  const connect = hub.streams.connector();
  const connector: StreamConnector = {
    connect: async (listener, signal) => {
      const stream = await connect.connect(listener, signal);
      const write = stream.write.bind(stream);
      stream.write = (bytes) => {
        sent.push(...Buffer.from(bytes).toString().trim().split('\n'));
        write(bytes);
      };
      return stream;
    },
  };
  const random = new SeededRandom(5);
  const options = { connector, clock, random, logger: SILENT, jobSetUid: undefined };
  const channel = createHubChannel(options);
  let progress: Progress | undefined;
  channel.open({
    snapshot: () => undefined,
    announced: () => undefined,
    podEnding: () => undefined,
    podLives: () => undefined,
    answered: () => undefined,
    progress: () => progress,
  });
  await clock.advance(1000);
  progress = { step: 330, checkpoint: 300, phase: 'evaluate', silentMs: 250.4 };
  channel.announce({ epoch: 2, starts: 1 });
  await clock.advance(5000);
  progress = { step: 335, checkpoint: 335, silentMs: 10 };
  const end = { epoch: 2, how: 'Exited', exit: { exitCode: 0 } } as const;
  channel.tellSuccess({ ...end, atMs: clock.monotonic() - 30 });
  channel.close();
  const messages = sent.map((text) => parseAgentMessage(text));
  const [success] = messages.splice(3, 1);
  expect(success).toMatchObject({
    type: 'ping',
    success: { ...end, atMs: -30 },
  });
  expect(messages.map(({ type }) => type)).toEqual(['hello', 'announce', 'ping', 'ping']);
  const told = { step: 330, checkpoint: 300, phase: 'evaluate', silentMs: 250 };
  expect(messages.map((each) => ('progress' in each ? each.progress : undefined))).toEqual([
    undefined,
    told,
    told,
    // The checkpoint that its worker saved when it was told to end.
    { step: 335, checkpoint: 335, silentMs: 10 },
  ]);
});

test('retries a lost hub at least every second at first, and less often later', async () => {
  const clock = new VirtualClock();
  const hub = new FakeHub(clock);
  hub.setStatus(0, 1);
  const tries: number[] = [];
  const connect = hub.streams.connector();
  const connector: StreamConnector = {
    connect: (listener, signal) => {
      tries.push(clock.monotonic());
      return connect.connect(listener, signal);
    },
  };
  const random = new SeededRandom(5);
  const options = { connector, clock, random, logger: SILENT, jobSetUid: undefined };
  const channel = createHubChannel(options);
  let isAnswered = false;
  channel.open({
    snapshot: () => {
      isAnswered = true;
    },
    announced: () => undefined,
    podEnding: () => undefined,
    podLives: () => undefined,
    answered: () => undefined,
    progress: () => undefined,
  });
  await clock.runUntil(() => isAnswered, 5000);
  await clock.advance(60_000);
  tries.splice(0);

  hub.streams.acceptor = undefined;
  hub.streams.breakAll();
  const lostMs = clock.monotonic();
  await clock.advance(5 * 60_000);
  const gaps = tries.map((at, i) => at - (tries[i - 1] ?? lostMs));
  const early = gaps.filter((_, i) => (tries[i] ?? 0) - lostMs <= FAIL_OVER_MS);
  expect(early.length).toBeGreaterThan(FAIL_OVER_MS / 1000);
  expect(Math.max(...early)).toBeLessThanOrEqual(1000);
  expect(Math.min(...gaps.slice(-10))).toBeGreaterThanOrEqual(5000);
  channel.close();
});

test('logs what it sees of a hub that it does not reach when that changes, not at each try', async () => {
  const clock = new VirtualClock();
  const hub = new FakeHub(clock);
  hub.setStatus(0, 1);
  const logger = new MemoryLogger();
  let failure: (() => Error) | undefined = () => new TransportError('', { code: 'ENOTFOUND' });
  const connect = hub.streams.connector();
  const connector: StreamConnector = {
    connect: (listener, signal) =>
      failure === undefined ? connect.connect(listener, signal) : Promise.reject(failure()),
  };
  const random = new SeededRandom(5);
  const channel = createHubChannel({ connector, clock, random, logger, jobSetUid: undefined });
  channel.open({
    snapshot: () => undefined,
    announced: () => undefined,
    podEnding: () => undefined,
    podLives: () => undefined,
    answered: () => undefined,
    progress: () => undefined,
  });
  const told = (): readonly string[] => {
    const records = logger.records.splice(0);
    return records.map(({ level, message, fields }) => `${level} ${message}: ${fields['why']}`);
  };
  const WHY = 'warn the hub cannot be reached:';
  await clock.advance(120_000);
  expect(logger.records[0]?.fields['look']).toContain('DNS');
  expect(told()).toEqual([`${WHY} the name service does not know its name`]);

  failure = () => new TransportError('connect', { code: 'ECONNREFUSED' });
  await clock.advance(120_000);
  expect(logger.records[0]?.fields['err']).toBe('connect');
  expect(told()).toEqual([`${WHY} its port refused the connection`]);

  let tries = 0;
  failure = () =>
    tries++ % 2 === 0
      ? new StreamRefusedError(503, 'this replica does not lead yet')
      : new TransportError('connect', { code: 'ECONNREFUSED' });
  await clock.advance(50_000);
  expect(tries).toBeGreaterThan(4);
  expect(told()).toEqual([
    `${WHY} it answered with HTTP status 503`,
    `${WHY} its port refused the connection`,
  ]);

  failure = undefined;
  await clock.advance(10_000);
  expect(told()).toEqual(['info the hub is reached: undefined']);
  failure = () => new TransportError('connect', { code: 'ECONNREFUSED' });
  hub.streams.breakAll();
  await clock.advance(60_000);
  expect(told()).toEqual([
    'info the stream to the hub ended: the hub closed it',
    `${WHY} its port refused the connection`,
  ]);
  channel.close();
});
