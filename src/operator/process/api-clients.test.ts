import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { describe, expect, it } from 'vitest';
import { type ApiClients, HUB_SHARE, OTHER_SHARE, requestLimits } from './api-clients.ts';

const QPS = 100;

class Scene {
  readonly clock = new VirtualClock();
  readonly sent: Record<keyof ApiClients, number> = { lease: 0, reconcile: 0, hub: 0, other: 0 };
  readonly #limit: ReturnType<typeof requestLimits>;
  readonly #transports = new Map<string, Transport>();

  constructor(perSecond = QPS) {
    this.#limit = requestLimits({ perSecond, burst: QPS }, this);
  }

  /** Returns once `count` requests wait or are sent. */
  ask(purpose: keyof ApiClients, count: number): void {
    const transport = this.#transports.get(purpose) ?? this.#limited(purpose);
    this.#transports.set(purpose, transport);
    for (let i = 0; i < count; i++) {
      const { signal } = new AbortController();
      void transport.send({ method: 'GET', path: '/', headers: {}, signal });
    }
  }

  #limited(purpose: keyof ApiClients): Transport {
    return this.#limit(purpose, {
      send: () => {
        this.sent[purpose]++;
        return Promise.resolve({ status: 200, headers: {}, body: new Uint8Array() });
      },
    });
  }
}

describe('requests for agents, Events and webhooks, however many', () => {
  it('hold up neither the lease nor a restart', async () => {
    const scene = new Scene();
    for (let second = 0; second < 5; second++) {
      scene.ask('hub', 300);
      scene.ask('other', 300);
      scene.ask('lease', 2);
      scene.ask('reconcile', QPS * (1 - HUB_SHARE - OTHER_SHARE));
      await scene.clock.advance(1000);
      expect(scene.sent).toMatchObject({ lease: 2 * (second + 1), reconcile: 50 * (second + 1) });
    }
  });

  it('have no more than their shares', async () => {
    const scene = new Scene();
    scene.ask('hub', 1000);
    scene.ask('other', 1000);
    await scene.clock.advance(9000);
    expect(scene.sent).toMatchObject({ hub: QPS * HUB_SHARE * 10, other: QPS * OTHER_SHARE * 10 });
  });

  it('do not exceed the rate of all together with the requests of reconciling', async () => {
    const scene = new Scene();
    const seconds = 20;
    for (let second = 0; second < seconds; second++) {
      for (const purpose of ['hub', 'other', 'reconcile'] as const) scene.ask(purpose, QPS / 2);
      await scene.clock.advance(1000);
    }
    const { hub, other, reconcile } = scene.sent;
    expect(hub + other + reconcile).toBeLessThanOrEqual(QPS * (seconds + 1.5));
    expect(reconcile).toBeGreaterThanOrEqual(QPS * (seconds / 2 - 1));
  });
});

it('reconciling has the whole rate while it asks alone', async () => {
  const scene = new Scene();
  scene.ask('reconcile', 1001);
  await scene.clock.advance(9000);
  expect(scene.sent.reconcile).toBe(QPS * 10);
});

it('a rate that is very small leaves the lease what it needs', async () => {
  const scene = new Scene(0.1);
  scene.ask('reconcile', 1000);
  scene.ask('lease', 4);
  await scene.clock.advance(1000);
  expect(scene.sent.lease).toBe(4);
});

it('a negative rate limits nothing but the lease', () => {
  const scene = new Scene(-1);
  for (const purpose of ['reconcile', 'hub', 'other', 'lease'] as const) scene.ask(purpose, 1000);
  expect(scene.sent).toEqual({ reconcile: 1000, hub: 1000, other: 1000, lease: 10 });
});
