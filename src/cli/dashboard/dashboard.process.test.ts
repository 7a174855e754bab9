import { createHmac } from 'node:crypto';
import type { Stored } from '@lockstep/kube/meta.ts';
import { CORE_EVENTS } from '@lockstep/kube/objects/event.ts';
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LogMessage } from '../../dashboard/messages/log.ts';
import {
  EMPTY_OVERVIEW,
  type OverviewMessage,
  type OverviewState,
  withOverviewMessage,
} from '../../dashboard/messages/overview.ts';
import {
  EMPTY_RUN,
  type RunMessage,
  type RunState,
  withRunMessage,
} from '../../dashboard/messages/run.ts';
import { type Pass, proofText, type ServerStart } from '../../dashboard/messages/session.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import {
  ENV_LOG_PREFIX,
  ENV_PROCESSES_PER_POD,
  JOB_INDEX,
  JOBSET_NAME,
  JOBSET_UID,
  REPLICATED_JOB_NAME,
} from '../../jobset/names.ts';
import {
  type Followed,
  openTestPage,
  startTestCluster,
  type TestCluster,
  type TestPage,
} from './dashboard.fixture.ts';

let cluster: TestCluster;
let page: TestPage;

beforeEach(async () => {
  cluster = await startTestCluster();
  page = await openTestPage(cluster);
});

afterEach(async () => {
  await page.stop();
  await cluster.stop();
});

const JOBSET = {
  apiVersion: 'jobset.x-k8s.io/v1alpha2',
  kind: 'JobSet',
  metadata: { name: 'train', namespace: 'default' },
  spec: {
    failurePolicy: { maxRestarts: 3, restartStrategy: 'InPlaceRestart' },
    replicatedJobs: [
      {
        name: 'w',
        template: {
          spec: {
            parallelism: 1,
            completions: 1,
            template: {
              spec: { restartPolicy: 'Never', containers: [{ name: 'worker', image: 'x' }] },
            },
          },
        },
      },
    ],
  },
} as unknown as JobSet;

async function createJobSet(name = 'train'): Promise<Stored<JobSet>> {
  const metadata = { ...JOBSET.metadata, name };
  return cluster.connection.client.create(JOBSETS, { ...JOBSET, metadata });
}

async function createPod(
  jobSet: Stored<JobSet>,
  name: string,
  more: Pick<Pod['metadata'], 'labels' | 'annotations'> = {},
  variables: Readonly<Record<string, string>> = {},
): Promise<Stored<Pod>> {
  const env = Object.entries(variables).map(([key, value]) => ({ name: key, value }));
  const owner = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    name: 'train-w-0',
    uid: 'j',
    controller: true,
  };
  return cluster.connection.client.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      ...more,
      labels: {
        ...more.labels,
        [JOBSET_NAME]: jobSet.metadata.name,
        [JOBSET_UID]: jobSet.metadata.uid,
      },
      ownerReferences: [owner],
    },
    spec: { containers: [{ name: 'worker', image: 'x', env }] },
  });
}

function overview(of = page): Followed<OverviewState> {
  return of.follow<OverviewState, OverviewMessage>(
    '/api/overview',
    EMPTY_OVERVIEW,
    withOverviewMessage,
  );
}

function run(name = 'train'): Followed<RunState> {
  const path = `/api/run?namespace=default&name=${name}`;
  return page.follow<RunState, RunMessage>(path, EMPTY_RUN, withRunMessage);
}

function log(pod: string, process = ''): Followed<readonly LogMessage[]> {
  const path = `/api/log?namespace=default&name=train&pod=${pod}${process}`;
  return page.follow<readonly LogMessage[], LogMessage>(path, [], (all, one) => [...all, one]);
}

describe('a session', () => {
  test('begins with the token, which leaves the address', async () => {
    const { address, port } = page.dashboard;
    const response = await fetch(address, { redirect: 'manual' });
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('/');
    const cookie = response.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      new RegExp(`^lockstep-${port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/$`),
    );
    expect(address).not.toContain(cookie.slice(cookie.indexOf('=') + 1, cookie.indexOf(';')));
    expect(page.dashboard.address).not.toBe(address);
  });

  test('begins with a link on a page of another site, to which a redirect would lose it', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' };
    const response = await fetch(page.dashboard.address, { redirect: 'manual', headers });
    expect(response.status).toBe(200);
    expect(response.headers.get('set-cookie')).toContain('HttpOnly');
    const text = await response.text();
    expect(text).toContain('<meta http-equiv="refresh" content="0; url=/">');
    expect(text).not.toContain('token');
  });

  test('begins once for an address that a program was started with', async () => {
    const opened = page.dashboard.openedAddress();
    expect((await fetch(opened, { redirect: 'manual' })).status).toBe(303);
    const again = await fetch(opened, { redirect: 'manual' });
    expect(again.status).toBe(401);
    expect(await again.text()).toContain('This address was used twice within a minute');
  });

  test('is needed for everything', async () => {
    for (const path of ['/', '/page.js', '/api/overview', '/api/cluster', '/nothing']) {
      const response = await fetch(`http://127.0.0.1:${page.dashboard.port}${path}`);
      expect(response.status).toBe(401);
      expect(await response.text()).toContain('Open the address that lockstep printed');
    }
  });

  test('is refused in a sentence to scripts, and with a page to people', async () => {
    const address = `http://127.0.0.1:${page.dashboard.port}/api/overview`;
    const toScript = await fetch(address, { headers: { accept: 'text/plain' } });
    expect(toScript.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await toScript.text()).toMatch(/^Open the address .*works once\.$/);
    const toPerson = await fetch(address, { headers: { accept: 'text/html,*/*' } });
    expect(toPerson.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await toPerson.text()).toMatch(/<p>Open the address /);
  });

  test('gets headers that keep other pages out', async () => {
    const { headers } = await page.fetch('/api/cluster');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  test('has a limit of streams in a session and in all, and of bytes', async () => {
    const opened = new AbortController();
    const logIns = Array.from({ length: 4 }, async () => {
      const { headers } = await fetch(page.dashboard.openedAddress(), { redirect: 'manual' });
      return (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    });
    const refusedOf = async (cookie: string, count: number): Promise<number> => {
      const streams = Array.from({ length: count }, async () =>
        page.fetch('/api/overview', { signal: opened.signal, headers: { cookie } }),
      );
      return (await Promise.all(streams)).filter(({ status }) => status === 429).length;
    };
    const refused: number[] = [];
    for (const cookie of await Promise.all(logIns)) refused.push(await refusedOf(cookie, 18));
    expect([...refused, await refusedOf(page.cookie, 1)]).toEqual([2, 2, 2, 2, 1]);
    opened.abort();
    const headers = {
      origin: `http://127.0.0.1:${page.dashboard.port}`,
      'content-type': 'application/json',
    };
    const large = await page.fetch('/api/action', {
      method: 'POST',
      headers,
      body: 'x'.repeat(9000),
    });
    expect(large.status).toBe(413);
  });

  test('that a thief may have opened ends with its streams, and others continue', async () => {
    const address = page.dashboard.openedAddress();
    const { headers } = await fetch(address, { redirect: 'manual' });
    const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
    const stolen = await page.fetch('/api/overview', { headers: { cookie } });
    const own = await page.fetch('/api/overview');
    expect((await fetch(address)).status).toBe(401);
    // It reads to the end.
    await stolen.text();
    expect((await page.fetch('/', { headers: { cookie } })).status).toBe(401);
    const reader = own.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await reader?.cancel();
  });

  test('ends with its server, and continues for a page that has a pass', async () => {
    const { port } = page.dashboard;
    const host = `127.0.0.1:${port}`;
    const { id, secret } = (await (await page.fetch('/api/pass')).json()) as Pass;
    await page.dashboard.close();
    const again = await openTestPage(cluster, undefined, port, page.accessKey);
    const withOld = await again.fetch('/api/cluster', { headers: { cookie: page.cookie } });
    expect(withOld.status).toBe(401);

    const { start } = (await (await fetch(`http://${host}/api/start`)).json()) as ServerStart;
    const renew = async (name: string): Promise<Response> => {
      const text = proofText(name, start);
      const proof = createHmac('sha256', secret).update(text).digest('base64url');
      const headers = { origin: `http://${host}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ id, proof });
      return fetch(`http://${host}/api/renew`, { method: 'POST', headers, body });
    };
    expect((await renew(`localhost:${port}`)).status).toBe(401);
    const renewed = await renew(host);
    expect(renewed.status).toBe(200);
    const [cookie = ''] = (renewed.headers.get('set-cookie') ?? '').split(';');
    expect((await again.fetch('/api/cluster', { headers: { cookie } })).status).toBe(200);
    await again.stop();
  });
});

describe('the overview', () => {
  test('follows JobSets that come, change and go', async () => {
    await cluster.installJobSets();
    const stream = overview();
    await stream.until(({ isComplete }) => isComplete);
    const jobSet = await createJobSet();
    const { rows } = await stream.until((state) => state.rows.size === 1);
    expect(rows.get(jobSet.metadata.uid)).toMatchObject({ name: 'train', ready: 0, size: 1 });
    const at = { namespace: 'default', name: 'train' };
    await cluster.connection.client.patch(JOBSETS, at, {
      type: 'merge',
      patch: { spec: { suspend: true } },
    });
    await stream.until((state) =>
      [...state.rows.values()].some((row) => row.state === 'Suspended'),
    );
    await cluster.connection.client.delete(JOBSETS, at);
    await stream.until((state) => state.rows.size === 0);
  });

  test('says that JobSets are not installed, and shows them once they are', async () => {
    const stream = overview();
    const { problems } = await stream.until((state) => state.problems.length > 0);
    expect(problems[0]).toContain('This cluster does not know JobSets: run "lockstep install"');
    await cluster.installJobSets();
    await createJobSet();
    await stream.until((state) => state.rows.size === 1 && state.problems.length === 0);
  });

  test('shows one namespace to a user who may not read all', async () => {
    await cluster.installJobSets();
    await createJobSet();
    cluster.forbid = ({ path }) =>
      /\/(jobsets|jobs)\?/.test(path) && !path.includes('/namespaces/');
    const { problems } = await overview().until((state) => state.rows.size === 1);
    expect(problems).toEqual([
      'You may not list the JobSets of all namespaces, so this is namespace default: choose another with -n.',
    ]);
  });

  test('leaves out what the user may not read, and names it', async () => {
    await cluster.installJobSets();
    await createJobSet();
    cluster.forbid = ({ path }) => path.includes('/jobs?');
    const { rows } = await overview().until(
      (state) => state.rows.size === 1 && state.problems.length > 0,
    );
    expect([...rows.values()][0]?.ready).toBeNull();
    cluster.forbid = () => true;
    const other = await openTestPage(cluster, { namespace: 'default', fallback: 'default' });
    const { problems } = await overview(other).until((state) => state.problems.length > 0);
    expect(problems).toEqual(['You may not list JobSets in namespace default.']);
    await other.stop();
  });

  test('says that the cluster does not answer, and continues when it does', async () => {
    await cluster.installJobSets();
    const stream = overview();
    await stream.until(({ isComplete }) => isComplete);
    await cluster.pause();
    const { problems } = await stream.until((state) => state.problems.length > 0);
    expect(problems[0]).toMatch(
      /^The cluster has not answered since \d\d:\d\d:\d\d UTC: 127\.0\.0\.1:\d+: .+\.$/,
    );
    await cluster.resume();
    await stream.until((state) => state.problems.length === 0);
    await createJobSet();
    await stream.until((state) => state.rows.size === 1);
  });
});

describe('a run', () => {
  test('shows members, Events and changes of the spec', async () => {
    await cluster.installJobSets();
    const jobSet = await createJobSet();
    await createPod(jobSet, 'train-w-0-0');
    const stream = run();
    const { members, run: shown } = await stream.until((state) => state.members.size === 1);
    expect(shown).toMatchObject({ uid: jobSet.metadata.uid, jobSet: { name: 'train', size: 1 } });
    expect(members.get('train-w-0-0')).toMatchObject({ phase: 'Pending', job: 'train-w-0' });
    const about = async (name: string, kind: string, uid: string): Promise<void> => {
      await cluster.connection.client.create(CORE_EVENTS, {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: `${kind.toLowerCase()}-${uid}`, namespace: 'default' },
        involvedObject: { kind, namespace: 'default', name, uid },
        reason: `Of${kind}`,
        message: '<b>hostile</b>',
        type: 'Warning',
        lastTimestamp: new Date().toISOString(),
      });
    };
    await about('train', 'JobSet', jobSet.metadata.uid);
    await about('train-w-0-0', 'Pod', 'of-another-pod');
    await about('other-w-0', 'Job', 'j');
    await about('train-w-0', 'Job', 'k');
    const { events } = await stream.until((state) => state.events.length === 2);
    expect(events).toMatchObject([
      { reason: 'OfJobSet', message: '<b>hostile</b>', count: 1, about: '' },
      { reason: 'OfJob', message: '<b>hostile</b>', count: 1, about: 'Job train-w-0' },
    ]);
    await cluster.connection.client.delete(
      PODS,
      { namespace: 'default', name: 'train-w-0-0' },
      { gracePeriodSeconds: 0 },
    );
    await stream.until((state) => state.members.size === 0);
  });

  test('of a JobSet that is deleted stays as it was, and another one begins its own', async () => {
    await cluster.installJobSets();
    await createJobSet();
    const stream = run();
    await stream.until((state) => state.run !== null);
    await cluster.connection.client.delete(JOBSETS, { namespace: 'default', name: 'train' });
    const { run: last } = await stream.until((state) => state.isGone);
    const second = await createJobSet();
    await stream.ended;
    const { run: next } = await run().until((state) => state.run !== null);
    expect(next?.uid).toBe(second.metadata.uid);
    expect(last?.uid).not.toBe(second.metadata.uid);
  });

  test('that does not exist is named', async () => {
    await cluster.installJobSets();
    const stream = run('nothing');
    const { problems } = await stream.until((state) => state.problems.length > 0);
    expect(problems).toEqual(['There is no JobSet default/nothing.']);
    await createJobSet('nothing');
    await stream.until((state) => state.run !== null && state.problems.length === 0);
  });

  test('of a namespace that the user may not read says which right is missing', async () => {
    await cluster.installJobSets();
    await createJobSet();
    cluster.forbid = ({ path }) => path.includes('/jobsets?');
    const stream = run();
    const { problems, run: shown } = await stream.until((state) => state.problems.length > 0);
    expect(shown).toBeNull();
    expect(problems).toEqual([
      'You may not list JobSets in namespace default. You need the right to get, list and watch jobsets.jobset.x-k8s.io there: ask who administers the namespace.',
    ]);
    cluster.forbid = () => false;
    await stream.until((state) => state.run !== null && state.problems.length === 0);
  });

  test('says that Events may not be read', async () => {
    await cluster.installJobSets();
    await createJobSet();
    cluster.forbid = ({ path }) => path.includes('/events?');
    const stream = run();
    const { problems } = await stream.until(
      (state) => state.run !== null && state.problems.length > 0,
    );
    expect(problems).toContain('You may not list Events in namespace default.');
  });

  test('offers no action for which the user lacks the right', async () => {
    await cluster.installJobSets();
    await createJobSet();
    cluster.instead = ({ path }) =>
      path.endsWith('/selfsubjectaccessreviews')
        ? Promise.resolve({
            status: 201,
            headers: { 'content-type': 'application/json' },
            body: Buffer.from(JSON.stringify({ metadata: {}, status: { allowed: false } })),
          })
        : undefined;
    const { run: shown } = await run().until((state) => state.run !== null);
    expect(shown?.actions.map(({ refusal }) => refusal)).toEqual([
      ...Array.from(
        { length: 4 },
        () => 'You lack the right to patch JobSets in namespace default.',
      ),
      'You lack the right to delete JobSets in namespace default.',
    ]);
  });
});

describe('an action', () => {
  test('suspends, resumes, changes a time-out and deletes', async () => {
    await cluster.installJobSets();
    const { metadata } = await createJobSet();
    const of = { namespace: 'default', name: 'train', uid: metadata.uid };
    const at = { namespace: 'default', name: 'train' };
    const { client } = cluster.connection;
    expect(await page.post({ ...of, action: { kind: 'Suspend' } })).toEqual({ problem: null });
    expect((await client.get(JOBSETS, at)).spec.suspend).toBe(true);
    expect(await page.post({ ...of, action: { kind: 'Suspend' } })).toEqual({
      problem: 'The JobSet is suspended already.',
    });
    expect(await page.post({ ...of, action: { kind: 'Resume' } })).toEqual({ problem: null });
    const timeout = { kind: 'SetTimeout', annotation: 'lockstep/progress-timeout' };
    expect(await page.post({ ...of, action: { ...timeout, value: '5m' } })).toEqual({
      problem: null,
    });
    expect((await client.get(JOBSETS, at)).metadata.annotations).toEqual({
      'lockstep/progress-timeout': '5m',
    });
    expect(await page.post({ ...of, action: { ...timeout, value: null } })).toEqual({
      problem: null,
    });
    expect((await client.get(JOBSETS, at)).metadata.annotations ?? {}).toEqual({});
    expect(await page.post({ ...of, action: { kind: 'Restart', epoch: 1 } })).toEqual({
      problem: 'Epoch 1 is not released: its workers do not run yet.',
    });
    expect(await page.post({ ...of, action: { kind: 'Delete' } })).toEqual({ problem: null });
    expect(await page.post({ ...of, action: { kind: 'Delete' } })).toEqual({
      problem: 'JobSet default/train was deleted.',
    });
  });

  test('is refused for another JobSet of the name, and without the right', async () => {
    await cluster.installJobSets();
    const { metadata } = await createJobSet();
    const of = { namespace: 'default', name: 'train', uid: metadata.uid };
    expect(await page.post({ ...of, uid: 'other', action: { kind: 'Delete' } })).toEqual({
      problem: 'JobSet default/train is another one by now: nothing was changed.',
    });
    cluster.forbid = ({ method }) => method !== 'GET';
    expect(await page.post({ ...of, action: { kind: 'Suspend' } })).toEqual({
      problem: 'User "test" cannot do this',
    });
  });
});

describe('a log', () => {
  test('is of members only', async () => {
    await cluster.installJobSets();
    const jobSet = await createJobSet();
    const other = await createJobSet('other');
    await createPod({ ...jobSet, metadata: { ...other.metadata } }, 'stranger');
    const stranger = await log('stranger').until((all) => all.length === 2);
    expect(stranger).toEqual([
      { type: 'Problem', problem: 'Pod stranger is no member of JobSet train.' },
      { type: 'End' },
    ]);
    const [gone] = await log('nothing').until((all) => all.length === 2);
    expect(gone).toEqual({ type: 'Problem', problem: 'Pod nothing is gone, and its log with it.' });
  });

  test('carries long lines, bytes that are no text, and none of the agent', async () => {
    await cluster.installJobSets();
    const pod = await createPod(await createJobSet(), 'train-w-0-0');
    const text = Buffer.concat([
      line(1, Buffer.from('<script>\u001b[31m')),
      line(2, Buffer.alloc(1024 * 1024, 'a')),
      line(3, Buffer.from([0xff, 0x00, 0xfe])),
    ]);
    cluster.instead = ({ path }) =>
      path.includes(`/pods/${pod.metadata.name}/log`)
        ? Promise.resolve({ status: 200, headers: {}, body: text })
        : undefined;
    const messages = await log('train-w-0-0').until((all) => all.length > 0);
    const [first] = messages;
    const lines = first?.type === 'Lines' ? first.lines.map((each) => each.text) : [];
    expect(lines).toHaveLength(3);
    expect(lines[0]).toBe('<script>\u001b[31m');
    expect(lines[1]).toMatch(/^a{4000,} … \[cut\]$/);
    expect(lines[2]).toBe('\ufffd\u0000\ufffd');
  });
});

describe('the log of a rank', () => {
  const RANKS = { epoch: 1, world: 4, groups: 2, master: 'train-w-0-0.train' };
  const W = { name: 'w', firstGroupRank: 0, firstRank: 0, processesPerPod: 2, podsPerJob: 2 };
  const TEXTS = ['[2] a', '[3] b', '[30] c', '{"level":"info","logger":"agent"}', '[3] d', '3'];

  /** What a page hears of the log of process 1 in Pod 1. */
  async function ofRank(told: Record<string, string>): Promise<readonly LogMessage[]> {
    await cluster.installJobSets();
    const created = await createJobSet();
    const status = { ranks: { ...RANKS, replicatedJobs: [W] } };
    const jobSet = await cluster.connection.client.update(
      JOBSETS,
      { ...created, status },
      { subresource: 'status' },
    );
    const pod = await createPod(
      jobSet,
      'train-w-0-1',
      {
        labels: { [REPLICATED_JOB_NAME]: 'w', [JOB_INDEX]: '0' },
        annotations: { [COMPLETION_INDEX]: '1' },
      },
      told,
    );
    const lines = TEXTS.map((text, i) => line(i, Buffer.from(text)));
    cluster.instead = ({ path }) =>
      path.includes(`/pods/${pod.metadata.name}/log`)
        ? Promise.resolve({ status: 200, headers: {}, body: Buffer.concat(lines) })
        : undefined;
    return log(pod.metadata.name, '&process=1').until((all) =>
      all.some(({ type }) => type === 'Lines'),
    );
  }

  function textsOf(messages: readonly LogMessage[]): readonly string[] {
    return messages
      .flatMap((one) => (one.type === 'Lines' ? one.lines : []))
      .map(({ text }) => text);
  }

  test('has its lines only', async () => {
    const messages = await ofRank({ [ENV_PROCESSES_PER_POD]: '2' });
    expect(textsOf(messages)).toEqual(['[3] b', '[3] d']);
    expect(messages.map(({ type }) => type)).not.toContain('Whole');
  });

  test.each([
    [{ [ENV_PROCESSES_PER_POD]: '2', [ENV_LOG_PREFIX]: 'Off' }, /^lockstep\/log-prefix is Off/],
    [{}, /^a launcher starts its processes/],
  ])('is the log of the Pod where lines carry no rank: %j', async (told, why) => {
    const messages = await ofRank(told);
    expect(messages[0]).toEqual({ type: 'Whole', why: expect.stringMatching(why) });
    expect(textsOf(messages)).toEqual(['[2] a', '[3] b', '[30] c', '[3] d', '3']);
  });

  test.each(['-1', '64', '1.5', 'x'])('is refused for the process %j', async (process) => {
    const path = `/api/log?namespace=default&name=train&pod=train-w-0-1&process=${process}`;
    expect((await page.fetch(path)).status).toBe(400);
  });
});

function line(second: number, text: Uint8Array): Buffer {
  return Buffer.concat([
    Buffer.from(`2026-01-01T00:00:0${second}.000000000Z `),
    text,
    Buffer.from('\n'),
  ]);
}
