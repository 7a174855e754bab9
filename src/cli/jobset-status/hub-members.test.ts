import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { expect, it } from 'vitest';
import { ENV_HUB_URL } from '../../jobset/names.ts';
import { forwarding } from './forwarded-port.fixture.ts';
import { HubMembers } from './hub-members.ts';

const REPORTS = [{ pod: 'train-w-0-0', epoch: 2, channel: 'Hub' }];

function pod(name: string, more: Partial<Stored<Pod>> = {}): Stored<Pod> {
  const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'team',
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: {
      containers: [
        { name: 'main', env: [{ name: ENV_HUB_URL, value: 'https://hub.system.svc:9445' }] },
      ],
    },
    status: {
      phase: 'Running',
      containerStatuses: [{ name: 'main', ready: true, restartCount: 0, state } as never],
    },
    ...more,
  };
}

function refusal(status: number, message: string): HttpResponse {
  return { status, headers: {}, body: Buffer.from(JSON.stringify({ message })) };
}

/** The result, and the paths that were requested. */
async function ask(answers: readonly (() => HttpResponse)[], pods = [pod('train-w-0-0')]) {
  const paths: string[] = [];
  const left = [...answers];
  const transport = {
    send: ({ path }: { readonly path: string }) => {
      paths.push(path);
      return Promise.resolve(left.shift()?.() ?? refusal(500, 'asked too often'));
    },
    close: () => undefined,
  };
  const hub = new HubMembers(
    { client: new MemoryClient(), transport, credentials: undefined },
    new VirtualClock(),
  );
  const asked = await hub.ask('jobset-uid', pods, new AbortController().signal);
  return { asked, paths };
}

const ANSWER = `HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n${JSON.stringify(REPORTS)}`;

it('asks the agent of a member that runs, over a forwarded port', async () => {
  const pending = pod('train-w-0-1', { status: { phase: 'Pending' } });
  const { asked, paths } = await ask([() => forwarding(ANSWER)], [pending, pod('train-w-0-0')]);
  expect(asked).toEqual({ reports: REPORTS });
  expect(paths).toEqual(['/api/v1/namespaces/team/pods/train-w-0-0/portforward']);
});

it('does not ask, nor wait for the hub, while no agent runs', async () => {
  const state = { waiting: { reason: 'ErrImagePull' } };
  const status = {
    phase: 'Pending' as const,
    containerStatuses: [{ name: 'main', ready: false, restartCount: 0, state } as never],
  };
  const { asked, paths } = await ask([], [pod('train-w-0-0', { status })]);
  expect(asked).toEqual({ reports: undefined });
  expect(paths).toEqual([]);
});

it('asks another member where the agent of the first has no page', async () => {
  const none = 'HTTP/1.1 404 Not Found\r\n\r\nnothing here\n';
  const { asked } = await ask(
    [() => forwarding(none), () => forwarding(ANSWER)],
    [pod('train-w-0-0'), pod('train-w-0-1')],
  );
  expect(asked).toEqual({ reports: REPORTS });
});

it('asks nobody else while the hub gives the namespace no page, and says so', async () => {
  const reason = 'members in namespace team ask too often';
  const { asked, paths } = await ask(
    [() => forwarding(`HTTP/1.1 429 Too Many Requests\r\n\r\n${reason}\n`)],
    [pod('train-w-0-0'), pod('train-w-0-1')],
  );
  expect(paths).toHaveLength(1);
  expect(asked).toEqual({
    problem: `the hub was not asked: through Pod train-w-0-0: it answered 429: ${reason}; try again in some seconds`,
  });
});

it('names the right that is missing, and tries no other Pod for it', async () => {
  const { asked, paths } = await ask(
    [() => refusal(403, 'pods "train-w-0-0" is forbidden')],
    [pod('train-w-0-0'), pod('train-w-0-1')],
  );
  expect(paths).toHaveLength(1);
  expect(asked).toMatchObject({
    problem: expect.stringMatching(
      /^the hub was not asked: through Pod train-w-0-0: you lack the right to create pods\/portforward in namespace team; https:\/\/hub.system.svc:9445: /,
    ),
  });
});

it.each([
  ['no JSON', '\u001b[2J'],
  ['no list', '{}'],
  ['an unknown channel', '[{"pod":"p","epoch":1,"channel":"\u001b[2J"}]'],
  ['an epoch out of bounds', '[{"pod":"p","epoch":"1","channel":null}]'],
  [
    'a signal that is none',
    '[{"pod":"p","epoch":2,"channel":null,"cause":{"epoch":1,"end":{"signal":"\\u001b[2J"}}}]',
  ],
])('takes nothing from a Pod that answers with %s', async (_what, body) => {
  const { asked } = await ask([() => forwarding(`HTTP/1.1 200 OK\r\n\r\n${body}`)]);
  expect(asked).toMatchObject({
    problem: expect.stringContaining(
      'through Pod train-w-0-0: the answer is not a list of members; ',
    ),
  });
});

it('shows the answer of a Pod in place of a page shortened and without control characters', async () => {
  const text = `\u001b[2J${'x'.repeat(5000)}`;
  const { asked } = await ask([() => forwarding(`HTTP/1.1 500 No\r\n\r\n${text}`)]);
  const problem = 'problem' in asked ? asked.problem : '';
  expect(problem).toContain('its agent answered 500: \\x1b[2Jxxx');
  expect(problem.length).toBeLessThan(2000);
});

it('says so where no member has a hub', async () => {
  const { asked } = await ask([], [pod('a', { spec: { containers: [{ name: 'main' }] } })]);
  expect(asked).toEqual({ reports: undefined });
});
