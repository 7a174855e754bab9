import { expect, test } from 'vitest';
import { type Announcement, announcementFields, parseAnnouncement } from './announcement.ts';
import { type WorkerEnd, withoutSigns } from './worker-end.ts';

const FAILED: WorkerEnd = {
  epoch: 3,
  how: 'Exited',
  exit: { exitCode: 1 },
  restartsGroup: true,
  step: 330,
  atMs: -12,
};
const { restartsGroup: _, ...STOPPED } = { ...FAILED, how: 'Stopped' } as const;

/** As the hub reads what an agent writes. */
function read(announcement: Announcement): Announcement | undefined {
  const text = JSON.stringify(announcementFields(announcement));
  return parseAnnouncement(JSON.parse(text) as Parameters<typeof parseAnnouncement>[0]);
}

test.each<[string, number, WorkerEnd, WorkerEnd | undefined]>([
  ['with its signs to the next epoch', 4, FAILED, FAILED],
  ['without its signs to a later epoch', 6, FAILED, withoutSigns(FAILED)],
  ['without signs that are not known', 4, withoutSigns(FAILED), withoutSigns(FAILED)],
  ['to the next epoch though it restarts no group', 4, STOPPED, STOPPED],
  ['not at all to a later epoch if it restarts no group', 6, STOPPED, undefined],
])('an end is announced %s', (_name, epoch, end, expected) => {
  const announcement = { epoch, starts: 1 };
  expect(read({ ...announcement, end })).toEqual(
    expected === undefined ? announcement : { ...announcement, end: expected },
  );
});

test('signs count only beside a cause of the epoch before', () => {
  const ended = { how: 'Hung', agoMs: 5 };
  const cause = { epoch: 3, exitCode: 1 };
  expect(parseAnnouncement({ epoch: 9, starts: 1, cause, ended })).toEqual({
    epoch: 9,
    starts: 1,
    end: withoutSigns(FAILED),
  });
});
