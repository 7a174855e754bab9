import type { HttpRequest, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { describe, expect, it } from 'vitest';
import { reviewJudges } from './review-judges.ts';
import { WEBHOOK_PATHS } from './webhook-configurations.ts';

const LARGE_BYTES = 64 * 1024 + 1;

interface Sent {
  readonly path?: string;
  readonly bytes?: number;
  readonly address?: string;
  readonly signal?: AbortSignal;
}

/** Judges whose reviews end when the test says so. */
function judges() {
  const judging: { readonly by: string; readonly from: string; done(): void }[] = [];
  const judge = (by: string) => (request: HttpRequest) =>
    new Promise<HttpResponse>((resolve) => {
      const from = request.peer?.address ?? '';
      const done = (): void => resolve({ status: 200, headers: {}, body: Buffer.from(by) });
      judging.push({ by, from, done });
    });
  const handler = reviewJudges(judge('here'), { jobSets: judge('jobSets'), pods: judge('pods') });
  const send = ({
    path = WEBHOOK_PATHS.mutateJobSet,
    bytes = LARGE_BYTES,
    address = 'a',
    signal = new AbortController().signal,
  }: Sent): Promise<HttpResponse> =>
    handler({
      method: 'POST',
      path: `${path}?timeout=10s`,
      headers: {},
      body: new Uint8Array(bytes),
      signal,
      peer: { address },
    });
  const count = (by: string) => judging.filter((one) => one.by === by).length;
  return { judging, send, count };
}

describe('reviews', () => {
  it('of Pods are judged at once, while reviews of JobSets wait', async () => {
    const { judging, send, count } = judges();
    for (let i = 0; i < 20; i++) void send({});
    void send({ path: WEBHOOK_PATHS.mutatePod, bytes: 1_000 });
    void send({ path: WEBHOOK_PATHS.validatePod });
    expect([count('jobSets'), count('here'), count('pods')]).toEqual([4, 1, 1]);
    judging[0]?.done();
    await Promise.resolve();
    await until('the next begins', () => count('jobSets') === 5);
  });

  it('that are small do not wait for large ones', () => {
    const { send, count } = judges();
    for (let i = 0; i < 20; i++) void send({});
    void send({ bytes: LARGE_BYTES - 1 });
    expect(count('jobSets')).toBe(5);
  });

  it('of one address wait for each other before they hold up others', async () => {
    const { judging, send } = judges();
    for (let i = 0; i < 20; i++) void send({ address: 'crowd' });
    void send({ address: 'server' });
    judging[0]?.done();
    judging[1]?.done();
    await until('both begin', () =>
      expect(judging.slice(4).map(({ from }) => from)).toEqual(['crowd', 'server']),
    );
  });

  it('are turned away when too many wait, the newest of the address with the most first', async () => {
    const { send } = judges();
    const crowd = Array.from({ length: 36 }, () => send({ address: 'crowd' }));
    void send({ address: 'server' });
    const last = await crowd.at(-1);
    expect([last?.status, last?.headers['retry-after']]).toEqual([429, '1']);
  });

  it('are forgotten when their client no longer waits', async () => {
    const { judging, send } = judges();
    for (let i = 0; i < 4; i++) void send({});
    const gone = new AbortController();
    const forgotten = send({ signal: gone.signal });
    void send({ address: 'b' });
    gone.abort(new Error('gone'));
    judging[0]?.done();
    await expect(forgotten).rejects.toThrow('gone');
    await until('the next begins', () =>
      expect(judging.map(({ from }) => from)).toEqual(['a', 'a', 'a', 'a', 'b']),
    );
  });
});
