import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { expect, test } from 'vitest';
import { MemberProgress } from './member-progress.ts';
import { ProgressFeed } from './progress-feed.ts';
import type { ProgressFile } from './progress-files.ts';

class Scene {
  readonly clock = new VirtualClock();
  readonly logger = new MemoryLogger();
  readonly watch = new MemberProgress();
  line: string | undefined;
  readonly file: ProgressFile = {
    read: async () => {
      const { line } = this;
      this.line = undefined;
      return line;
    },
  };

  feed(file = this.file): ProgressFeed {
    const feed = new ProgressFeed(this);
    feed.add(file);
    return feed;
  }
}

test('takes a report within a quarter of a second, and the last one at the end', async () => {
  const scene = new Scene();
  const feed = scene.feed();
  await scene.clock.advance(1000);
  scene.line = '7';
  await scene.clock.advance(250);
  expect(scene.watch.progress).toEqual({ step: 7, silentMs: 0 });
  scene.line = '8';
  await scene.clock.advance(100);
  await feed.end();
  expect(scene.watch.progress).toEqual({ step: 8, silentMs: 0 });
  expect(scene.clock.pendingTimers).toBe(0);
});

test('tells of malformed lines once, without what they hold', async () => {
  const scene = new Scene();
  const feed = scene.feed();
  for (const line of ['\u001b[2Jsecret', '1 checkpoint=-1', '99999999999999999999']) {
    scene.line = line;
    await scene.clock.advance(250);
  }
  expect(scene.logger.records).toHaveLength(1);
  expect(JSON.stringify(scene.logger.records)).not.toContain('secret');
  await feed.end();
  expect(scene.logger.records.at(-1)?.fields).toMatchObject({ lines: 3 });
  expect(scene.watch.progress).toBeUndefined();
});

test('lets time continue while a file does not answer, and takes nothing late', async () => {
  const scene = new Scene();
  let answer: (line: string) => void = () => undefined;
  const read = () =>
    new Promise<string>((resolve) => {
      answer = resolve;
    });
  const feed = scene.feed({ read });
  await scene.clock.advance(3000);
  expect(scene.watch.silentMs).toBe(3000);
  feed.close();
  answer('7');
  await scene.clock.settle();
  expect(scene.watch.progress).toBeUndefined();
});
