import { describe, expect, test } from 'vitest';
import { FIRST_PROGRESS_TIMEOUT, PROGRESS_TIMEOUT } from '../names.ts';
import { parseTimeouts, progressTimeoutErrors, progressTimeouts } from './progress-timeouts.ts';

describe('the time-outs of progress', () => {
  test.each([
    [{}, {}],
    [{ [PROGRESS_TIMEOUT]: 'Off', [FIRST_PROGRESS_TIMEOUT]: 'Off' }, {}],
    [{ [PROGRESS_TIMEOUT]: 'Auto' }, { progressTimeout: 'Auto' }],
    [
      { [PROGRESS_TIMEOUT]: '61s', [FIRST_PROGRESS_TIMEOUT]: '30m' },
      { progressTimeout: 61_000, firstProgressTimeout: 1_800_000 },
    ],
  ])('of %j are valid', (annotations, timeouts) => {
    expect(progressTimeoutErrors(annotations)).toEqual([]);
    expect(progressTimeouts(annotations)).toEqual(timeouts);
    expect(parseTimeouts(timeouts)).toEqual(timeouts);
  });

  test.each([
    [PROGRESS_TIMEOUT, '9s'],
    [PROGRESS_TIMEOUT, 'auto'],
    [PROGRESS_TIMEOUT, ''],
    [PROGRESS_TIMEOUT, '200h'],
    [FIRST_PROGRESS_TIMEOUT, 'Auto'],
    [FIRST_PROGRESS_TIMEOUT, '60'],
  ])('%s of %j is refused, and never ends a worker', (name, text) => {
    const [error, ...others] = progressTimeoutErrors({ [name]: text });
    expect(others).toEqual([]);
    expect(error).toMatchObject({ field: `metadata.annotations[${name}]`, badValue: text });
    expect(progressTimeouts({ [name]: text })).toEqual({});
  });

  test.each([
    { progressTimeout: 'Off' },
    { progressTimeout: 9000 },
    { firstProgressTimeout: 'Auto' },
  ])('%j from a hub counts as none', (fields) => {
    expect(parseTimeouts(fields)).toBeUndefined();
  });
});
