import { expect, it } from 'vitest';
import { until } from './until.fixture.ts';

it('resolves with the first value that is not false', async () => {
  const values = [false, false, 0];
  expect(await until('a number', () => values.shift())).toBe(0);
  expect(values).toEqual([]);
});

it('looks again after a failure', async () => {
  let looks = 0;
  const third = (): void => expect(++looks).toBe(3);
  await until('the third look', third);
  expect(looks).toBe(3);
});

it('says what did not come, and what was seen last', async () => {
  const seen = [1, 2].values();
  const look = (): void => expect(seen.next().value).toBe('ready');
  await expect(until('the worker is ready', look, 0)).rejects.toThrow(
    /^not within 0 ms: the worker is ready; seen last: expected 1 to be 'ready'/,
  );
  await expect(until('it is there', () => false, 0)).rejects.toThrow('seen last: false');
});
