import type { Stored } from '@lockstep/kube/meta.ts';
import { MemoryStreams } from '@lockstep/kube/runtime/memory/memory-streams.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { ByteStream } from '@lockstep/kube/runtime/ports/stream.ts';
import { describe, expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import {
  type AgentMessage,
  encodeAgentMessage,
  type HubMessage,
  parseHubMessage,
} from '../../jobset/hub/message.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import type { GroupProgress } from '../../jobset/progress/group-progress.ts';
import type { AgentEvent } from '../../jobset/roster/roster-events.ts';
import type { HubMember } from './agent-stream.ts';
import { Hub } from './hub.ts';
import { RosterBehindHub, TRAIN } from './roster-hub.fixture.ts';

/** One agent, at the level of messages. */
class Client {
  readonly heard: HubMessage[] = [];
  isClosed = false;
  stream: ByteStream | undefined;
  #text = '';

  received(chunk: Uint8Array): void {
    this.#text += Buffer.from(chunk).toString();
    const lines = this.#text.split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) {
      const message = parseHubMessage(line);
      if (message.type === 'malformed') throw new Error(message.problem);
      this.heard.push(message);
    }
  }

  closed(): void {
    this.isClosed = true;
  }

  say(...messages: readonly Parameters<typeof encodeAgentMessage>[0][]): void {
    this.write(messages.map(encodeAgentMessage).join(''));
  }

  write(text: string): void {
    this.stream?.write(Buffer.from(text));
  }

  get states(): readonly string[] {
    return this.heard
      .filter((message) => message.type === 'state')
      .map(({ state, isFresh }) => {
        return `${state.deprecated}/${state.released}${isFresh ? ' fresh' : ''}`;
      });
  }

  get bye(): string | undefined {
    const last = this.heard.at(-1);
    return last?.type === 'bye' ? last.reason : undefined;
  }
}

const READ_MS = 10;
const HELLO = { type: 'hello', jobSetUid: undefined, announcement: undefined } as const;

class Scene {
  readonly clock = new VirtualClock();
  readonly streams = new MemoryStreams(this.clock);
  stored: Stored<JobSet> = jobSetWith(0, 0, 1);
  reads = 0;
  living: ReadonlySet<string> = new Set();
  lists = 0;
  failure: Error | undefined;
  readonly announced: string[] = [];
  readonly hub = new Hub({
    clock: this.clock,
    random: new SeededRandom(5),
    logger: SILENT,
    readJobSet: async () => {
      this.reads++;
      const { stored, failure } = this;
      await new Promise<void>((resolve) => this.clock.setTimer(READ_MS, resolve));
      if (failure !== undefined) throw failure;
      return stored;
    },
    listPods: async () => {
      this.lists++;
      const { living } = this;
      await new Promise<void>((resolve) => this.clock.setTimer(READ_MS, resolve));
      if (this.failure !== undefined) throw this.failure;
      return living;
    },
    tell: (event) => this.#hear(event),
  });

  readonly behind = new RosterBehindHub(this.clock, () => this.hub);

  #hear(event: AgentEvent): void {
    const { podUid } = event;
    if (event.kind === 'Announced') this.announced.push(`${podUid} ${event.announcement.epoch}`);
    if (event.kind === 'WorkerSucceeded') {
      this.announced.push(`${podUid} success ${event.success.epoch}`);
    }
    this.behind.feed.tell(event);
  }

  /** What the worker of that Pod has reported. */
  progressOf(pod: string): object | undefined {
    return this.behind.roster.pod(pod)?.steps?.at(this.clock.monotonic());
  }

  hasStream(pod: string): boolean {
    return (this.behind.roster.pod(pod)?.streams ?? 0) > 0;
  }

  get reported(): GroupProgress {
    return this.behind.roster.of(TRAIN).reported(this.clock.monotonic());
  }

  async connect(pod: string, of: Partial<HubMember> = {}): Promise<Client> {
    const member: HubMember = {
      namespace: 'ns',
      podName: pod,
      podUid: pod,
      jobSet: 'ns/train',
      jobSetUid: 'jobset-uid',
      stage: 'w',
      isEnding: false,
      ...of,
    };
    this.behind.podSeen(pod);
    this.streams.acceptor = () =>
      Promise.resolve({ kind: 'Accept', open: (stream) => this.hub.open(member, stream) });
    const client = new Client();
    client.stream = await this.streams.connector().connect(client, new AbortController().signal);
    return client;
  }

  async greeted(pod: string, of: Partial<HubMember> = {}): Promise<Client> {
    const client = await this.connect(pod, of);
    client.say(HELLO);
    await this.until(() => client.states.length > 0);
    return client;
  }

  write(deprecated: number, released: number): void {
    const version = Number(this.stored.metadata.resourceVersion) + 1;
    this.stored = jobSetWith(deprecated, released, version);
    this.behind.feed.tell({ kind: 'JobSetSeen', jobSet: this.stored });
  }

  until(condition: () => boolean): Promise<void> {
    return this.clock.runUntil(condition, 60_000);
  }
}

describe('a hello', () => {
  it('is answered from a read that begins after it, one for all who wait', async () => {
    const scene = new Scene();
    const first = await scene.connect('a');
    first.say(HELLO);
    await scene.until(() => scene.reads === 1);
    const others = await Promise.all(['b', 'c', 'd'].map((pod) => scene.connect(pod)));
    for (const client of others) client.say(HELLO);
    // The read under way shows what was stored before they came.
    scene.stored = jobSetWith(1, 0, 2);
    await scene.until(() => others.every((client) => client.states.length > 0));
    expect(scene.reads).toBe(2);
    expect(others.map((client) => client.states)).toEqual(others.map(() => ['1/0 fresh']));
    expect(first.states).toEqual(['0/0 fresh', '1/0']);
  });

  it('waits no longer because thousands of JobSets of another namespace are asked for', async () => {
    const scene = new Scene();
    for (let i = 0; i < 600; i++) {
      const of = { namespace: 'busy', jobSet: `busy/${i}`, jobSetUid: `${i}` };
      (await scene.connect(`busy-${i}`, of)).say(HELLO);
    }
    await scene.clock.advance(1);
    expect(scene.reads).toBe(500);
    await scene.greeted('a');
    expect(scene.reads).toBeLessThanOrEqual(502);
    await scene.clock.advance(1000);
    expect(scene.reads, 'as many a second as a large JobSet has').toBeLessThanOrEqual(552);
    await scene.clock.advance(2000);
    expect(scene.reads).toBe(601);
  });

  it('waits for others, where many come one after the other', async () => {
    const scene = new Scene();
    const clients: Client[] = [];
    for (let i = 0; i < 100; i++) {
      const client = await scene.connect(`pod-${i}`);
      client.say(HELLO);
      await scene.clock.advance(2);
      clients.push(client);
    }
    await scene.clock.advance(100);
    expect(clients.map(({ states }) => states)).toEqual(clients.map(() => ['0/0 fresh']));
    // In 10 ms each, without a pause there would be 20.
    expect(scene.reads).toBeLessThanOrEqual(8);
  });

  it('is not answered from what a cache shows', async () => {
    const scene = new Scene();
    await scene.greeted('a');
    const late = await scene.connect('b');
    scene.stored = jobSetWith(3, 3, 9);
    scene.hub.jobSetSeen(jobSetWith(2, 3, 8));
    late.say(HELLO);
    await scene.until(() => late.states.length > 0);
    expect(late.states).toEqual(['3/3 fresh']);
  });

  it('that carries an announcement is heard at once, before the state is read', async () => {
    const scene = new Scene();
    const client = await scene.connect('a');
    client.say({ ...HELLO, announcement: { epoch: 4, starts: 1 } });
    await scene.until(() => scene.announced.length === 1);
    expect(scene.announced).toEqual(['a 4']);
    expect(client.states).toEqual([]);
  });

  it('is answered from what was written during the read, if that is newer', async () => {
    const scene = new Scene();
    const client = await scene.connect('a');
    client.say(HELLO);
    await scene.until(() => scene.reads === 1);
    scene.write(0, 1);
    await scene.until(() => client.states.length > 0);
    expect(client.states).toEqual(['0/1 fresh']);
  });

  it('is answered with the older version of an API server that was restored from a copy', async () => {
    const scene = new Scene();
    scene.stored = jobSetWith(4, 4, 900);
    await scene.greeted('a');
    scene.stored = jobSetWith(2, 3, 700);
    const late = await scene.greeted('b');
    expect(late.states).toEqual(['2/3 fresh']);
  });

  it('gets the later states of an API server that was restored from a backup', async () => {
    const scene = new Scene();
    scene.stored = jobSetWith(4, 4, 900);
    scene.behind.feed.tell({ kind: 'JobSetSeen', jobSet: scene.stored });
    await scene.greeted('a');
    scene.stored = jobSetWith(2, 2, 700);
    scene.behind.feed.tell({ kind: 'JobSetSeen', jobSet: scene.stored });
    const late = await scene.greeted('b');
    scene.write(2, 3);
    await scene.clock.advance(5);
    expect(late.states).toEqual(['2/2 fresh', '2/3']);
  });

  it('waits while the JobSet cannot be read, and is answered when it can', async () => {
    const scene = new Scene();
    scene.failure = new Error('down');
    const client = await scene.connect('a');
    client.say(HELLO);
    await scene.until(() => scene.reads === 3);
    scene.failure = undefined;
    await scene.until(() => client.states.length === 1);
  });

  it('ends with the reason when the JobSet cannot be read for long, or is another', async () => {
    const scene = new Scene();
    scene.failure = new Error('down');
    const client = await scene.connect('a');
    client.say(HELLO);
    await scene.until(() => client.isClosed);
    expect(client.bye).toBe('Unavailable');
    scene.failure = undefined;
    scene.stored = { ...scene.stored, metadata: { ...scene.stored.metadata, uid: 'another' } };
    const second = await scene.connect('a');
    second.say(HELLO);
    await scene.until(() => second.isClosed);
    expect(second.bye).toBe('Unavailable');
  });
});

describe('a state', () => {
  it('goes to all who were greeted, in order, and to each once', async () => {
    const scene = new Scene();
    const clients = [await scene.greeted('a'), await scene.greeted('b'), await scene.greeted('c')];
    scene.write(0, 1);
    await scene.clock.advance(5);
    scene.write(1, 1);
    // The watch shows the writes again, late and in order.
    scene.hub.jobSetSeen(jobSetWith(0, 1, 2));
    scene.hub.jobSetSeen(jobSetWith(1, 1, 3));
    await scene.clock.advance(5);
    for (const client of clients) expect(client.states).toEqual(['0/0 fresh', '0/1', '1/1']);
  });

  it('reaches a large group whole, and an agent that is greeted meanwhile misses nothing', async () => {
    const scene = new Scene();
    const clients = await Promise.all(
      Array.from({ length: 500 }, (_, i) => scene.connect(`pod-${i}`)),
    );
    for (const client of clients) client.say(HELLO);
    await scene.until(() => clients[0]?.states.length === 1);
    scene.write(0, 1);
    await scene.until(() => clients.every((client) => client.states.at(-1)?.startsWith('0/1')));
    expect(scene.reads).toBeLessThan(4);
  });

  it('that changes nothing for agents is not sent', async () => {
    const scene = new Scene();
    const client = await scene.greeted('a');
    scene.write(0, 0);
    scene.write(0, 0);
    await scene.clock.advance(5);
    expect(client.states).toEqual(['0/0 fresh']);
  });

  it('does not reach agents of another JobSet', async () => {
    const scene = new Scene();
    const client = await scene.greeted('a');
    const other = jobSetWith(7, 7, 99);
    scene.hub.jobSetSeen({ ...other, metadata: { ...other.metadata, uid: 'another' } });
    await scene.clock.advance(5);
    expect(client.states).toEqual(['0/0 fresh']);
  });
});

describe('a stream ends with the reason', () => {
  it.each<[string, string, (client: Client) => void]>([
    ['a claim to another JobSet', 'OtherJobSet', (c) => c.say({ ...HELLO, jobSetUid: 'x' })],
    ['an announcement before the hello', 'Malformed', (c) => c.say({ type: 'ping' })],
    ['a second hello', 'Malformed', (c) => c.say(HELLO, HELLO)],
    ['an epoch out of range', 'Malformed', (c) => c.write('{"type":"announce","epoch":-1}\n')],
    ['a line without end', 'Malformed', (c) => c.write('x'.repeat(3000))],
    ['a flood', 'TooManyMessages', (c) => c.say(HELLO, ...Array(1000).fill({ type: 'ping' }))],
    ['half a message and then nothing', 'Silent', (c) => c.write('{"type":"hel')],
    ['no message at all', 'Silent', () => undefined],
  ])('%s', async (_what, reason, act) => {
    const scene = new Scene();
    const healthy = await scene.greeted('healthy');
    const client = await scene.connect('a');
    act(client);
    await scene.clock.runUntil(() => client.isClosed, 60_000);
    expect(client.bye).toBe(reason);
    healthy.say({ type: 'ping' });
    scene.write(0, 1);
    await scene.clock.advance(5);
    expect(healthy.states.at(-1)).toBe('0/1');
  });

  it('another stream of the same Pod', async () => {
    const scene = new Scene();
    const old = await scene.greeted('a');
    await scene.greeted('a');
    await scene.until(() => old.isClosed);
    expect(old.bye).toBe('Replaced');
    expect(scene.hub.streamCount).toBe(1);
  });

  it('the end of its Pod, which was announced to it before', async () => {
    const scene = new Scene();
    const client = await scene.greeted('a');
    scene.hub.podEnding('a');
    scene.hub.podEnded('a');
    await scene.until(() => client.isClosed);
    expect(client.heard.slice(-2)).toEqual([
      { type: 'ending' },
      { type: 'bye', reason: 'PodGone' },
    ]);
  });

  it('the end of leadership, and nothing is taken after it', async () => {
    const scene = new Scene();
    const client = await scene.greeted('a');
    scene.hub.close();
    client.say({ type: 'announce', announcement: { epoch: 2, starts: 1 } });
    await scene.until(() => client.isClosed);
    expect(client.bye).toBe('NotLeading');
    await scene.clock.advance(100);
    expect(scene.announced).toEqual([]);
    const late = await scene.connect('b');
    await scene.until(() => late.isClosed);
    expect(late.bye).toBe('NotLeading');
    expect(scene.clock.pendingTimers).toBe(0);
  });

  it('an agent that does not read: it is dropped, and the others get their states', async () => {
    const scene = new Scene();
    const healthy = await scene.greeted('healthy');
    const slow = await scene.greeted('slow');
    scene.streams.holdBack(slow.stream);
    for (let epoch = 1; epoch < 2000 && scene.hasStream('slow'); epoch++) {
      scene.write(epoch, epoch);
      await scene.clock.advance(2);
    }
    expect(scene.hasStream('slow')).toBe(false);
    scene.write(5000, 5001);
    await scene.clock.advance(5);
    expect(healthy.states.at(-1)).toBe('5000/5001');
  });
});

it('keeps a silent but living agent, whose heartbeats it answers', async () => {
  const scene = new Scene();
  const client = await scene.greeted('a');
  for (let i = 0; i < 10; i++) {
    client.say({ type: 'ping' });
    await scene.clock.advance(10_000);
  }
  expect(client.isClosed).toBe(false);
  expect(client.heard.filter(({ type }) => type === 'pong')).toHaveLength(10);
});

describe('the progress of a member', () => {
  const REPORT = { step: 7, checkpoint: 5, silentMs: 40 };
  const ANNOUNCEMENT = { epoch: 2, starts: 1 };

  it.each<[string, Exclude<AgentMessage, { readonly type: 'notice' }>]>([
    ['a ping', { type: 'ping' }],
    ['a question', { type: 'ping', ask: 1 }],
    ['an announcement', { type: 'announce', announcement: ANNOUNCEMENT }],
  ])('is what the newest message says: %s', async (_what, message) => {
    const scene = new Scene();
    const client = await scene.connect('a');
    client.say({ ...HELLO, progress: REPORT });
    await scene.clock.advance(1);
    expect(scene.progressOf('a')).toMatchObject({ step: 7, checkpoint: 5 });
    client.say({ ...message, progress: { step: 8, silentMs: 0 } });
    await scene.clock.advance(1);
    await scene.clock.advance(5);
    expect(scene.progressOf('a')).toMatchObject({ step: 8, silentMs: expect.any(Number) });
    client.say(message);
    await scene.clock.advance(1);
    expect(scene.progressOf('a')).toBeUndefined();
  });

  it('outlives its stream, and ends with its Pod', async () => {
    const scene = new Scene();
    const client = await scene.greeted('a');
    client.say({ type: 'ping', progress: REPORT });
    await scene.clock.advance(1);
    client.stream?.end();
    await scene.clock.advance(1);
    expect(scene.hasStream('a')).toBe(false);
    expect(scene.progressOf('a')).toMatchObject({ step: 7, checkpoint: 5 });
    scene.behind.podGone('a');
    expect(scene.progressOf('a')).toBeUndefined();
  });

  it('comes with the success of a worker, whose time the agent knows', async () => {
    const scene = new Scene();
    const client = await scene.greeted('a');
    const success = { epoch: 3, how: 'Exited', exit: { exitCode: 0 }, atMs: -3 } as const;
    client.say({ type: 'ping', success });
    await scene.clock.advance(1);
    expect(scene.announced).toContain('a success 3');
    expect(client.isClosed).toBe(false);
  });

  it('is not taken from an agent of another JobSet', async () => {
    const scene = new Scene();
    const client = await scene.connect('a');
    client.say({ ...HELLO, jobSetUid: 'other', progress: REPORT });
    await scene.clock.advance(1);
    expect(scene.progressOf('a')).toBeUndefined();
  });
});

describe('what a group has reported', () => {
  const STEPPED = { step: 7, silentMs: 0, firstStepMs: 500 };
  const SAVED = { ...STEPPED, checkpoint: 5, checkpointMs: 200 };

  async function report(scene: Scene, pod: string, progress: typeof STEPPED): Promise<Client> {
    const client = await scene.greeted(pod);
    client.say({ type: 'ping', progress });
    await scene.clock.advance(1);
    return client;
  }

  /** Released a minute ago. */
  async function released(): Promise<Scene> {
    const scene = new Scene();
    scene.write(0, 0);
    scene.write(0, 1);
    await scene.clock.advance(60_000);
    return scene;
  }

  it('outlives the member that reported it', async () => {
    const scene = await released();
    const client = await report(scene, 'a', SAVED);
    await report(scene, 'b', STEPPED);
    client.stream?.end();
    await scene.clock.advance(1000);
    scene.behind.podGone('a');
    const found = scene.reported;
    expect(found).toMatchObject({ highestStep: 7, checkpoint: 5, isReporting: true });
    expect(found.checkpointMs).toBeGreaterThanOrEqual(1200);
    expect(found.firstStepMs).toBeGreaterThanOrEqual(1500);
  });

  it('is of the epoch that runs, though a late agent still tells of the one before', async () => {
    const scene = await released();
    const client = await report(scene, 'a', SAVED);
    scene.write(1, 1);
    expect(scene.reported, 'until the release').toMatchObject({
      checkpoint: 5,
      checkpointMs: expect.any(Number),
    });
    scene.write(1, 2);
    await scene.clock.advance(100);
    client.say({ type: 'ping', progress: { ...SAVED, silentMs: 300 } });
    await scene.clock.advance(1);
    const found = scene.reported;
    expect(found).not.toHaveProperty('firstStepMs');
    expect(found).not.toHaveProperty('checkpointMs');
    expect(found).not.toHaveProperty('isReporting');
  });

  it('is nothing once the JobSet is gone, and nothing of another JobSet', async () => {
    const scene = await released();
    await report(scene, 'a', SAVED);
    const another = { ...TRAIN, uid: 'other-uid' };
    expect(scene.behind.roster.of(another).reported(scene.clock.monotonic())).toEqual({});
    scene.behind.feed.tell({ kind: 'JobSetGone', jobSet: TRAIN });
    expect(scene.reported).not.toHaveProperty('checkpointMs');
  });
});

describe('a question for a Pod', () => {
  const answers = (client: Client): readonly number[] =>
    client.heard.flatMap((message) => (message.type === 'podLives' ? [message.ask] : []));

  it('is answered from a list that begins after it, one for all who wait', async () => {
    const scene = new Scene();
    const clients: Client[] = [];
    for (const pod of ['a', 'b', 'c', 'd']) clients.push(await scene.greeted(pod));
    scene.living = new Set(['a', 'b', 'c']);
    const [first, ...others] = clients;
    first?.say({ type: 'ping', ask: 1 });
    await scene.until(() => scene.lists === 1);
    // They come during the read, so they wait for the next.
    for (const client of others) client.say({ type: 'ping', ask: 7 });
    first?.say({ type: 'ping', ask: 2 });
    await scene.until(() => scene.lists === 2);
    scene.living = new Set();
    await scene.clock.advance(1000);
    expect(clients.map(answers)).toEqual([[1, 2], [7], [7], []]);
    expect(scene.lists).toBe(2);
    expect(clients.every(({ isClosed }) => !isClosed)).toBe(true);
  });

  it('is asked again where the list failed', async () => {
    const scene = new Scene();
    const client = await scene.greeted('a');
    scene.living = new Set(['a']);
    scene.failure = new Error('no API');
    client.say({ type: 'ping', ask: 1 });
    await scene.clock.advance(5000);
    expect(answers(client)).toEqual([]);
    scene.failure = undefined;
    client.say({ type: 'ping', ask: 2 });
    await scene.until(() => answers(client).length > 0);
    expect(answers(client)).toEqual([2]);
  });

  it('does not make lists without end, however often it is asked', async () => {
    const scene = new Scene();
    const client = await scene.greeted('a');
    for (let ask = 1; ask <= 50; ask++) {
      client.say({ type: 'ping', ask });
      await scene.clock.advance(100);
    }
    expect(scene.lists).toBeLessThanOrEqual(6);
  });
});
