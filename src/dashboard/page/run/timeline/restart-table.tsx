/** What the timeline draws of restarts, for readers who do not see it. */
import type { ReportedRestart } from '../../../../jobset/view/reported-restarts.ts';
import type { EpochCost } from '../../../messages/run.ts';
import { shown } from '../../elements/shown-text.ts';
import { zoneText } from '../../elements/time-text.ts';
import { restartInWords } from '../restart/words.ts';
import { exact, rough } from '../words.ts';
import { momentText } from './ticks.ts';

/** A restart with the moment of its mark. */
export interface DatedRestart {
  readonly atMs: number;
  readonly record: ReportedRestart;
  /** Undefined: nothing is known of it. */
  readonly cost: EpochCost | undefined;
  /** The JobSet failed with it. */
  readonly isFinal: boolean;
}

export interface RestartTableProps {
  /** The oldest first. */
  readonly restarts: readonly DatedRestart[];
  readonly offset: number;
}

export function RestartTable({ restarts, offset }: RestartTableProps) {
  if (restarts.length === 0) return <p class="visually-hidden">It has not restarted.</p>;
  // A table would not shrink to a point.
  return (
    <div class="visually-hidden">
      <table>
        <caption>Restarts, the oldest first</caption>
        <thead>
          <tr>
            <th scope="col">Ended epoch</th>
            <th scope="col">When, in {zoneText(offset)}</th>
            <th scope="col">Why</th>
            <th scope="col">Until all were at the barrier</th>
            <th scope="col">What it cost</th>
          </tr>
        </thead>
        <tbody>
          {restarts.map(({ atMs, record, cost, isFinal }) => {
            const { announceMs } = record.phases ?? {};
            const untold = isFinal ? 'did not happen' : 'not known';
            return (
              <tr key={record.epoch}>
                <th scope="row">{record.epoch}</th>
                <td>{momentText(atMs, offset, 3)}</td>
                <td>{shown(restartInWords(record), 300)}</td>
                <td>{announceMs === undefined ? untold : exact(announceMs)}</td>
                <td>{cost === undefined ? 'not known' : rough(cost.totalMs)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
