import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PERSISTENT_VOLUME_CLAIMS } from '@lockstep/kube/objects/core.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { notFound } from '@lockstep/kube/status-errors.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DEFAULT_FEATURE_GATES } from '../../jobset/feature-gates.ts';
import { WEBHOOK_PATHS } from '../webhooks/webhook-configurations.ts';
import type { WebhookQuestions } from '../webhooks/webhook-handlers.ts';
import { ReviewThread, type ReviewThreadOptions } from './review-thread.ts';

const QUESTIONS: WebhookQuestions = {
  jobSets: {
    claim: ({ name }) => Promise.reject(notFound(PERSISTENT_VOLUME_CLAIMS, name)),
    minimums: () => Promise.resolve({}),
    restartAllProblem: () => Promise.resolve(undefined),
  },
  pods: {
    leaderOf: () => Promise.resolve({ kind: 'NoLeader', why: 'it is not there' }),
    node: () => Promise.resolve(undefined),
    avoidedNodes: () => Promise.resolve([]),
  },
};

let directory: string;
let threads: ReviewThread[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-review-'));
  threads = [];
});
afterEach(async () => {
  for (const thread of threads) await thread.stop();
  await rm(directory, { recursive: true });
});

function threadOf(options: Partial<ReviewThreadOptions> = {}): ReviewThread {
  const thread = new ReviewThread({
    rules: { gates: DEFAULT_FEATURE_GATES },
    logLevel: 'silent',
    clock: nodeClock,
    logger: SILENT,
    questions: QUESTIONS,
    ...options,
  });
  threads.push(thread);
  return thread;
}

/** A thread with another program, which runs for each message that it gets. */
function threadThat(onMessage: string, options: Partial<ReviewThreadOptions> = {}): ReviewThread {
  const path = join(directory, 'thread.mjs');
  writeFileSync(
    path,
    `import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ id }) => { ${onMessage} });`,
  );
  return threadOf({ ...options, program: pathToFileURL(path) });
}

const REPLICATED_JOB = {
  name: 'w',
  template: {
    spec: {
      template: {
        spec: { containers: [{ name: 'c', volumeMounts: [{ name: 'data', mountPath: '/d' }] }] },
      },
    },
  },
};

async function judged(thread: ReviewThread, path: string, spec: object): Promise<HttpResponse> {
  const object = {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name: 'train', namespace: 'ns' },
    spec,
  };
  const request = {
    uid: 'u',
    kind: { group: 'jobset.x-k8s.io', version: 'v1alpha2', kind: 'JobSet' },
    resource: { group: 'jobset.x-k8s.io', version: 'v1alpha2', resource: 'jobsets' },
    operation: 'CREATE',
    namespace: 'ns',
    object,
  };
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request };
  return thread.judge({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(review)),
    signal: new AbortController().signal,
  });
}

function textOf({ body }: HttpResponse): string {
  return Buffer.from(body as Uint8Array).toString();
}

test('a thread judges reviews as the process would', async () => {
  const thread = threadOf();
  const spec = { replicatedJobs: [REPLICATED_JOB] };
  const allowed = await judged(thread, WEBHOOK_PATHS.mutateJobSet, spec);
  expect(JSON.parse(textOf(allowed))).toMatchObject({ response: { uid: 'u', allowed: true } });
  const twice = {
    replicatedJobs: [REPLICATED_JOB],
    successPolicy: { operator: 'All' },
    coordinator: { replicatedJob: 'x' },
  };
  const denied = await judged(thread, WEBHOOK_PATHS.validateJobSet, twice);
  expect(textOf(denied)).toContain('coordinator replicatedJob x does not exist');
  expect((await judged(thread, '/else', spec)).status).toBe(404);
});

test('a thread asks the process for what it has to know of the cluster', async () => {
  const asked: string[] = [];
  const thread = threadOf({
    questions: {
      ...QUESTIONS,
      jobSets: {
        ...QUESTIONS.jobSets,
        claim: ({ namespace, name }) => {
          asked.push(`${namespace}/${name}`);
          return name === 'data-train'
            ? Promise.resolve({
                apiVersion: 'v1',
                kind: 'PersistentVolumeClaim',
                metadata: { namespace, name },
                spec: { volumeName: 'other' },
              })
            : Promise.reject(new Error('the API server is away'));
        },
      },
    },
  });
  const templates = ['data', 'more'].map((name) => ({ metadata: { name }, spec: {} }));
  const spec = { replicatedJobs: [REPLICATED_JOB], volumeClaimPolicies: [{ templates }] };
  const answer = textOf(await judged(thread, WEBHOOK_PATHS.validateJobSet, spec));
  expect(asked.toSorted()).toEqual(['ns/data-train', 'ns/more-train']);
  expect(answer).toContain('retentionPolicy must be retain when PVC exists');
  expect(answer).toContain('cannot look up PVC more-train: the API server is away');
});

test.each([
  ['ends', 'process.exit(1)'],
  ['throws', 'throw new Error("boom")'],
  ['takes all memory', 'const all = []; for (;;) all.push(new Array(1e6).fill(id))'],
])(
  'a thread that %s is replaced, and its reviews are to be asked again',
  async (_what, program) => {
    const thread = threadThat(program);
    for (let turn = 0; turn < 2; turn++) {
      const answer = await judged(thread, WEBHOOK_PATHS.mutateJobSet, {});
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
      expect(textOf(answer)).toContain('the thread that judged it ended');
    }
  },
);

test('a thread that does not end is replaced, however many reviews come meanwhile', async () => {
  const timers = new Set<() => void>();
  const clock = {
    ...nodeClock,
    setTimer: (_ms: number, fire: () => void) => {
      timers.add(fire);
      return { cancel: () => void timers.delete(fire) };
    },
  };
  const thread = threadThat('for (;;);', { clock });
  const first = judged(thread, WEBHOOK_PATHS.mutateJobSet, {});
  const [silence] = timers;
  const second = judged(thread, WEBHOOK_PATHS.mutateJobSet, {});
  expect([...timers]).toEqual([silence]);
  silence?.();
  for (const answer of [await first, await second]) {
    expect(answer.status).toBe(503);
    expect(textOf(answer)).toContain('it was not judged in time');
  }
});
