import { describe, expect, it } from 'vitest';
import { formatMarker, type Marker, parseMarker } from './marker.ts';

const EPOCHS = { announced: 3, started: 2, starts: 1 };

describe('a marker', () => {
  it.each<Marker>([
    EPOCHS,
    { ...EPOCHS, hung: { epoch: 2, silentMs: 61_000, endedMs: 1_767_225_600_000 } },
    {
      ...EPOCHS,
      hung: { epoch: 2, silentMs: 61_000, step: 330, longestMs: 900, endedMs: 1_767_225_600_000 },
      learnt: { members: 64, steps: 10, longestMs: 900, hungStep: 330, isPatient: true },
    },
    { ...EPOCHS, learnt: { members: 64, steps: 1 } },
  ])('survives writing and reading: %o', (marker) => {
    expect(parseMarker(formatMarker(marker))).toEqual(marker);
  });

  it.each([
    ['hung', { epoch: 2, silentMs: -1, endedMs: 1 }],
    ['hung', { epoch: 'x', silentMs: 1, endedMs: 1 }],
    ['hung', { epoch: 2, silentMs: 1 }],
    ['hung', { epoch: 2, silentMs: 1, endedMs: 1, step: 0.5 }],
    ['hung', []],
    ['learnt', { members: 4 }],
    ['learnt', { members: 4, steps: 1, longestMs: '9' }],
    ['learnt', null],
  ])('keeps its epochs when %s is %o', (name, value) => {
    expect(parseMarker(JSON.stringify({ ...EPOCHS, [name]: value }))).toEqual(EPOCHS);
  });

  it.each(['', '{', 'null', '[]', '7', '{"announced":3,"started":2}'])('is not %s', (text) => {
    expect(parseMarker(text)).toBeUndefined();
  });
});
