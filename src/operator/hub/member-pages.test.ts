import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { describe, expect, it } from 'vitest';
import type { MemberReport } from '../../jobset/hub/member-report.ts';
import { MemberPages } from './member-pages.ts';

class Scene {
  readonly clock = new VirtualClock();
  members = 3;
  /** The number of members that were read. */
  looked = 0;
  readonly #pages = new MemberPages(this.clock);

  *#members(): Iterable<MemberReport> {
    for (let i = 0; i < this.members; i++) {
      this.looked++;
      yield { pod: `worker-${i}`, epoch: 1, channel: 'Hub' };
    }
  }

  async page(jobSet = 'uid'): Promise<unknown> {
    const page = this.#pages.page(jobSet, () => this.#members());
    let json: Uint8Array | undefined;
    void page.then((written) => {
      json = written;
    });
    await this.clock.runUntil(() => json !== undefined, 1000);
    return JSON.parse(Buffer.from(json ?? []).toString());
  }
}

describe('the page of a JobSet', () => {
  it('lists its members', async () => {
    const scene = new Scene();
    expect(await scene.page()).toEqual(
      [0, 1, 2].map((i) => ({ pod: `worker-${i}`, epoch: 1, channel: 'Hub' })),
    );
  });

  it('may be of none', async () => {
    const scene = new Scene();
    scene.members = 0;
    expect(await scene.page()).toEqual([]);
  });

  it('is written once for all who ask within a second, and then again', async () => {
    const scene = new Scene();
    for (let i = 0; i < 100; i++) await scene.page();
    expect(scene.looked).toBe(3);
    scene.members = 4;
    await scene.clock.advance(1000);
    expect(await scene.page()).toHaveLength(4);
  });

  it('lets the event loop continue while it is written', async () => {
    const scene = new Scene();
    scene.members = 10_000;
    const page = scene.page();
    expect(scene.looked).toBeLessThan(1000);
    expect(await page).toHaveLength(10_000);
  });

  it('is kept for no more than some hundred JobSets', async () => {
    const scene = new Scene();
    for (let i = 0; i < 300; i++) await scene.page(`uid-${i}`);
    scene.looked = 0;
    await scene.page('uid-299');
    expect(scene.looked).toBe(0);
    await scene.page('uid-0');
    expect(scene.looked).toBe(3);
  });
});
