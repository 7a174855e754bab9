import { expect, it } from 'vitest';
import { MAX_LINES } from '../../../messages/log.ts';
import { EMPTY_LOG, withLogMessage } from './log-lines.ts';

const lines = (from: number, count: number) => ({
  type: 'Lines' as const,
  lines: Array.from({ length: count }, (_, i) => ({
    time: '2026-11-23T10:00:00.123456789Z',
    text: `line ${from + i}`,
  })),
});

it('keeps the newest lines, and their numbers', () => {
  let state = withLogMessage(EMPTY_LOG, lines(1, 100));
  expect(state.lines[0]).toEqual({ number: 1, time: '10:00:00.123', text: 'line 1' });
  state = withLogMessage(state, lines(101, MAX_LINES));
  expect(state.lines).toHaveLength(MAX_LINES);
  expect(state.lines[0]).toMatchObject({ number: 101, text: 'line 101' });
  expect(state.lines.at(-1)).toMatchObject({ number: 1100, text: 'line 1100' });
});

it('shows lines of workers as text', () => {
  const line = { time: '\u001b[2J', text: '<script>\u001b[31m\tred\u202e' };
  expect(withLogMessage(EMPTY_LOG, { type: 'Lines', lines: [line] }).lines[0]).toEqual({
    number: 1,
    time: '\\x1b[2J',
    text: '<script>\\x1b[31m    red\\u202e',
  });
});

it('says why there is no log, and when it is over', () => {
  const state = withLogMessage(EMPTY_LOG, { type: 'Problem', problem: 'not allowed' });
  expect(state).toEqual({ ...EMPTY_LOG, problem: 'not allowed' });
  expect(withLogMessage(state, { type: 'Problem', problem: null }).problem).toBeNull();
  expect(withLogMessage(EMPTY_LOG, { type: 'Whole', why: 'no prefix' })).toEqual({
    ...EMPTY_LOG,
    whole: 'no prefix',
  });
  expect(withLogMessage(state, { type: 'End' })).toMatchObject({ isComplete: true, isEnded: true });
});
