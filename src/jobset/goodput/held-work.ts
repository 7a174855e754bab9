/**
 * Judges work that workers may have saved when they were told to end, without a report: by the
 * checkpoint from which the next epoch continues (`docs/design/goodput.md#when-it-is-written`).
 */
import type { Course, Goodput, RestartRecord } from '../jobset-status.ts';
import { decidesPending, type Moment, plus } from './account.ts';
import { extended, filled, hasGap } from './course.ts';
import { isSoundCourse } from './sound.ts';
import { courseOf } from './stretches.ts';

interface Judged {
  readonly goodput: Goodput;
  readonly records: readonly RestartRecord[];
}

/** Returns both unchanged as long as it is unknown whether the work was saved. */
export function judgeHeldWork(
  goodput: Goodput,
  records: readonly RestartRecord[],
  moment: Moment,
): Judged {
  const { held, ...rest } = goodput;
  const isSaved = held === undefined ? undefined : wasSaved(goodput, moment);
  if (held === undefined || isSaved === undefined) return { goodput, records };
  const name = isSaved ? 'Productive' : 'Lost';
  const fill = (course: Course): Course => {
    const { fromMs } = course;
    return extended({ fromMs, parts: [] }, filled(course, held, name), undefined);
  };
  return {
    goodput: {
      ...plus(rest, isSaved ? 'productiveMs' : 'lostMs', held.ms),
      ...(goodput.course && { course: fill(courseOf(goodput)) }),
    },
    records: records.map((record) =>
      isSoundCourse(record.course) && hasGap(record.course, held)
        ? { ...record, course: fill(record.course) }
        : record,
    ),
  };
}

/** Undefined: that is not known yet. */
function wasSaved(goodput: Goodput, moment: Moment): boolean | undefined {
  const { checkpoint = -1, stepped } = goodput;
  const { restored, firstStepMs } = moment.told;
  if (typeof restored === 'number' && restored > checkpoint) return true;
  if (moment.next === 'Finished' || !moment.isGroup || restored !== undefined) return false;
  const hasStepped = stepped === true || firstStepMs !== undefined;
  return hasStepped && decidesPending(goodput, moment) ? false : undefined;
}
