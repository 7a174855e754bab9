/** The life of a run: how it does, where its time went, who failed, what its members do. */
import { useContext, useMemo } from 'preact/hooks';
import type { ReportedRestart } from '../../../jobset/view/reported-restarts.ts';
import { isFinalFailure } from '../../../jobset/view/restart-words.ts';
import type { DatedCondition, RunState, RunView } from '../../messages/run.ts';
import { PlayedAt } from '../elements/age.tsx';
import { Facts } from './facts.tsx';
import { useNow } from './follow.ts';
import { History } from './history/list.tsx';
import type { RunLook } from './look.ts';
import { Members } from './members/members.tsx';
import { Plot } from './plot/plot.tsx';
import { Restart } from './restart/restart.tsx';
import { culpritOf } from './restart/words.ts';
import { grownTo, lifeOf } from './timeline/bars.ts';
import type { DatedRestart } from './timeline/restart-table.tsx';
import { Timeline } from './timeline/timeline.tsx';

export interface LifeProps {
  readonly run: RunView;
  readonly state: RunState;
  readonly look: RunLook;
  readonly change: (change: Partial<RunLook>) => void;
  /** Since when the server has not answered; null: it does. */
  readonly lostSinceMs: number | null;
  /** It answers, but not with this. */
  readonly isRefused: boolean;
}

export function Life({ run, state, look, change, lostSinceMs, isRefused }: LifeProps) {
  const { jobSet, createdMs, atMs } = run;
  const isLive = useContext(PlayedAt) === null;
  const isOver = jobSet.state === 'Completed' || jobSet.state === 'Failed';
  const nowMs = useNow(state.isGone ? atMs : lostSinceMs);
  const segments = useMemo(
    () => (isOver || state.isGone ? run.segments : grownTo(run.segments, nowMs)),
    [run, isOver, state.isGone, nowMs],
  );
  const life = lifeOf(createdMs, segments, nowMs);
  const restarts = useMemo(() => datedRestarts(run), [run]);
  const restartsMs = useMemo(() => restarts.map((each) => each.atMs), [restarts]);
  const choose = (restart: number): void => change({ restart });
  const show = (member: string | null, process: number | null = null): void =>
    change({ member, process });
  // Without a choice, the newest restart is open.
  const found = restarts.findIndex(({ record }) => record.epoch === look.restart);
  const at = found < 0 ? restarts.length - 1 : found;
  const open = restarts[at];
  const toggle = (by: number): (() => void) | undefined => {
    const other = restarts[at + by];
    return other && (() => choose(other.record.epoch));
  };
  const showMember = (name: string, process?: number): void => {
    show(name, process);
    document.getElementById('members-title')?.scrollIntoView({ block: 'start' });
  };
  const culprit = open === undefined ? null : culpritOf(open.record);
  const group = (
    <Members
      jobSet={jobSet}
      nowMs={nowMs}
      members={state.members}
      selected={look.member}
      process={look.process}
      select={show}
      culprit={culprit}
    />
  );
  return (
    <div class="life">
      {state.isGone && (
        <p class="notice is-bad" role="status">
          <b>This JobSet was deleted.</b> Below is what was last known of it.
        </p>
      )}
      {lostSinceMs !== null && !state.isGone && (
        <p class="notice" role="status">
          <b>Not up to date.</b> The server {isRefused ? 'refuses' : 'does not answer'}; the clock
          stands still since then.
        </p>
      )}
      <Facts
        jobSet={jobSet}
        nowMs={nowMs}
        members={state.members}
        sinceMs={Math.max(0, nowMs - atMs)}
      />
      {/* Who steps through a trace looks at its members first. */}
      {!isLive && group}
      <Timeline
        key={segments.length > 0}
        segments={segments}
        life={life}
        restarts={restarts}
        window={look.window}
        show={(window) => change({ window })}
        selected={open?.record.epoch ?? null}
        select={choose}
      />
      {open !== undefined && (
        <Restart
          segments={segments}
          nowMs={nowMs}
          showMember={showMember}
          record={open.record}
          cost={open.cost}
          isNewest={at === restarts.length - 1}
          isFinal={open.isFinal}
          backoffEndMs={jobSet.announced >= jobSet.size ? jobSet.backoffEndMs : null}
          older={toggle(-1)}
          newer={toggle(1)}
        />
      )}
      {isLive && group}
      {isLive && (
        <Plot
          samples={state.samples}
          hasSteps={jobSet.progress?.highestStep !== undefined}
          restartsMs={restartsMs}
        />
      )}
      <History conditions={run.conditions} events={state.events} />
    </div>
  );
}

function isEndOf(record: ReportedRestart, { type, status, timeMs }: DatedCondition): boolean {
  return type === 'Failed' && status === 'True' && isFinalFailure(record, timeMs);
}

/** The oldest first. */
function datedRestarts({ jobSet, costs, conditions }: RunView): readonly DatedRestart[] {
  return jobSet.restartHistory
    .map((record) => ({
      record,
      atMs: Date.parse(record.time),
      cost: costs.find(({ epoch }) => epoch === record.epoch),
      isFinal: conditions.some((each) => isEndOf(record, each)),
    }))
    .filter(({ atMs }) => Number.isFinite(atMs))
    .toSorted((a, b) => a.atMs - b.atMs);
}
