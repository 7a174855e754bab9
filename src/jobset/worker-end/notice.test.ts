import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatNotice, type Notice, parseNotice } from './notice.ts';
import { type WorkerEnd, withoutSigns } from './worker-end.ts';

const FAILED: WorkerEnd = {
  epoch: 3,
  how: 'Exited',
  exit: { exitCode: 1 },
  restartsGroup: true,
  silentMs: 3,
  step: 330,
  atMs: -12,
};
const EPOCHS = fc.integer({ min: 1, max: 2147483647 });
const EXITS = fc.oneof(
  fc.record({ exitCode: fc.integer({ min: 0, max: 255 }) }),
  fc.record({ signal: fc.constantFrom('SIGKILL', 'SIGSEGV') }),
);
const NOTICES: fc.Arbitrary<Notice> = fc.oneof(
  EPOCHS.map((epoch) => ({ epoch })),
  fc.tuple(EPOCHS, EXITS).map(([epoch, exit]) => noticeOf({ ...FAILED, epoch, exit })),
  fc
    .tuple(EPOCHS, EXITS)
    .map(([epoch, exit]) => noticeOf({ ...withoutSigns(FAILED), epoch, exit })),
);

function noticeOf(end: WorkerEnd): Notice {
  return { epoch: end.epoch, end };
}

describe('a notice', () => {
  it('survives writing and reading', () => {
    fc.assert(
      fc.property(NOTICES, (notice) => {
        expect(parseNotice(formatNotice(notice))).toEqual(notice);
      }),
    );
  });

  it('keeps the signs of the end, as far as there is room', () => {
    const kept = (end: WorkerEnd) => parseNotice(formatNotice(noticeOf(end)));
    const said = { ...FAILED, lastWords: 'out of data' };
    expect(kept(said)).toEqual(noticeOf(said));
    const unfit = { ...FAILED, unfit: 'no GPU' };
    expect(kept({ ...unfit, lastWords: '{'.repeat(900) })).toEqual(
      noticeOf({ ...unfit, lastWords: '{'.repeat(512) }),
    );
    const long = formatNotice(noticeOf({ ...FAILED, lastWords: '\n'.repeat(600) }));
    expect(long.length).toBeLessThanOrEqual(1000);
    expect(parseNotice(long)).toMatchObject({ end: FAILED });
  });

  it('counts signs that are malformed as none', () => {
    const end = { epoch: 3, exitCode: 1 };
    for (const ended of [7, 'x', null, [], {}, { how: 'Exited' }, { how: 'Fell', agoMs: 1 }]) {
      expect(parseNotice(JSON.stringify({ ...end, ended }))).toEqual(
        noticeOf(withoutSigns(FAILED)),
      );
    }
  });

  it('is a plain number where the agent cannot know how its worker ended', () => {
    expect(formatNotice({ epoch: 3 })).toBe('3');
  });

  it.each([
    '',
    '0',
    '-1',
    '1.5',
    '99999999999',
    'null',
    '[]',
    '{',
    '{"epoch":"3"}',
    '{"epoch":3}',
    '{"epoch":3,"exitCode":256}',
    '{"epoch":3,"exitCode":1,"signal":"SIGKILL"}',
    '{"epoch":3,"signal":"kill"}',
    `{"epoch":3,"exitCode":1,"x":"${'y'.repeat(2000)}"}`,
  ])('is not made of %s', (text) => {
    expect(parseNotice(text)).toBeUndefined();
  });

  it('never throws on arbitrary text', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseNotice(text)));
    fc.assert(fc.property(fc.json(), (text) => void parseNotice(text)));
  });
});
