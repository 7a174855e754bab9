import { expect, test } from 'vitest';
import { ProgressWatch } from './progress-watch.ts';

function watching(): ProgressWatch {
  const watch = new ProgressWatch();
  watch.begin(0);
  return watch;
}

/** Looks four times a second up to that time. */
function passTo(watch: ProgressWatch, fromMs: number, toMs: number): void {
  for (let nowMs = fromMs + 250; nowMs <= toMs; nowMs += 250) watch.look(nowMs);
}

test('a worker that has written nothing has no progress, but is silent', () => {
  const watch = watching();
  passTo(watch, 0, 3000);
  expect(watch.progress).toBeUndefined();
  expect(watch.silentMs).toBe(3000);
});

test('a line says how far the worker is, and a later one keeps what it does not say', () => {
  const watch = watching();
  expect(watch.took('330 checkpoint=300')).toBe(true);
  passTo(watch, 0, 2000);
  expect(watch.progress).toEqual({ step: 330, checkpoint: 300, silentMs: 2000 });
  watch.took('331 phase=evaluate timeout=20m');
  expect(watch.progress).toEqual({ step: 331, checkpoint: 300, phase: 'evaluate', silentMs: 0 });
  expect(watch.allowedSilence).toBe(1_200_000);
  watch.took('332');
  expect(watch.progress).toEqual({ step: 332, checkpoint: 300, silentMs: 0 });
  expect(watch.allowedSilence).toBeUndefined();
});

test('a malformed line changes nothing', () => {
  const watch = watching();
  watch.took('7');
  passTo(watch, 0, 1000);
  expect(watch.took('eight')).toBe(false);
  expect(watch.progress).toEqual({ step: 7, silentMs: 1000 });
});

test('it tells how long ago the first step was, and the newest checkpoint, after its end too', () => {
  const watch = watching();
  passTo(watch, 0, 1000);
  watch.took('phase=load checkpoint=300');
  passTo(watch, 1000, 3000);
  watch.took('301 checkpoint=300');
  passTo(watch, 3000, 4000);
  watch.took('302');
  expect(watch.toldAt(4100)).toMatchObject({ firstStepMs: 1100, checkpointMs: 3100 });
  watch.took('400 checkpoint=400');
  expect(watch.toldAt(60_000)).toMatchObject({ firstStepMs: 57_000, checkpointMs: 56_000 });
  watch.begin(61_000);
  watch.took('phase=load');
  expect(watch.toldAt(62_000)).toEqual({ phase: 'load', silentMs: 0 });
});

test('a pause of the machine counts as one look', () => {
  const watch = watching();
  watch.took('7');
  watch.look(3_600_000);
  expect(watch.silentMs).toBe(1000);
});

test('the longest silence is that between two steps, whatever was written between them', () => {
  const watch = watching();
  passTo(watch, 0, 5000);
  watch.took('1');
  expect(watch.longestMs).toBeUndefined();
  passTo(watch, 5000, 6000);
  watch.took('1 phase=save');
  passTo(watch, 6000, 8000);
  watch.took('2');
  passTo(watch, 8000, 8500);
  watch.took('3');
  expect(watch.longestMs).toBe(3000);
  expect(watch.steps).toBe(3);
});

test('a new worker begins with no progress and no silence', () => {
  const watch = watching();
  watch.took('7');
  passTo(watch, 0, 1000);
  watch.begin(60_000);
  expect(watch.progress).toBeUndefined();
  expect(watch.silentMs).toBe(0);
});

test('a worker that waits for its start has made no progress, and stays silent', () => {
  const watch = watching();
  passTo(watch, 0, 1000);
  expect(watch.took('phase=standby timeout=1h')).toBe(true);
  passTo(watch, 1000, 3000);
  expect(watch.progress).toBeUndefined();
  expect(watch.allowedSilence).toBeUndefined();
  expect(watch.silentMs).toBe(3000);
});
