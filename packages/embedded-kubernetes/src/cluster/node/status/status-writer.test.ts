/** Which statuses of a Pod are written, and in what order, to slow and failing servers. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestApi } from '../test-api.fixture.ts';
import { type StatusImportance, StatusWriter } from './status-writer.ts';

let clock: VirtualClock;
let api: TestApi;
let writer: StatusWriter;
/** How long the API server takes for each write. */
let latencyMs: number;

beforeEach(async () => {
  clock = new VirtualClock();
  api = new TestApi(clock, new SeededRandom(1));
  latencyMs = 0;
  await api.start();
  await api.run({ containers: [{ name: 'c', image: 'i' }] });
  await clock.settle();
  const pod: Stored<Pod> | undefined = api.pod;
  if (pod === undefined) throw new Error('the Pod was not created');
  writer = new StatusWriter(pod, slowed(api.client), clock, SILENT);
});

afterEach(async () => {
  writer.stop();
  await api.stop();
});

function slowed(client: Client): Client {
  return new Proxy(client, {
    get: (target, name) => {
      const member = Reflect.get(target, name);
      if (name !== 'patch') return member;
      return async (...args: readonly unknown[]) => {
        await sleep(clock, latencyMs);
        return Reflect.apply(member, target, args);
      };
    },
  });
}

function write(reason: string, importance: StatusImportance): void {
  writer.write({ phase: 'Running', conditions: [], reason }, importance);
}

/** The reasons that the API has shown, in order. */
async function seen(): Promise<readonly string[]> {
  await clock.advance(10_000);
  return api.history.flatMap(({ status }) => status?.reason ?? []);
}

describe('statuses that follow each other at once', () => {
  it.each<[StatusImportance, readonly string[]]>([
    ['latest', ['c']],
    ['step', ['a', 'b', 'c']],
    ['must', ['a', 'b', 'c']],
  ])('are written if they are a %s', async (importance, expected) => {
    for (const reason of ['a', 'b']) write(reason, importance);
    write('c', 'latest');
    expect(await seen()).toEqual(expected);
  });
});

describe('an API server that takes long', () => {
  beforeEach(() => {
    latencyMs = 100;
  });

  it('is spared the steps that are history by then', async () => {
    for (const reason of ['a', 'b', 'c']) write(reason, 'step');
    write('d', 'latest');
    expect(await seen()).toEqual(['a', 'd']);
  });

  it('gets every status that must be seen', async () => {
    for (const reason of ['a', 'b', 'c']) write(reason, 'must');
    write('d', 'latest');
    expect(await seen()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('gets the last status, a step too', async () => {
    for (const reason of ['a', 'b', 'c']) write(reason, 'step');
    expect(await seen()).toEqual(['a', 'c']);
  });
});

it('bounds the statuses that wait for a silent API server, and keeps the newest', async () => {
  api.isOverloaded = true;
  for (let i = 0; i < 100; i++) write(`${i}`, 'must');
  await clock.advance(30_000);
  api.isOverloaded = false;
  const reasons = await seen();
  expect(reasons.length).toBeLessThan(20);
  expect(reasons.at(-1)).toBe('99');
});
