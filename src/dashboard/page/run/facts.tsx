/** How a run is doing, at one glance: its numbers, and what a person may have to do. */
import { NOT_ACCOUNTED } from '../../../jobset/goodput/goodput-at.ts';
import type { JobSetView, MemberView } from '../../../jobset/view/status-view.ts';
import { Age } from '../elements/age.tsx';
import { shown } from '../elements/shown-text.ts';
import { shareText } from '../elements/time-text.ts';
import { counted, rateText, rough } from './words.ts';

export interface FactsProps {
  readonly jobSet: JobSetView;
  readonly members: ReadonlyMap<string, MemberView>;
  /** Milliseconds since `jobSet` was true. */
  readonly sinceMs: number;
  readonly nowMs: number;
}

export function Facts({ jobSet, members, sinceMs, nowMs }: FactsProps) {
  return (
    <div class="facts">
      {jobSet.conditions.map(({ type, reason, message }) => (
        <div key={type} class={`notice ${type === 'Failed' ? 'is-bad' : ''}`} role="note">
          <b>{shown(type, 100)}</b> {shown(message, 600)}{' '}
          <span class="quiet">({shown(reason, 100)})</span>
        </div>
      ))}
      {jobSet.restoreWarning !== null && (
        <div class="notice" role="note">
          <b>Restored?</b> {jobSet.restoreWarning}
        </div>
      )}
      <dl class="fact-list">
        {factsOf({ jobSet, members, sinceMs, nowMs }).map(({ name, value, more, share }) => (
          <div key={name} class="fact">
            <dt>{name}</dt>
            <dd>
              <b>{value}</b>
              {share !== undefined && (
                <span class="meter" aria-hidden="true">
                  <span style={{ width: `${Math.min(100, share * 100)}%` }} />
                </span>
              )}
              {more !== '' && <span class="quiet">{more}</span>}
            </dd>
          </div>
        ))}
      </dl>
      {jobSet.avoidedNodes.length > 0 && (
        <div class="avoided">
          <h2>Nodes that it avoids</h2>
          <ul>
            {jobSet.avoidedNodes.map(({ node, time, reason, worker }) => (
              <li key={`${node} ${time}`}>
                <b>{shown(node, 253)}</b> {shown(reason, 200)}; {shown(worker, 200)} left it{' '}
                <Age sinceMs={Date.parse(time)} /> ago
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

interface Fact {
  readonly name: string;
  readonly value: string;
  /** Empty: there is no more to say. */
  readonly more: string;
  /** 0 to 1: drawn as a meter. */
  readonly share?: number;
}

export function factsOf({ jobSet, members, sinceMs, nowMs }: FactsProps): readonly Fact[] {
  return [
    epochFact(jobSet),
    memberFact(jobSet, members),
    stepFact(jobSet),
    checkpointFact(jobSet, sinceMs),
    restartFact(jobSet),
    goodputFact(jobSet, nowMs),
  ].filter((fact) => fact !== null);
}

function epochFact({ state, epoch, syncedEpoch }: JobSetView): Fact | null {
  if (epoch === null || syncedEpoch === null) return null;
  const runs = state === 'Released';
  return {
    name: 'Epoch',
    value: String(runs ? syncedEpoch : epoch),
    more: runs ? 'it runs' : state === 'AtBarrier' ? 'members gather for it' : '',
  };
}

function memberFact(
  { state, epoch, announced, size }: JobSetView,
  members: ReadonlyMap<string, MemberView>,
): Fact {
  const total = size.toLocaleString('en');
  if (epoch !== null && state === 'AtBarrier') {
    const left = size - announced;
    return {
      name: 'At the barrier',
      value: `${announced.toLocaleString('en')} of ${total}`,
      more: left > 0 ? `waits for ${counted(left, 'member')}` : 'all have announced it',
      share: size === 0 ? 0 : announced / size,
    };
  }
  let running = 0;
  for (const { phase } of members.values()) if (phase === 'Running') running += 1;
  if (isAtRest(state) && members.size === 0)
    return { name: 'Members', value: total, more: 'no Pods now' };
  return {
    name: 'Members running',
    value: `${running.toLocaleString('en')} of ${total}`,
    more: '',
    share: size === 0 ? 0 : running / size,
  };
}

/** How often members report their steps. What they did since the last report is not known yet. */
const REPORTS_MS = 5000;

/** It mentions a lag only if members are further apart than their reports alone explain. */
function stepFact({ state, progress }: JobSetView): Fact {
  const { lowestStep, highestStep, stepsPerSecond } = progress ?? {};
  if (highestStep === undefined || lowestStep === undefined) {
    return isAtRest(state)
      ? { name: 'Last step', value: '–', more: 'told only while members run' }
      : { name: 'Step', value: '–', more: 'no member reports steps' };
  }
  const value = highestStep.toLocaleString('en');
  if (isAtRest(state)) return { name: 'Last step', value, more: 'that was reported' };
  const rate = stepsPerSecond === undefined ? '' : rateText(stepsPerSecond);
  const lag = highestStep - lowestStep;
  const noise = 1 + ((stepsPerSecond ?? 0) * REPORTS_MS) / 1000;
  const behind = lag > noise ? `${counted(lag, 'step')} between first and last` : '';
  return { name: 'Step', value, more: [rate, behind].filter(Boolean).join(', ') };
}

function isAtRest(state: JobSetView['state']): boolean {
  return state === 'Completed' || state === 'Failed' || state === 'Suspended';
}

/** Its goodput keeps the checkpoint when members tell of none, as when they are gone. */
function checkpointFact({ state, progress, goodput }: JobSetView, sinceMs: number): Fact {
  const { checkpoint = goodput?.checkpoint, checkpointMs } = progress ?? {};
  if (checkpoint === undefined) {
    const more = isAtRest(state) ? 'none was reported' : 'none is reported';
    return { name: 'Checkpoint', value: '–', more };
  }
  return {
    name: 'Checkpoint',
    value: checkpoint.toLocaleString('en'),
    more: checkpointMs === undefined ? '' : `${rough(checkpointMs + sinceMs)} old`,
  };
}

function restartFact(jobSet: JobSetView): Fact {
  const { countedRestarts, maxRestarts, extraRestarts, restartsWithoutProgress } = jobSet;
  const told = [
    jobSet.epoch === null ? '' : `${jobSet.inPlaceRestarts} in place`,
    jobSet.restarts > 0 ? `${jobSet.restarts} of all Jobs` : '',
    extraRestarts > 0 ? `${extraRestarts} extra` : '',
    restartsWithoutProgress > 0 ? `${restartsWithoutProgress} in a row without progress` : '',
  ];
  return {
    name: 'Restarts used',
    value: `${countedRestarts} of ${maxRestarts}`,
    more: told.filter(Boolean).join(', '),
    share: maxRestarts === 0 ? 0 : countedRestarts / maxRestarts,
  };
}

function goodputFact({ goodput }: JobSetView, nowMs: number): Fact {
  if (goodput === null) return { name: 'Goodput', value: 'unknown', more: NOT_ACCOUNTED };
  const { share, unknown, savedMs, judgedMs, judgedUntilMs } = goodput;
  if (share === null) return { name: 'Goodput', value: 'unknown', more: unknown ?? '' };
  const agoMs = judgedUntilMs === null ? 0 : nowMs - judgedUntilMs;
  const until = agoMs <= 0 ? '' : `, until ${rough(agoMs)} ago`;
  const saved = `${rough(savedMs)} of ${rough(judgedMs)} saved${until}`;
  return { name: 'Goodput', value: shareText(share), more: saved, share };
}
