/** API servers that fail, shed load or fall silent in the middle of a restart. */

import { readFileSync } from 'node:fs';
import type { ClientRequest } from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import { type Resource, resource } from '@lockstep/kube/resource.ts';
import { createHttpTransport } from '@lockstep/kube/runtime/adapters/http-transport.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { sha1 } from '@lockstep/kube/runtime/adapters/sha1.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { failure } from '@lockstep/kube/status.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { WorkerGroup } from '../../src/bench/worker-group.ts';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { startOperator } from '../../src/operator/operator.ts';
import { createNodeFeatures } from '../../src/operator/tracking/node-features.ts';
import { CONTROL_PLANE, EXCEPTIONS, KUBERNETES } from '../kubernetes.ts';
import { type ApiProxy, FAIR, refusal } from './api-proxy.fixture.ts';
import {
  ClusterInBadWeather,
  expectOneRestart,
  expectRunning,
  lose,
  OPERATOR,
  RUNTIME,
  until,
} from './bad-weather.fixture.ts';

const cluster = new ClusterInBadWeather();
let proxy: ApiProxy;
beforeAll(async () => {
  await cluster.start();
  proxy = await cluster.proxy();
});
afterEach(() => {
  proxy.weather = FAIR;
});
afterAll(() => cluster.stop());

describe('an operator process', () => {
  let stop: () => Promise<void>;
  beforeAll(() => {
    const operator = cluster.startOperator(proxy);
    stop = () => operator.kill();
  });
  afterAll(() => stop());

  test('continues from a new list when the history has been compacted', async () => {
    const group = await cluster.group('compacted');
    proxy.weather = () => Promise.reject(new Error('no connection'));
    proxy.cut();
    await lose(group);
    if (CONTROL_PLANE === undefined) {
      proxy.weather = (request, forward) =>
        /resourceVersion=\d/.test(request.path) && proxy.count(EXPIRED.code) < WATCHES
          ? Promise.resolve(refusal(EXPIRED))
          : forward();
    } else {
      await forgetHistory(CONTROL_PLANE, group);
      proxy.weather = FAIR;
    }
    expectRunning(group, 0, 2);
    await expectOneRestart(group);
    await cluster.remove(group);
    expect(proxy.count(EXPIRED.code)).toBeGreaterThan(0);
  });

  test('comes back when it is turned away with 429', async () => {
    const group = await cluster.group('throttled');
    const relent = await throttle();
    await lose(group);
    await until('it was turned away', () => proxy.count(BUSY.code) >= 3);
    expectRunning(group, 0, 2);
    await relent();
    await expectOneRestart(group);
    await cluster.remove(group);
  });
});

test('an operator notices a watch on which nothing comes any more', async () => {
  const transport = createHttpTransport({ server: proxy.url });
  const clock = hurried(60);
  const client = createClient({ ...RUNTIME, clock, transport, userAgent: 'silenced' });
  const at = { logger: SILENT, namespace: OPERATOR.namespace };
  const nodeFeatures = createNodeFeatures({ client: cluster.client, clock: nodeClock, ...at });
  const operator = await startOperator({
    ...RUNTIME,
    clock,
    client,
    sha1,
    logger: SILENT,
    config: { agentImage: 'agent' },
    ...(EXCEPTIONS.podsAreNotRestarted ? { nodeFeatures } : {}),
  });
  const group = await cluster.group('silenced');
  proxy.silence();
  await lose(group);
  expectRunning(group, 0, 2);
  await expectOneRestart(group);
  await cluster.remove(group);
  await operator.stop();
  transport.close();
});

const EXPIRED = failure('Expired', 'too old resource version');
const BUSY = failure('TooManyRequests', 'too many requests', { retryAfterSeconds: 1 });
/** The watches of an operator. */
const WATCHES = 6;

const ATTEMPT_MS = 3000;
/** How many requests to send while one may still be on its way. */
const ASKS_PER_TRY = 50;
/** After so many refusals the endless request is certain to be in its place. */
const REFUSALS_IN_A_ROW = 30;

/** Drops the history of etcd, and restarts the API server, which has a history of its own. */
async function forgetHistory(controlPlane: string, group: WorkerGroup): Promise<void> {
  const { metadata } = await cluster.client.list(JOBSETS);
  const etcd = readFileSync(join(controlPlane, 'etcd.url'), 'utf8');
  const compacted = await fetch(`${etcd}/v3/kv/compaction`, {
    method: 'POST',
    body: JSON.stringify({ revision: metadata.resourceVersion, physical: true }),
  });
  expect(compacted.status).toBe(200);
  process.kill(Number(readFileSync(join(controlPlane, 'kube-apiserver.pid'), 'utf8')), 'SIGKILL');
  await until('the API server is back', () =>
    // The usual client retries patiently; this one does not.
    cluster.client.list(JOBSETS, { signal: AbortSignal.timeout(ATTEMPT_MS) }).then(
      () => true,
      () => false,
    ),
  );
  expectRunning(group, 0, 2);
}

const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io/v1';
interface Specified extends KubeObject {
  readonly spec: object;
}
const PRIORITY_LEVELS: Resource<Specified> = resource(
  FLOW_CONTROL,
  'prioritylevelconfigurations',
  'PriorityLevelConfiguration',
  'Cluster',
);
const FLOW_SCHEMAS: Resource<Specified> = resource(
  FLOW_CONTROL,
  'flowschemas',
  'FlowSchema',
  'Cluster',
);
const NAME = { name: 'bad-weather' };

/** Refuses all requests of operators until the result is called; open watches stay. */
async function throttle(): Promise<() => Promise<void>> {
  if (KUBERNETES === undefined) {
    proxy.weather = () => Promise.resolve(refusal(BUSY));
    return async () => {
      proxy.weather = FAIR;
    };
  }
  await cluster.client.create(PRIORITY_LEVELS, {
    apiVersion: FLOW_CONTROL,
    kind: PRIORITY_LEVELS.kind,
    metadata: NAME,
    spec: {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: 0,
        lendablePercent: 0,
        borrowingLimitPercent: 0,
        limitResponse: { type: 'Reject' },
      },
    },
  });
  await cluster.client.create(FLOW_SCHEMAS, {
    apiVersion: FLOW_CONTROL,
    kind: FLOW_SCHEMAS.kind,
    metadata: NAME,
    spec: {
      priorityLevelConfiguration: NAME,
      matchingPrecedence: 2,
      rules: [
        {
          subjects: [{ kind: 'ServiceAccount', serviceAccount: OPERATOR }],
          resourceRules: [
            {
              verbs: ['*'],
              apiGroups: ['*'],
              resources: ['*'],
              namespaces: ['*'],
              clusterScope: true,
            },
          ],
        },
      ],
    },
  });
  // Without any share, requests are still carried out one by one.
  const only = await endlessRequest();
  let asked = 0;
  let refused = 0;
  await until('others are turned away', async () => {
    refused = (await codeOfRequest()) === BUSY.code ? refused + 1 : 0;
    // A single refusal may be due to a request of an operator, which is over in a moment.
    if (refused === REFUSALS_IN_A_ROW) return true;
    // The request came in before the server knew of the level, and holds up no other.
    if (refused === 0 && ++asked % ASKS_PER_TRY === 0) only.renew();
    return false;
  });
  return async () => {
    only.end();
    await cluster.client.delete(FLOW_SCHEMAS, NAME);
    await cluster.client.delete(PRIORITY_LEVELS, NAME);
  };
}

/**
 * Sends requests of an operator without their bodies, until one is neither answered nor refused.
 */
async function endlessRequest(): Promise<{ renew(): void; end(): void }> {
  const { server, tls } = cluster.access;
  const token = await cluster.token();
  let isOver = false;
  let message: ClientRequest;
  const send = (): void => {
    if (isOver) return;
    const sent = https.request(`${server}/api/v1/namespaces/default/configmaps`, {
      method: 'POST',
      ca: tls.certificateAuthority,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': 2,
      },
    });
    message = sent;
    sent.on('error', () => undefined);
    sent.on('response', (response) => response.resume());
    // The request was answered, refused or broken: try the next one.
    sent.on('close', () => {
      if (message === sent) send();
    });
    sent.flushHeaders();
  };
  send();
  return {
    renew: () => message.destroy(),
    end: () => {
      isOver = true;
      message.destroy();
    },
  };
}

async function codeOfRequest(): Promise<number> {
  const response = await fetch(`${proxy.url}/api/v1/namespaces`);
  await response.arrayBuffer();
  return response.status;
}

/** A clock on which minutes take seconds; dates are unchanged. */
function hurried(times: number): Clock {
  return {
    now: () => nodeClock.now(),
    monotonic: () => nodeClock.monotonic() * times,
    setTimer: (delayMs, callback) => nodeClock.setTimer(delayMs / times, callback),
  };
}
