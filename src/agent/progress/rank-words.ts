/** The numbers by which a rank names itself in a line of its progress file. */
import { defined } from '@lockstep/kube/json/defined.ts';
import { isRank } from '../../jobset/reported-number.ts';

export interface RankWords {
  /** The number of its process, as it sees it. */
  readonly pid?: number;
  /** Its rank in the whole group, 0 to 2^31 - 1. */
  readonly rank?: number;
}

/** As Linux has it. */
const MAX_PID = 2 ** 22;

/** Leaves out what is out of bounds. */
export function rankWords(line: string): RankWords {
  return defined({
    pid: wordIn(line, 'pid', (value) => value >= 1 && value <= MAX_PID),
    rank: wordIn(line, 'rank', isRank),
  });
}

function wordIn(
  line: string,
  name: string,
  isValid: (value: number) => boolean,
): number | undefined {
  const prefix = `${name}=`;
  const word = line.split(/\s+/).findLast((each) => each.startsWith(prefix)) ?? '';
  const digits = word.slice(prefix.length);
  const value = /^[0-9]{1,10}$/.test(digits) ? Number(digits) : Number.NaN;
  return isValid(value) ? value : undefined;
}
