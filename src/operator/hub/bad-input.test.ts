/**
 * The hub refuses hostile or faulty clients with a reason, in the answer, in the log and in the
 * metrics, and a healthy member is not affected.
 */

import {
  createTokenSigner,
  issueToken,
  TOKEN_ISSUER,
  type TokenGrant,
} from '@lockstep/embedded-kubernetes/in-memory';
import { signatureKey } from '@lockstep/kube/runtime/adapters/tls/json-web-keys.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { MemoryStreams } from '@lockstep/kube/runtime/memory/memory-streams.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { createMetrics } from '@lockstep/kube/runtime/metrics.ts';
import {
  type ByteStream,
  type StreamListener,
  StreamRefusedError,
} from '@lockstep/kube/runtime/ports/stream.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import { HUB_AUDIENCE } from '../../jobset/names.ts';
import { Hub } from './hub.ts';
import { PodTokens } from './pod-tokens.ts';
import { measureProgress } from './progress-measures.ts';
import { RosterBehindHub } from './roster-hub.fixture.ts';
import { type StreamAdmission, streamAdmission } from './stream-admission.ts';

const MEMBERS = ['healthy', 'rogue'];

/** A hub with two members, `healthy` and `rogue`, of one JobSet, `ns/train`. */
class Scene {
  readonly clock = new VirtualClock();
  readonly logger = new MemoryLogger();
  readonly metrics = createMetrics();
  readonly streams = new MemoryStreams(this.clock);
  readonly signer = createTokenSigner();
  /** Pods that live, members or not. */
  readonly living = new Set([...MEMBERS, 'stranger', 'bare']);
  /** The number of Pods that were read from storage. */
  looks = 0;
  #version = 1;
  #stored = jobSetWith(0, 0, 1);
  readonly hub = new Hub({
    clock: this.clock,
    random: new SeededRandom(5),
    logger: this.logger,
    metrics: this.metrics,
    readJobSet: () => Promise.resolve(this.#stored),
    listPods: () => Promise.resolve(new Set<string>()),
    tell: (event) => this.behind.feed.tell(event),
    measure: () => measureProgress(this.behind.roster.groups(), this.clock.monotonic()),
  });

  readonly behind = new RosterBehindHub(this.clock, () => this.hub);

  constructor() {
    for (const member of MEMBERS) this.behind.podSeen(member);
    const { accept } = this.#admission();
    this.streams.acceptor = accept;
  }

  #admission(): StreamAdmission {
    const { publicKey, keyId: kid } = this.signer;
    const client = {
      getPath: (path: string) =>
        Promise.resolve(
          path.endsWith('configuration')
            ? { issuer: TOKEN_ISSUER }
            : { keys: [{ kid, ...publicKey }] },
        ),
    };
    const { clock, logger } = this;
    const tokens = new PodTokens({
      client: client as unknown as Client,
      clock,
      logger,
      importKey: signatureKey,
    });
    return streamAdmission({
      hub: this.hub,
      clock,
      logger,
      podOf: (token) => tokens.podOf(token),
      look: ({ namespace, podUid }) => {
        this.looks++;
        const lives = namespace === 'ns' && this.living.has(podUid);
        return Promise.resolve(lives ? 'Unrelated' : 'Gone');
      },
      membership: ({ namespace, podName, podUid }) => {
        if (namespace !== 'ns' || !this.living.has(podUid)) return { kind: 'Unknown' };
        if (podUid === 'bare') return { kind: 'Unknown' };
        if (!MEMBERS.includes(podUid))
          return { kind: 'Stranger', problem: 'the Pod belongs to no Job' };
        const jobSet = { jobSet: 'ns/train', jobSetUid: 'jobset-uid', stage: 'w' };
        return {
          kind: 'Member',
          member: { namespace, podName, podUid, ...jobSet, isEnding: false },
        };
      },
    });
  }

  token(pod: string, change: Partial<TokenGrant> = {}, signer = this.signer): string {
    const grant: TokenGrant = {
      namespace: 'ns',
      serviceAccount: { name: 'default', uid: 'account-uid' },
      audiences: [HUB_AUDIENCE],
      expiresAtMs: this.clock.now() + 3_600_000,
      boundTo: { kind: 'Pod', name: pod, uid: pod },
      id: 'id',
      ...change,
    };
    return issueToken(signer, grant, this.clock.now());
  }

  async connect(token: string | undefined): Promise<Speaker> {
    const speaker = new Speaker();
    const connecting = this.streams.connector(() => token).connect(speaker, NEVER);
    connecting.catch(() => undefined);
    let isSettled = false;
    void connecting.then(
      () => (isSettled = true),
      () => (isSettled = true),
    );
    await this.clock.runUntil(() => isSettled, 60_000);
    speaker.stream = await connecting;
    return speaker;
  }

  progressOf(pod: string): object | undefined {
    return this.behind.roster.pod(pod)?.steps?.at(this.clock.monotonic());
  }

  release(): void {
    this.#version++;
    this.#stored = jobSetWith(this.#version - 1, this.#version, this.#version);
    this.hub.jobSetSeen(this.#stored);
  }

  async measured(): Promise<readonly string[]> {
    const request = { method: 'GET', path: '/metrics', headers: {}, signal: NEVER } as const;
    const { body } = await this.metrics.handler(request);
    return Buffer.from(body as Uint8Array)
      .toString()
      .split('\n');
  }

  /** Whether the metrics have this line. */
  async shows(line: string): Promise<boolean> {
    return (await this.measured()).includes(line);
  }

  logged(field: string): readonly unknown[] {
    return this.logger.records.map(({ fields }) => fields[field]);
  }
}

const NEVER = new AbortController().signal;

/** An agent that sends any messages. */
class Speaker implements StreamListener {
  stream: ByteStream | undefined;
  text = '';
  isClosed = false;

  received(chunk: Uint8Array): void {
    this.text += Buffer.from(chunk).toString();
  }

  closed(): void {
    this.isClosed = true;
  }

  say(text: string): void {
    this.stream?.write(Buffer.from(text));
  }
}

const HELLO = '{"type":"hello"}\n';

let scene: Scene;
let healthy: Speaker;
beforeEach(async () => {
  scene = new Scene();
  healthy = await scene.connect(scene.token('healthy'));
  healthy.say(HELLO);
  await scene.clock.runUntil(() => healthy.text.includes('"fresh":true'), 1000);
});

/** The healthy member still has its stream, and gets its state at once. */
afterEach(async () => {
  expect(healthy.isClosed).toBe(false);
  const before = healthy.text.length;
  scene.release();
  await scene.clock.advance(5);
  expect(healthy.text.slice(before)).toMatch(/^\{"type":"state",.*\}\n$/);
});

/** Lets time pass for the hub to notice, while the healthy member continues. */
async function pass(seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i += 5) {
    healthy.say('{"type":"ping"}\n');
    await scene.clock.advance(5000);
  }
}

describe('a request for a stream is refused', () => {
  it.each<[string, (scene: Scene) => string | undefined, number, string, RegExp]>([
    ['without a token', () => undefined, 401, 'NoToken', /no bearer token/],
    ['with nonsense for a token', () => 'a.b', 401, 'InvalidToken', /not a JSON Web Token/],
    [
      'with a token of another audience',
      (s) => s.token('rogue', { audiences: [TOKEN_ISSUER] }),
      401,
      'InvalidToken',
      /for another audience/,
    ],
    [
      'with a token of another cluster',
      (s) => s.token('rogue', {}, createTokenSigner()),
      401,
      'InvalidToken',
      /a key that this cluster does not have/,
    ],
    [
      'with a token that has expired',
      (s) => s.token('rogue', { expiresAtMs: s.clock.now() - 1 }),
      401,
      'InvalidToken',
      /it has expired/,
    ],
    [
      'with a token of no Pod',
      (s) => s.token('rogue', { boundTo: undefined }),
      401,
      'InvalidToken',
      /bound to no Pod/,
    ],
    [
      'with the token of a Pod that is no member',
      (s) => s.token('stranger'),
      403,
      'NotAMember',
      /belongs to no Job\b/,
    ],
    [
      'with the token of a Pod that has nothing to do with JobSets',
      (s) => s.token('bare'),
      403,
      'NotAMember',
      /belongs to no JobSet/,
    ],
    [
      'with the token of a Pod of another namespace',
      (s) => s.token('rogue', { namespace: 'elsewhere' }),
      410,
      'PodGone',
      /is gone/,
    ],
    [
      'with a token that is replayed when its Pod is gone',
      (s) => {
        const token = s.token('rogue');
        s.living.delete('rogue');
        return token;
      },
      410,
      'PodGone',
      /is gone or has ended/,
    ],
  ])('%s', async (_what, tokenOf, status, label, reason) => {
    const refused = scene.connect(tokenOf(scene));
    await expect(refused).rejects.toBeInstanceOf(StreamRefusedError);
    await expect(refused).rejects.toMatchObject({ status, message: expect.stringMatching(reason) });
    expect(scene.logged('reason')).toContainEqual(expect.stringMatching(reason));
    expect(await scene.shows(`lockstep_hub_streams_refused_total{reason="${label}"} 1`)).toBe(true);
  });
});

it('ten thousand strangers are counted each, and reported in two lines', async () => {
  for (let i = 0; i < 10_000; i++) {
    scene.streams
      .connector(() => undefined)
      .connect(new Speaker(), NEVER)
      .catch(() => undefined);
  }
  await pass(30);
  const lines = scene.logger.records.filter(({ fields }) => fields['reason'] === 'no bearer token');
  expect(lines.map(({ fields }) => fields['count'])).toEqual([undefined, 9999]);
  const metric = 'lockstep_hub_streams_refused_total{reason="NoToken"} 10000';
  expect(await scene.shows(metric)).toBe(true);
});

describe('requests without end', () => {
  /** The status of each refusal. */
  async function refusals(tokens: readonly string[]): Promise<readonly number[]> {
    const statuses: number[] = [];
    let answered = 0;
    for (const token of tokens) {
      scene.streams
        .connector(() => token)
        .connect(new Speaker(), NEVER)
        .then((stream) => stream.end())
        .catch((error: unknown) => {
          statuses.push(error instanceof StreamRefusedError ? error.status : 0);
        })
        .finally(() => answered++);
    }
    await scene.clock.runUntil(() => answered === tokens.length, 60_000);
    return statuses;
  }

  it('of one Pod are refused with 429, and requests of others are not', async () => {
    const refused = await refusals(Array.from({ length: 1000 }, () => scene.token('rogue')));
    expect(new Set(refused)).toEqual(new Set([429]));
    expect(refused.length).toBeGreaterThanOrEqual(900);
    const line = `lockstep_hub_streams_refused_total{reason="TooManyRequests"} ${refused.length}`;
    expect(await scene.shows(line)).toBe(true);
    await pass(10);
    expect(await refusals([scene.token('rogue')]), 'after a pause').toEqual([]);
  });

  it.each(['bare', 'gone'])('of a Pod that is %s read it from storage once', async (pod) => {
    for (let i = 0; i < 4; i++) await refusals(Array.from({ length: 10 }, () => scene.token(pod)));
    expect(scene.looks).toBe(1);
  });

  it('of thousands of Pods that are gone read some hundred of them', async () => {
    const tokens = Array.from({ length: 600 }, (_, i) => scene.token(`gone-${i}`));
    const refused = await refusals(tokens);
    expect(refused).toHaveLength(600);
    expect(new Set(refused)).toEqual(new Set([410, 503]));
    expect(scene.looks).toBeLessThan(300);
  });
});

describe('the stream of a member ends', () => {
  it.each<[string, string, string, number]>([
    ['that claims another JobSet', '{"type":"hello","jobSet":"another"}\n', 'OtherJobSet', 1],
    ['whose epoch is no int32', `${HELLO}${announce(2 ** 31)}`, 'Malformed', 1],
    ['whose epoch is negative', `${HELLO}${announce(-1)}`, 'Malformed', 1],
    ['whose epoch is a fraction', `${HELLO}${announce(1.5)}`, 'Malformed', 1],
    ['that speaks no JSON', `${HELLO}GET / HTTP/1.1\r\n\r\n`, 'Malformed', 1],
    ['that says more than a message holds', `${HELLO}${'x'.repeat(5000)}`, 'Malformed', 1],
    ['that sends half a message', `${HELLO}{"type":"announ`, 'Silent', 60],
    ['that sends half a hello', '{"type":"hel', 'Silent', 60],
    ['that says nothing', '', 'Silent', 60],
  ])('%s', async (_what, text, reason, seconds) => {
    const rogue = await scene.connect(scene.token('rogue'));
    if (text !== '') rogue.say(text);
    await pass(seconds);
    expect(rogue.text).toContain(`{"type":"bye","reason":"${reason}"}\n`);
    expect(rogue.isClosed).toBe(true);
    expect(scene.logged('reason')).toContain(reason);
    expect(scene.logged('pod')).toContain('ns/rogue');
    expect(await scene.shows(`lockstep_hub_streams_closed_total{reason="${reason}"} 1`)).toBe(true);
  });

  it('that sends a million messages, after the first few hundred', async () => {
    const rogue = await scene.connect(scene.token('rogue'));
    rogue.say(HELLO);
    const thousand = '{"type":"ping"}\n'.repeat(1000);
    for (let sent = 0; sent < 1_000_000; sent += 1000) rogue.say(thousand);
    await pass(5);
    expect(rogue.text).toContain('{"type":"bye","reason":"TooManyMessages"}\n');
    expect(rogue.text.match(/pong/g)?.length).toBeLessThan(500);
    expect(scene.logged('reason')).toContain('TooManyMessages');
    const line = 'lockstep_hub_streams_closed_total{reason="TooManyMessages"} 1';
    expect(await scene.shows(line)).toBe(true);
  });
});

it('an epoch that is older than the one before changes nothing, and is reported once', async () => {
  const rogue = await scene.connect(scene.token('rogue'));
  rogue.say(`${HELLO}${announce(5)}${announce(2)}${announce(5)}${announce(1)}`);
  await pass(5);
  expect(rogue.isClosed).toBe(false);
  expect(await scene.shows('lockstep_hub_announcements_ignored_total 2')).toBe(true);
  expect(scene.logged('epoch').filter((epoch) => epoch !== undefined)).toEqual([2]);
});

describe('progress', () => {
  const ping = (fields: object): string => `${JSON.stringify({ type: 'ping', ...fields })}\n`;

  it.each<[string, object, object | undefined]>([
    ['of the largest number', { step: 2 ** 53 - 1, silentMs: 0 }, { step: 2 ** 53 - 1 }],
    ['beyond it', { step: 2 ** 53, silentMs: 0 }, undefined],
    ['that is negative', { step: -1, silentMs: 0 }, undefined],
    ['that is a text', { step: '7', silentMs: 0 }, undefined],
    ['whose silence is no number', { step: 7, silentMs: null }, undefined],
    ['with a phase that is a terminal escape', { phase: '\u001b[2J', silentMs: 0 }, undefined],
    ['with a long phase', { phase: 'x'.repeat(33), silentMs: 0 }, undefined],
  ])('%s changes nothing but itself', async (_what, progress, expected) => {
    const rogue = await scene.connect(scene.token('rogue'));
    rogue.say(`${HELLO}${ping({ step: 1, silentMs: 0 })}${ping(progress)}`);
    await pass(5);
    expect(rogue.isClosed).toBe(false);
    const known = scene.progressOf('rogue');
    if (expected === undefined) expect(known).toBeUndefined();
    else expect(known).toMatchObject(expected);
  });

  it('that comes and goes and jumps is kept once', async () => {
    const rogue = await scene.connect(scene.token('rogue'));
    rogue.say(HELLO);
    for (let i = 0; i < 1000; i++) {
      rogue.say(ping(i % 3 === 0 ? {} : { step: (i * 7919) % 1000, silentMs: 0 }));
      await scene.clock.advance(40);
    }
    rogue.say(ping({ step: 3, silentMs: 2500 }));
    await pass(10);
    expect(rogue.isClosed).toBe(false);
    expect(await scene.shows('lockstep_members_reporting 1')).toBe(true);
  });

  it('is measured: members that report, and the longest silence', async () => {
    const rogue = await scene.connect(scene.token('rogue'));
    rogue.say(HELLO);
    for (let i = 0; i <= 10; i++) {
      healthy.say(ping({ step: i * 100, silentMs: 0 }));
      rogue.say(ping({ step: i, silentMs: 30_000 + i }));
      await scene.clock.advance(2000);
    }
    expect(await scene.shows('lockstep_members_reporting 2')).toBe(true);
    const [seconds] = (await scene.measured()).flatMap(
      (line) => /^lockstep_longest_silence_seconds (.*)$/.exec(line)?.[1] ?? [],
    );
    expect(Number(seconds)).toBeGreaterThanOrEqual(30);
    expect(Number(seconds)).toBeLessThan(33);
    scene.behind.podGone('rogue');
    await pass(15);
    expect(scene.progressOf('rogue')).toBeUndefined();
  });

  it('with the state of a warm standby is measured: those that wait, and the Pods that get none any more', async () => {
    const rogue = await scene.connect(scene.token('rogue'));
    rogue.say(HELLO);
    for (let i = 0; i < 6; i++) {
      healthy.say(ping({ silentMs: 0, standby: 'Ready' }));
      rogue.say(ping({ silentMs: 0, standby: 'OutOfMemory' }));
      await scene.clock.advance(2000);
    }
    expect(await scene.shows('lockstep_standbys_ready 1')).toBe(true);
    expect(await scene.shows('lockstep_standbys_off 1')).toBe(true);
    scene.behind.podGone('rogue');
    await pass(15);
    expect(await scene.shows('lockstep_standbys_ready 0')).toBe(true);
    expect(await scene.shows('lockstep_standbys_off 0')).toBe(true);
  });
});

function announce(epoch: number): string {
  return `{"type":"announce","epoch":${epoch},"starts":1}\n`;
}
