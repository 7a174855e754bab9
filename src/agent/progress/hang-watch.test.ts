import { describe, expect, it } from 'vitest';
import type { ProgressTimeouts } from '../../jobset/progress/progress-timeouts.ts';
import type { Learnt } from '../marker.ts';
import { HangWatch } from './hang-watch.ts';
import { MemberProgress } from './member-progress.ts';

const LOOK_MS = 250;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A worker, its reports, and the watch over it. Time passes in looks. */
class Scene {
  readonly progress = new MemberProgress();
  readonly hangs: HangWatch;
  nowMs = 5000;

  readonly timeouts: ProgressTimeouts;

  constructor(timeouts: ProgressTimeouts, kept?: Learnt) {
    this.timeouts = timeouts;
    this.hangs = new HangWatch(this.progress, kept);
    this.begin();
  }

  begin(members = 4): void {
    this.hangs.begin(members);
    this.progress.begin(this.nowMs);
  }

  say(line: string): void {
    expect(this.progress.took(line)).toBe(true);
  }

  /** Lets the worker be silent; the times of the questions, from now. Every one stays open. */
  silent(ms: number): readonly number[] {
    const asked: number[] = [];
    for (let passed = LOOK_MS; passed <= ms; passed += LOOK_MS) {
      this.nowMs += LOOK_MS;
      this.progress.look(this.nowMs);
      if (this.hangs.look(this.nowMs, this.timeouts) === 'Ask') asked.push(passed);
    }
    return asked;
  }

  /** Steps at regular times. */
  steps(count: number, everyMs: number, from = 0): void {
    for (let step = from; step < from + count; step++) {
      expect(this.silent(everyMs)).toEqual([]);
      this.say(`${step}`);
    }
  }

  /** When the worker is silent for too long, from its last line; undefined: not within `ms`. */
  due(ms: number): number | undefined {
    return this.silent(ms)[0];
  }
}

describe('a worker is asked about when it is silent for too long', () => {
  it.each<[string, ProgressTimeouts, readonly string[], number | undefined]>([
    ['never, when both time-outs are Off', {}, ['1'], undefined],
    ['never before its first line', { progressTimeout: 10_000 }, [], undefined],
    ['after the time-out', { progressTimeout: 10_000 }, ['1'], 10_000],
    [
      'after any line, also one without a step',
      { progressTimeout: 10_000 },
      ['phase=load'],
      10_000,
    ],
    [
      'after the first time-out, before its first line',
      { firstProgressTimeout: 30_000 },
      [],
      30_000,
    ],
    [
      'not by the first time-out after its first line',
      { firstProgressTimeout: 30_000 },
      ['0'],
      undefined,
    ],
    [
      'after the time of its phase, if that is longer',
      { progressTimeout: 10_000 },
      ['7', '7 phase=evaluate timeout=20m'],
      20 * MINUTE_MS,
    ],
    [
      'after the time of its phase, if that is shorter',
      { progressTimeout: 60_000 },
      ['7 phase=warm timeout=2s'],
      2000,
    ],
    ['never in a phase without end', { progressTimeout: 10_000 }, ['7 timeout=none'], undefined],
    ['never in a phase, when it is Off', {}, ['7 phase=evaluate timeout=20s'], undefined],
    [
      'after the usual time, when another line follows the phase',
      { progressTimeout: 10_000 },
      ['7 phase=evaluate timeout=20m', '8'],
      10_000,
    ],
    ['never by Auto, before ten steps', { progressTimeout: 'Auto' }, ['1', '2', '3'], undefined],
  ])('%s', (_, timeouts, lines, expected) => {
    const scene = new Scene(timeouts);
    for (const line of lines) scene.say(line);
    expect(scene.due(HOUR_MS)).toBe(expected);
  });

  it('less and less often, until an answer comes to one of these questions', () => {
    const scene = new Scene({ progressTimeout: 10_000 });
    scene.say('1');
    const earlierMs = scene.nowMs;
    expect(scene.silent(33_000)).toEqual([10_000, 11_000, 13_000, 17_000, 25_000, 33_000]);
    expect(scene.hangs.asks).toBe(6);
    scene.hangs.answered(earlierMs + 9999);
    expect(scene.hangs.look(scene.nowMs, scene.timeouts)).toBeUndefined();
    scene.hangs.answered(earlierMs + 10_000);
    expect(scene.hangs.look(scene.nowMs, scene.timeouts)).toBe('Hung');
  });

  it('and runs on when it reports before the answer', () => {
    const scene = new Scene({ progressTimeout: 10_000 });
    scene.say('1');
    expect(scene.due(10_000)).toBe(10_000);
    scene.say('2');
    scene.hangs.look(scene.nowMs, scene.timeouts);
    scene.hangs.answered(scene.nowMs);
    expect(scene.hangs.look(scene.nowMs, scene.timeouts)).toBeUndefined();
    expect(scene.due(10_000)).toBe(10_000);
    expect(scene.hangs.look(scene.nowMs, scene.timeouts)).toBeUndefined();
  });

  it('and runs on when the time-out is switched Off before the answer', () => {
    const scene = new Scene({ progressTimeout: 10_000 });
    scene.say('1');
    expect(scene.due(10_000)).toBe(10_000);
    scene.hangs.look(scene.nowMs, {});
    scene.hangs.answered(scene.nowMs);
    expect(scene.hangs.look(scene.nowMs, {})).toBeUndefined();
    // The question from before the switch does not count either.
    expect(scene.hangs.look(scene.nowMs + LOOK_MS, scene.timeouts)).toBe('Ask');
  });

  it('but not because the machine was paused', () => {
    const scene = new Scene({ progressTimeout: 10_000 });
    scene.say('1');
    expect(scene.silent(5000)).toEqual([]);
    for (let pause = 0; pause < 4; pause++) {
      scene.nowMs += HOUR_MS;
      expect(scene.silent(LOOK_MS)).toEqual([]);
    }
  });
});

describe('Auto', () => {
  const after = (longestMs: number): number | undefined => {
    const scene = new Scene({ progressTimeout: 'Auto' });
    scene.steps(9, 1000);
    scene.silent(longestMs);
    scene.say('9');
    return scene.due(2 * HOUR_MS);
  };

  it.each<[string, number, number]>([
    ['at least five minutes', 1000, 5 * MINUTE_MS],
    ['five times the longest silence between two steps', 2 * MINUTE_MS, 10 * MINUTE_MS],
    ['at most an hour', 30 * MINUTE_MS, HOUR_MS],
  ])('is %s', (_, longestMs, expected) => {
    expect(after(longestMs)).toBe(expected);
  });

  it('learns nothing from a silence that ended in death, and forgets nothing with a worker', () => {
    const scene = new Scene({ progressTimeout: 'Auto' });
    scene.steps(10, 2 * MINUTE_MS);
    scene.silent(4 * MINUTE_MS);
    scene.begin();
    scene.say('9');
    expect(scene.due(HOUR_MS)).toBe(10 * MINUTE_MS);
  });

  it('is kept through a restart of the agent, but not for a group of another size', () => {
    const first = new Scene({ progressTimeout: 'Auto' });
    first.steps(10, 2 * MINUTE_MS);
    const kept = first.hangs.keep();
    expect(kept).toEqual({ members: 4, steps: 10, longestMs: 2 * MINUTE_MS });
    const next = new Scene({ progressTimeout: 'Auto' }, kept);
    next.say('9');
    expect(next.due(HOUR_MS)).toBe(10 * MINUTE_MS);
    const larger = new Scene({ progressTimeout: 'Auto' }, { ...kept, members: 5 });
    larger.say('9');
    expect(larger.due(HOUR_MS)).toBeUndefined();
    first.begin(5);
    first.say('9');
    expect(first.due(HOUR_MS)).toBeUndefined();
  });

  it('is worth a write of the marker only when it has grown by a minute', () => {
    const scene = new Scene({ progressTimeout: 'Auto' });
    const writes: number[] = [];
    for (let step = 0; step < 1000; step++) {
      // Each step takes a tenth of a second longer.
      scene.silent(1000 + Math.floor(step / 10) * LOOK_MS * 4);
      scene.say(`${step}`);
      if (!scene.hangs.isNews) continue;
      writes.push(step);
      scene.hangs.keep();
    }
    expect(writes[0]).toBe(9);
    expect(writes).toHaveLength(4);
  });

  const hangs = (scene: Scene, step: number): void => {
    scene.begin();
    scene.say(`${step}`);
    scene.hangs.noteHang();
  };

  it.each<[string, readonly number[], number]>([
    ['stays after a hang', [20], 5 * MINUTE_MS],
    ['stays after a second hang at a later step', [20, 21], 5 * MINUTE_MS],
    ['is four times as long after a second hang at the same step', [20, 20], 20 * MINUTE_MS],
    ['is so after one at an earlier step', [20, 18], 20 * MINUTE_MS],
    ['grows only once', [20, 18, 18], 20 * MINUTE_MS],
  ])('%s', (_, steps, expected) => {
    const scene = new Scene({ progressTimeout: 'Auto' });
    scene.steps(10, 1000);
    for (const step of steps) hangs(scene, step);
    scene.begin();
    scene.say('5');
    expect(scene.due(2 * HOUR_MS)).toBe(expected);
  });
});

describe('a worker that is told to stop', () => {
  it.each<[string, ProgressTimeouts, readonly string[], number, boolean]>([
    ['was silent after half its time-out', { progressTimeout: 10_000 }, ['1'], 5000, true],
    ['was not before', { progressTimeout: 10_000 }, ['1'], 4750, false],
    ['was not without a time-out', {}, ['1'], HOUR_MS, false],
    ['was not before its first line', { progressTimeout: 10_000 }, [], HOUR_MS, false],
    [
      'was silent after half of the first time-out',
      { firstProgressTimeout: 10_000 },
      [],
      5000,
      true,
    ],
    ['was not in a phase', { progressTimeout: 10_000 }, ['1 timeout=20m'], 9 * MINUTE_MS, false],
  ])('%s', (_, timeouts, lines, ms, expected) => {
    const scene = new Scene(timeouts);
    for (const line of lines) scene.say(line);
    scene.silent(ms);
    expect(scene.hangs.isSilent(timeouts)).toBe(expected);
  });
});
