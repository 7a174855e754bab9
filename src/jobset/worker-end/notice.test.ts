import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatNotice, type Notice, parseNotice } from './notice.ts';

const EPOCHS = fc.integer({ min: 1, max: 2147483647 });
const NOTICES: fc.Arbitrary<Notice> = fc.oneof(
  EPOCHS.map((epoch) => ({ epoch })),
  fc.record({ epoch: EPOCHS, end: fc.record({ exitCode: fc.integer({ min: 0, max: 255 }) }) }),
  fc.record({ epoch: EPOCHS, end: fc.record({ signal: fc.constantFrom('SIGKILL', 'SIGSEGV') }) }),
);

describe('a notice', () => {
  it('survives writing and reading', () => {
    fc.assert(
      fc.property(NOTICES, (notice) => {
        expect(parseNotice(formatNotice(notice))).toEqual(notice);
      }),
    );
  });

  it('keeps evidence of the end, as far as there is room', () => {
    const end = { exitCode: 1 } as const;
    const known = { how: 'Exited', byItself: true, silentMs: 3, step: 330 } as const;
    const text = (lastWords: string): string =>
      formatNotice({ epoch: 3, end, ended: { evidence: { ...known, lastWords }, atMs: -12 } });
    expect(parseNotice(text('out of data'))).toEqual({
      epoch: 3,
      end,
      ended: { evidence: { ...known, lastWords: 'out of data' }, atMs: -12 },
    });
    const unfit = 'no GPU';
    const failed = formatNotice({
      epoch: 3,
      end,
      ended: { evidence: { ...known, unfit, lastWords: '{'.repeat(900) }, atMs: -12 },
    });
    expect(parseNotice(failed)?.ended).toMatchObject({
      evidence: { unfit, lastWords: '{'.repeat(512) },
    });
    const long = text('\n'.repeat(600));
    expect(long.length).toBeLessThanOrEqual(1000);
    expect(parseNotice(long)).toMatchObject({ epoch: 3, end, ended: { evidence: known } });
  });

  it('counts evidence that is malformed as none', () => {
    const end = { epoch: 3, exitCode: 1 };
    for (const ended of [7, 'x', null, [], {}, { how: 'Exited' }, { how: 'Fell', agoMs: 1 }]) {
      expect(parseNotice(JSON.stringify({ ...end, ended }))).toEqual({
        epoch: 3,
        end: { exitCode: 1 },
      });
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
