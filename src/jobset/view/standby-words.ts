/** Warm standbys in words. */

import type { Progress } from '../progress/progress.ts';
import { hasNoStandbys, WHY_NO_STANDBYS } from '../progress/standby.ts';
import { exitInWords } from '../worker-end/end-in-words.ts';

type Told = Pick<Progress, 'standby' | 'standbyDeaths'>;

/** Undefined: there is no standby, or it is not ready yet. */
export function standbyInWords(told: Told): string | undefined {
  if (hasNoStandbys(told)) return `none any more: ${WHY_NO_STANDBYS[told.standby]}`;
  const ready = told.standby === 'Ready' ? 'ready' : undefined;
  const words = [ready, standbyDeathsInWords(told)].filter((part) => part !== undefined);
  return words.length === 0 ? undefined : words.join('; ');
}

/**
 * `died 4 times since the release, last: exited with code 1`. Undefined: none died, or the Pod gets
 * no standbys any more, and the reason for that is reported instead.
 */
export function standbyDeathsInWords(told: Told): string | undefined {
  const { standbyDeaths: deaths } = told;
  if (deaths === undefined || hasNoStandbys(told)) return undefined;
  const { count, last } = deaths;
  const times = count === 1 ? 'once' : `${count.toLocaleString('en')} times`;
  const died = `died ${times} since the release`;
  if (last === undefined) return died;
  const how = last === 'NotReady' ? 'was not ready in time' : exitInWords(last);
  return count === 1 ? `${died}: ${how}` : `${died}, last: ${how}`;
}
