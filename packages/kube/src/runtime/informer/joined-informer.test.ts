import { expect, it } from 'vitest';
import { PODS, type Pod } from '../../objects/pod.ts';
import { createClient } from '../client/http-client.ts';
import { MemoryCollection } from '../memory/memory-collection.ts';
import { MemoryLogger } from '../memory/memory-logger.ts';
import { handlerTransport } from '../memory/memory-transport.ts';
import { SeededRandom } from '../memory/seeded-random.ts';
import { VirtualClock } from '../memory/virtual-clock.ts';
import { createInformer } from './create-informer.ts';
import { joinedInformer } from './joined-informer.ts';

it('shows several namespaces as one collection, as old as the oldest of them', async () => {
  const clock = new VirtualClock();
  const random = new SeededRandom(7);
  const follow = (server: MemoryCollection) => {
    const transport = handlerTransport(server.handler);
    const client = createClient({ transport, clock, random, userAgent: 'test/1' });
    const logger = new MemoryLogger();
    const indexes = { everything: () => ['all'] };
    return createInformer<Pod>({ client, resource: PODS, clock, random, logger, indexes });
  };
  const [one, two] = [new MemoryCollection(), new MemoryCollection()];
  one.set('a');
  const joined = joinedInformer(
    new Map([
      ['ns', follow(one)],
      ['other', follow(two)],
    ]),
  );
  expect(joined.hasSynced()).toBe(false);
  await clock.settle();
  await joined.whenSynced();
  const seen: string[] = [];
  joined.subscribe({ added: ({ metadata }) => seen.push(metadata.name) });
  for (const name of ['b', 'c', 'd']) two.set(name);
  await clock.settle();
  const names = (pods: Iterable<Pod>) => Array.from(pods, ({ metadata }) => metadata.name);
  expect(seen).toEqual(['a', 'b', 'c', 'd']);
  expect(names(joined.store.values())).toEqual(seen);
  expect(names(joined.store.byIndex('everything', 'all'))).toEqual(seen);
  expect(joined.store.size).toBe(4);
  expect(joined.store.get('ns/a')?.metadata.name).toBe('a');
  expect(joined.store.get('nowhere/a')).toBeUndefined();
  expect(joined.store.resourceVersion).toBe('101');
  await joined.stop();
});
