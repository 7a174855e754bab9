/** One restart: who failed first, how long each phase took, what was said last, what it cost. */
import {
  failureInWords,
  isFailure,
  lastWordsTitle,
} from '../../../../jobset/culprits/failure-words.ts';
import { describeWitness } from '../../../../jobset/epoch/witness.ts';
import type { TimelineSegment } from '../../../../jobset/goodput/timeline.ts';
import type { LastWords, Suspect } from '../../../../jobset/jobset-status.ts';
import type { ReportedRestart } from '../../../../jobset/view/reported-restarts.ts';
import { causeInWords, countedInWords } from '../../../../jobset/view/restart-words.ts';
import type { EpochCost } from '../../../messages/run.ts';
import { shown } from '../../elements/shown-text.ts';
import { zoneText } from '../../elements/time-text.ts';
import { momentText } from '../timeline/ticks.ts';
import { classWords, exact, percent, rough } from '../words.ts';
import { lastLines } from './last-words.ts';
import { type Phase, waterfallOf } from './phases.ts';
import { culpritOf } from './words.ts';

/** UTF-16 code units of a reason that are shown; the last words say more. */
const WHY_LENGTH = 400;

export interface RestartProps {
  readonly record: ReportedRestart;
  readonly segments: readonly TimelineSegment[];
  /** Undefined: nothing is known of it. */
  readonly cost: EpochCost | undefined;
  readonly isNewest: boolean;
  /** The JobSet failed with it. */
  readonly isFinal: boolean;
  readonly nowMs: number;
  /** When the wait of a crash loop is over, for which all members have gathered; null: there is none. */
  readonly backoffEndMs: number | null;
  /** Open the restart before and the one after it; undefined: there is none. */
  readonly older: (() => void) | undefined;
  readonly newer: (() => void) | undefined;
  /** With a local rank: that process of the Pod. */
  readonly showMember: (pod: string, process?: number) => void;
}

export function Restart(props: RestartProps) {
  const { record, cost, isNewest, isFinal, older, newer, showMember } = props;
  const { epoch, ranMs, suspects = [], witness, lastWords } = record;
  const offset = new Date(record.time).getTimezoneOffset();
  const words = isFailure(record) ? 'is-bad' : 'is-active';
  return (
    <section class="card restart" aria-labelledby="restart-title">
      <div class="part-head">
        <h2 id="restart-title">
          Epoch {epoch} ended: {shown(causeInWords(record))}
        </h2>
        <p class="quiet">
          <time datetime={record.time}>
            {momentText(Date.parse(record.time), offset, 3)} {zoneText(offset)}
          </time>
          {ranMs === undefined
            ? ', before it was released'
            : `, after it had run for ${rough(ranMs)}`}
        </p>
        <div class="part-tools">
          <span class={`badge ${words}`}>{countedInWords(record, isFinal)}</span>
          <button type="button" class="button" disabled={older === undefined} onClick={older}>
            ‹ Older
          </button>
          <button type="button" class="button" disabled={newer === undefined} onClick={newer}>
            Newer ›
          </button>
        </div>
      </div>
      <Headline record={record} showMember={showMember} />
      <div class="restart-parts">
        <Phases {...props} />
        <Costs cost={cost} />
        {suspects.length > 0 && <Suspects suspects={suspects} showMember={showMember} />}
        {witness !== undefined && (
          <div class="restart-part">
            <h3>What was seen</h3>
            <p>{shown(describeWitness(witness), WHY_LENGTH)}</p>
          </div>
        )}
        {lastWords === undefined ? (
          isFailure(record) && (
            <div class="restart-part">
              <h3>Last words</h3>
              <p class="quiet">
                {record.isOpen === true
                  ? 'Not known yet: workers tell it when all have stopped.'
                  : isNewest
                    ? 'The worker left no message and no standard error that its agent could read.'
                    : 'They are kept of the newest restart only.'}
              </p>
            </div>
          )
        ) : (
          <Words lastWords={lastWords} record={record} showMember={showMember} />
        )}
      </div>
    </section>
  );
}

function Headline({ record, showMember }: Pick<RestartProps, 'record' | 'showMember'>) {
  if (!isFailure(record)) return <p class="restart-headline">No worker failed.</p>;
  const { whyUnknown, witness } = record;
  const named = culpritOf(record) ?? witness;
  return (
    <p class="restart-headline">
      {shown(capitalized(failureInWords(record)), WHY_LENGTH)}
      {named !== undefined && (
        <span class="restart-where">
          <PodLink pod={named.pod} process={named.process} showMember={showMember} />
        </span>
      )}
      {whyUnknown !== undefined && <span class="restart-where">{capitalized(whyUnknown)}.</span>}
    </p>
  );
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

interface PodLinkProps extends Pick<RestartProps, 'showMember'> {
  readonly pod: string;
  readonly process?: number | undefined;
}

function PodLink({ pod, process, showMember }: PodLinkProps) {
  return (
    <button type="button" class="link mono" onClick={() => showMember(pod, process)}>
      {shown(pod, 253)}
    </button>
  );
}

/** Below this share of the whole a phase is drawn wider than it was, so that it can be seen. */
const LEAST_PERCENT = 0.6;

function Phases({ record, segments, ...at }: RestartProps) {
  const { phases, totalMs } = waterfallOf(record, segments, at);
  const hasFailure = phases[0]?.tookMs !== null;
  const isOver = phases.every(({ state }) => state === 'Over' || state === 'Never');
  const isKnown = phases.some(({ tookMs }) => tookMs !== null);
  return (
    <div class="restart-part is-wide">
      <h3>
        From {hasFailure ? 'the failure' : 'the end of the epoch'} to{' '}
        {at.isFinal ? 'the end of the JobSet' : 'the first step'}
        {isKnown && (
          <>
            :{' '}
            <b class="took">
              {exact(totalMs)}
              {isOver ? '' : ' so far'}
            </b>
          </>
        )}
      </h3>
      <table class="waterfall">
        <thead class="visually-hidden">
          <tr>
            <th scope="col">Phase</th>
            <th scope="col">Drawn</th>
            <th scope="col">Took</th>
            <th scope="col">Ended after</th>
          </tr>
        </thead>
        <tbody>
          {phases.map(({ key, label, meaning, fromMs, tookMs, leftMs, state }) => {
            const left = totalMs === 0 ? 0 : (100 * fromMs) / totalMs;
            const width = totalMs === 0 ? 0 : (100 * (tookMs ?? 0)) / totalMs;
            return (
              <tr key={label} title={meaning}>
                <th scope="row">
                  {label}
                  <span class="visually-hidden">, {meaning}</span>
                </th>
                <td class="waterfall-lane">
                  {tookMs !== null && (
                    <div
                      class={`waterfall-bar is-${key} ${state === 'Open' ? 'is-open' : ''}`}
                      style={{
                        left: `${Math.min(left, 100 - LEAST_PERCENT)}%`,
                        width: `${Math.max(LEAST_PERCENT, width)}%`,
                      }}
                    />
                  )}
                </td>
                <td class="number">{tookText(tookMs, leftMs, state)}</td>
                <td class="number quiet">{tookMs === null ? '' : `+${exact(fromMs + tookMs)}`}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** What stands for the length of a phase that is not there. */
const UNTOLD: Readonly<Record<Phase['state'], string>> = {
  Over: 'not known',
  Open: 'not known',
  Later: 'not yet',
  Never: 'did not happen',
};

function tookText(tookMs: number | null, leftMs: number | null, state: Phase['state']): string {
  if (tookMs === null) return UNTOLD[state];
  if (leftMs !== null) return `${Math.ceil(leftMs / 1000)} s left`;
  return state === 'Open' ? `${exact(tookMs)} so far` : exact(tookMs);
}

/** In the order in which they passed. */
const COST_CLASSES = [
  ['Lost', 'lostMs'],
  ['Hung', 'hungMs'],
  ['Restarting', 'restartingMs'],
  ['Starting', 'startingMs'],
] as const;

function Costs({ cost }: Pick<RestartProps, 'cost'>) {
  const totalMs = cost?.totalMs ?? 0;
  const parts = COST_CLASSES.map(([name, key]) => [name, cost?.[key] ?? 0] as const);
  return (
    <div class="restart-part">
      <h3>
        What it cost
        {totalMs > 0 && (
          <>
            : <b class="took">{rough(totalMs)}</b>
          </>
        )}
      </h3>
      <table class="costs">
        <thead class="visually-hidden">
          <tr>
            <th>Class</th>
            <th>Time</th>
            <th>Share</th>
          </tr>
        </thead>
        <tbody>
          {parts
            .filter(([, ms]) => ms > 0)
            .map(([name, ms]) => (
              <tr key={name} title={classWords(name)[1]}>
                <th scope="row">
                  <span class={`swatch time time-${name.toLowerCase()}`} /> {classWords(name)[0]}
                </th>
                <td class="number">{exact(ms)}</td>
                <td class="number quiet">{percent(ms, totalMs)}</td>
              </tr>
            ))}
        </tbody>
      </table>
      {cost === undefined && <p class="quiet">Not known.</p>}
      {cost !== undefined && cost.lostMs === undefined && (
        <p class="quiet">How much work was lost is not known.</p>
      )}
    </div>
  );
}

interface SuspectsProps extends Pick<RestartProps, 'showMember'> {
  readonly suspects: readonly Suspect[];
}

function Suspects({ suspects, showMember }: SuspectsProps) {
  return (
    <div class="restart-part">
      <h3>Suspects</h3>
      <ol class="suspects">
        {suspects.map(({ worker, why, confidence, pod, process, node }) => (
          <li key={pod}>
            <span class={`badge ${confidence === 'Certain' ? 'is-bad' : 'is-warn'}`}>
              {confidence}
            </span>
            <strong>{shown(worker, 200)}</strong>: {shown(why, WHY_LENGTH)}
            <div class="quiet">
              <PodLink pod={pod} process={process} showMember={showMember} />
              {node === undefined ? '' : `, node ${shown(node, 200)}`}
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}

interface WordsProps extends Pick<RestartProps, 'record' | 'showMember'> {
  readonly lastWords: LastWords;
}

function Words({ lastWords, record, showMember }: WordsProps) {
  const { pod, text } = lastWords;
  return (
    <div class="restart-part is-whole">
      <h3>{shown(capitalized(lastWordsTitle(lastWords, record)), 400)}</h3>
      <p class="quiet">
        <PodLink pod={pod} showMember={showMember} />
      </p>
      <pre class="last-words" tabindex={0}>
        {lastLines(text).join('\n')}
      </pre>
    </div>
  );
}
