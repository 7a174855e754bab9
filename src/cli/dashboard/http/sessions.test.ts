import { createHmac } from 'node:crypto';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { proofText } from '../../../dashboard/messages/session.ts';
import { passingAccessKey } from './access-key.ts';
import { Sessions } from './sessions.ts';

const HOST = '127.0.0.1:8475';

function proofOf(secret: string, host: string, start: string): string {
  return createHmac('sha256', secret).update(proofText(host, start)).digest('base64url');
}

let clock: VirtualClock;
let key: ReturnType<typeof passingAccessKey>;
let sessions: Sessions;

beforeEach(() => {
  clock = new VirtualClock();
  key = passingAccessKey();
  sessions = new Sessions({ key, clock });
});

function opened(token: string, session?: string): string {
  const exchange = sessions.exchange(token, session);
  return 'cookie' in exchange ? exchange.cookie : exchange.why;
}

describe('a token', () => {
  it('of the printed address works until it is used, and another one takes its place', async () => {
    const first = sessions.printedToken;
    const told: string[] = [];
    sessions.onNewToken = (token) => told.push(token);
    await clock.advance(24 * 60 * 60_000);
    expect(sessions.has(opened(first))).toBe(true);
    expect(told).toEqual([sessions.printedToken]);
    expect(sessions.printedToken).not.toBe(first);
    expect(sessions.has(opened(sessions.printedToken))).toBe(true);
  });

  it('of the address that is opened works for two minutes, and the printed one stays', async () => {
    const printed = sessions.printedToken;
    const [early, late] = [sessions.openedToken(), sessions.openedToken()];
    await clock.advance(119_000);
    expect(sessions.has(opened(early))).toBe(true);
    await clock.advance(2000);
    expect(opened(late)).toMatch(/^This address was valid for 2 minutes\. Open the address/);
    expect(sessions.printedToken).toBe(printed);
  });

  it('that two browsers bring ends the session of the first, and all passes', async () => {
    const token = sessions.openedToken();
    const thief = opened(token);
    const before = key.key;
    await clock.advance(1000);
    expect(opened(token)).toMatch(/^This address was used twice within a minute/);
    expect(sessions.has(thief)).toBe(false);
    expect(key.key).not.toBe(before);
  });

  it('that two browsers bring ends sessions that the first has opened with its pass', () => {
    const own = opened(sessions.printedToken);
    const token = sessions.openedToken();
    opened(token);
    const { id, secret } = sessions.newPass(HOST);
    const more = sessions.renew({ id, proof: proofOf(secret, HOST, sessions.start) }, HOST);
    opened(token);
    expect('cookie' in more && sessions.has(more.cookie)).toBe(false);
    expect(sessions.has(own)).toBe(true);
  });

  it('that a browser with another session brings second ends the session of the first too', () => {
    const own = opened(sessions.printedToken);
    const token = sessions.openedToken();
    const thief = opened(token);
    expect(opened(token, own)).toMatch(/^This address was used twice/);
    expect([sessions.has(thief), sessions.has(own)]).toEqual([false, true]);
  });

  it('that was used long ago ends nothing', async () => {
    const token = sessions.printedToken;
    const cookie = opened(token);
    await clock.advance(61_000);
    expect(opened(token)).toMatch(/^This address has been used\./);
    expect(sessions.has(cookie)).toBe(true);
  });

  it('is nothing to a browser that has a session, but is used up', async () => {
    const cookie = opened(sessions.printedToken);
    const token = sessions.openedToken();
    expect(opened(token, cookie)).toBe(cookie);
    expect(opened(token, cookie)).toBe(cookie);
    expect(opened('of another start', cookie)).toBe(cookie);
    await clock.advance(61_000);
    expect(opened(token)).toMatch(/^This address has been used\./);
  });

  it('of another start opens nothing', () => {
    const other = new Sessions({ key, clock });
    expect(opened(other.printedToken)).toMatch(/^This address is of another start/);
  });
});

describe('sessions', () => {
  it('end with the server, though the next one has the same key', () => {
    const cookie = opened(sessions.printedToken);
    expect(new Sessions({ key, clock }).has(cookie)).toBe(false);
  });

  it('are 64 at most, and the oldest goes', () => {
    const cookies = Array.from({ length: 65 }, () => opened(sessions.printedToken));
    expect(cookies.map((cookie) => sessions.has(cookie)).indexOf(true)).toBe(1);
  });
});

describe('a pass', () => {
  it('gives a session of the next start', () => {
    const { id, secret } = sessions.newPass(HOST);
    const next = new Sessions({ key, clock });
    const renewed = next.renew({ id, proof: proofOf(secret, HOST, next.start) }, HOST);
    expect('cookie' in renewed && next.has(renewed.cookie)).toBe(true);
  });

  // Each row is what somebody could do who listens on the port while our server is away.
  it.each([
    ['a proof for another start', { start: 'made up' }],
    ['a proof of a page at another port', { page: '127.0.0.1:9000' }],
    ['a proof of a page at another name', { page: 'localhost:8475' }],
    ['a pass of a server at another port', { passOf: '127.0.0.1:9000' }],
    ['another pass', { id: 'another' }],
    ['no proof', { proof: '' }],
  ])(
    'is not proven by %s',
    (_, {
      start,
      page = HOST,
      passOf = HOST,
      ...sent
    }: {
      readonly start?: string;
      readonly page?: string;
      readonly passOf?: string;
      readonly id?: string;
      readonly proof?: string;
    }) => {
      const { id, secret } = sessions.newPass(passOf);
      const next = new Sessions({ key, clock });
      const proof = proofOf(secret, page, start ?? next.start);
      expect(next.renew({ id, proof, ...sent }, HOST)).toHaveProperty('why');
    },
  );

  it('is void once the key is another one', () => {
    const { id, secret } = sessions.newPass(HOST);
    key.renew();
    const proof = proofOf(secret, HOST, sessions.start);
    expect(sessions.renew({ id, proof }, HOST)).toHaveProperty('why');
  });
});
