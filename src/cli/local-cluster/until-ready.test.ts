import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { MemoryCollection } from '@lockstep/kube/runtime/memory/memory-collection.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { expect, it } from 'vitest';
import { untilReady } from './until-ready.ts';

it('says all that is missing when the time is over', async () => {
  const clock = new VirtualClock();
  const random = new SeededRandom(1);
  const transport = handlerTransport(new MemoryCollection().handler);
  const client = createClient({ transport, clock, random, userAgent: 'test/1' });
  const ready = untilReady(client, ['node-0'], { clock, random, timeoutMs: 7000 });
  const said = expect(ready).rejects.toThrow(
    'not ready after 7 s: Node node-0: it has not registered; CustomResourceDefinition ' +
      'jobsets.jobset.x-k8s.io: the operator has not installed it; MutatingWebhookConfiguration ' +
      'lockstep-mutating-webhook-configuration: the operator has not installed it; ' +
      'ValidatingWebhookConfiguration lockstep-validating-webhook-configuration: the operator has not installed it',
  );
  await clock.advance(7000);
  await said;
});
