import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import type { HttpRequest } from '@lockstep/kube/runtime/ports/transport.ts';
import { expect, it } from 'vitest';
import { createMemberPage } from './member-page.ts';

const clock = new VirtualClock();
let asked = 0;
const REPORTS = Buffer.from('[{"pod":"a"}]');

type Ask = Parameters<typeof createMemberPage>[0]['ask'];

function pageOf(ask: Ask = async () => ({ status: 200, body: REPORTS })) {
  asked = 0;
  const handler = createMemberPage({
    clock,
    jobSetUid: 'own',
    ask: (page, signal) => {
      asked++;
      return ask(page, signal);
    },
  });
  return async (path: string, method: HttpRequest['method'] = 'GET') => {
    const { signal } = new AbortController();
    const { status, body } = await handler({ method, path, headers: {}, signal });
    return `${status} ${Buffer.from(body as Uint8Array)
      .toString()
      .trim()}`;
  };
}

it('shows the members of its own group', async () => {
  expect(await pageOf()('/members/own')).toBe('200 [{"pod":"a"}]');
});

it('shows the groups of its namespace, under the UID of its own', async () => {
  const page = pageOf(async (path) => ({ status: 200, body: Buffer.from(path) }));
  expect(await page('/groups/own')).toBe('200 /hub/groups');
  expect(await page('/members/own')).toBe('200 /hub/members');
  expect(await page('/groups/other')).toMatch(/^404 /);
});

it.each([
  [
    'another group',
    '/members/other',
    'GET',
    '404 only the members of its own group are served here',
  ],
  ['no group', '/members', 'GET', '404 only the members of its own group are served here'],
  ['a change', '/members/own', 'POST', '405 only GET is allowed'],
] as const)('refuses %s, and does not ask the hub', async (_what, path, method, answer) => {
  expect(await pageOf()(path, method)).toBe(answer);
  expect(asked).toBe(0);
});

it('asks the hub once for all who look at about the same time', async () => {
  const page = pageOf();
  await Promise.all(Array.from({ length: 50 }, () => page('/members/own')));
  expect(asked).toBe(1);
  await clock.advance(1000);
  await page('/members/own');
  expect(asked).toBe(2);
});

const untilAborted: Ask = (_page, signal) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('no answer')));
  });

it('says why the hub was not reached, and does not wait for ever', async () => {
  const refused = pageOf(() => Promise.reject(new Error('certificate has expired')));
  expect(await refused('/members/own')).toBe(
    '502 the hub was not reached: certificate has expired',
  );
  const silent = pageOf(untilAborted)('/members/own');
  await clock.advance(10_000);
  expect(await silent).toMatch(/^502 the hub was not reached: /);
});
