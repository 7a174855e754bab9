import type { KeyPair } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { expect, test } from 'vitest';
import { DEFAULT_FEATURE_GATES } from '../../jobset/feature-gates.ts';
import { startWebhooks } from './webhooks.ts';

const FIRST: KeyPair = { certificate: 'first', key: 'k1' };
const SECOND: KeyPair = { certificate: 'second', key: 'k2' };

/** Has no objects, and nothing ever happens to them. */
function emptyClient(): Client & MemoryClient {
  const list = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items: [] };
  const watch: Client['watch'] = async function* (_of, { signal }) {
    yield { type: 'BOOKMARK', resourceVersion: '1', initialEventsEnd: true };
    await new Promise((resolve) => signal?.addEventListener('abort', resolve));
  };
  return Object.assign(new MemoryClient(), {
    list: () => Promise.resolve(list),
    listMetadata: () => Promise.resolve(list),
    watch,
  });
}

test('a request that fails is tried again, and ends nothing', async () => {
  const clock = new VirtualClock();
  const refuse = (): Promise<never> => Promise.reject(new Error('the API server is down'));
  const client = Object.assign(emptyClient(), { list: refuse, listMetadata: refuse, get: refuse });
  const failures: unknown[] = [];
  const webhooks = startWebhooks({
    client,
    clock,
    random: new SeededRandom(1),
    logger: SILENT,
    gates: DEFAULT_FEATURE_GATES,
    operatorNamespace: 'lockstep-system',
    secretName: 'unused',
    host: '::',
    install: false,
    listen: () => Promise.reject(new Error('nothing is to be served')),
    cannotListen: (error) => failures.push(error),
  });
  await clock.advance(60_000);
  expect(failures).toEqual([]);
  await webhooks.stop();
});

test('with certificates of somebody else, nothing is made or published, and each new one serves', async () => {
  const clock = new VirtualClock();
  const client = emptyClient();
  const used: KeyPair[] = [];
  let bring: (pair: KeyPair) => void = () => undefined;
  let isFollowed = true;
  const webhooks = startWebhooks({
    client,
    clock,
    random: new SeededRandom(1),
    logger: SILENT,
    gates: DEFAULT_FEATURE_GATES,
    operatorNamespace: 'lockstep-system',
    secretName: 'unused',
    host: '::',
    address: { kind: 'Service', namespace: 'lockstep-system', name: 'hooks' },
    install: false,
    certificateFiles: (onChange) => {
      bring = onChange;
      return {
        stop: () => {
          isFollowed = false;
        },
      };
    },
    listen: async (_handler, pair) => {
      used.push(pair);
      return {
        url: 'https://[::]:9443',
        useCertificate: (next) => used.push(next),
        close: () => Promise.resolve(),
      };
    },
    cannotListen: (error) => {
      throw error;
    },
  });
  expect(webhooks.problem()).toBe('there are no certificates yet');
  bring(FIRST);
  await clock.advance(1_000);
  expect(webhooks.problem()).toBeUndefined();
  bring(SECOND);
  await clock.advance(1_000);
  expect(used.at(0)).toBe(FIRST);
  expect(used.at(-1)).toBe(SECOND);
  expect(client.calls, 'no Secret, no configuration').toEqual([]);
  await webhooks.stop();
  expect(isFollowed).toBe(false);
});
