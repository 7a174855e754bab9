/** Parts of times and durations. */
import { SECOND } from '../duration.ts';
import { DURATION, type Overload, overload, STRING, TIMESTAMP } from '../overload.ts';
import { type TimePart, timePart } from '../timestamp.ts';
import { INT_TYPE } from '../type.ts';

const PARTS: readonly TimePart[] = [
  'getFullYear',
  'getMonth',
  'getDayOfYear',
  'getDayOfMonth',
  'getDate',
  'getDayOfWeek',
  'getHours',
  'getMinutes',
  'getSeconds',
  'getMilliseconds',
];

/** Looking up the rules of a named time zone costs far more than any other step here. */
const ZONE_COST = 100;

/** A whole duration in one unit, rounded towards zero. */
const DURATION_PARTS: readonly (readonly [string, bigint])[] = [
  ['.getHours', 3_600n * SECOND],
  ['.getMinutes', 60n * SECOND],
  ['.getSeconds', SECOND],
  ['.getMilliseconds', SECOND / 1_000n],
];

export const TIME_FUNCTIONS: readonly Overload[] = [
  ...PARTS.flatMap((part) => [
    overload(`.${part}`, [TIMESTAMP], INT_TYPE, ([time]) => timePart(time, part, 'UTC')),
    overload(
      `.${part}`,
      [TIMESTAMP, STRING],
      INT_TYPE,
      ([time, zone]) => timePart(time, part, zone),
      { cost: () => ZONE_COST },
    ),
  ]),
  ...DURATION_PARTS.map(([name, unit]) =>
    overload(name, [DURATION], INT_TYPE, ([{ nanoseconds }]) => nanoseconds / unit),
  ),
];
