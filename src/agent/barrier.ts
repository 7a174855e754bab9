/**
 * The barrier of one Pod: which epoch its agent announces, when its worker may start and when it
 * has to stop (`docs/design/protocol.md#the-members-barrier`). Pure:
 * `(state, event) -> {state, effects}`. Effects are to be carried out in order, one marker write at
 * a time.
 *
 * Invariants: no announcement before its marker; no worker before `started` is written; a new epoch
 * is announced only when the worker of the old one, and its preflight, have ended; nothing happens
 * after `Left`.
 */

import { mayBeNewer } from '@lockstep/kube/resource-version.ts';
import type { Announcement } from '../jobset/worker-end/announcement.ts';
import type { WorkerEnd } from '../jobset/worker-end/worker-end.ts';
import type {
  Barrier,
  BarrierEvent,
  BarrierStage,
  Effect,
  LeaveReason,
  Step,
} from './barrier-state.ts';
import type { GroupSnapshot } from './channel.ts';
import type { HungWorker, Marker } from './marker.ts';
import { lacksNumbers, numbersIn } from './own-ranks.ts';
import type { OwnEnd } from './worker-exit.ts';

export function step(state: Barrier, event: BarrierEvent): Step {
  if (state.stage.name === 'Left') return stay(state);
  switch (event.type) {
    case 'snapshot':
      return isNews(state, event.snapshot)
        ? onKnowledge({ ...state, known: event.snapshot })
        : stay(state);
    case 'markerWritten':
      return onMarkerWritten(state);
    case 'announced':
      return state.stage.name === 'Announcing' && state.stage.epoch === event.epoch
        ? onKnowledge({ ...state, stage: { name: 'Waiting', epoch: event.epoch } })
        : stay(state);
    case 'podEnding':
      return cutPreflight({ ...state, isPodEnding: true });
    case 'podLives':
      return state.isCutOff ? onKnowledge({ ...state, isCutOff: false }) : stay(state);
    case 'cutOff':
      return onCutOff({ ...state, isCutOff: true });
    case 'hung':
      return onHung(state, event.worker);
    case 'stop':
      return onStop(state, event.signal);
    case 'workerEnded':
      return onWorkerEnded(state, event.end);
    case 'preflightEnded':
      return onPreflightEnded(state, event.unfit);
  }
}

/**
 * The epoch to announce. An agent that announced the released epoch, and whose worker has not run
 * in it, joins it: it only restarted at the barrier, so the group need not restart. An agent
 * without a marker never joins a released epoch, because its predecessor may have run in it.
 */
export function epochToAnnounce(
  { released, deprecated }: Pick<GroupSnapshot, 'released' | 'deprecated'>,
  marker: Marker,
): number {
  const mayJoin =
    released > deprecated && marker.announced === released && marker.started < released;
  return mayJoin ? released : Math.max(released, deprecated, marker.started) + 1;
}

/**
 * Whether the snapshot is newer. Status epochs never go down, so a lower one is older, even with a
 * higher resourceVersion.
 */
function isNews(state: Barrier, snapshot: GroupSnapshot): boolean {
  if (state.jobSetUid !== undefined && state.jobSetUid !== snapshot.uid) return false;
  const { known } = state;
  if (known === undefined) return true;
  return (
    known.uid === snapshot.uid &&
    (snapshot.isFresh || mayBeNewer(snapshot.version, known.version)) &&
    snapshot.deprecated >= known.deprecated &&
    snapshot.released >= known.released
  );
}

/** Decides the next stage after news, or after an effect is done. */
function onKnowledge(state: Barrier): Step {
  const { stage, known } = state;
  if (known === undefined) return stay(state);
  switch (stage.name) {
    case 'Unsynced':
      return approach(state, known);
    case 'CutOff':
      return state.isCutOff ? stay(state) : approach(state, known);
    case 'Announcing':
    case 'Waiting':
      if (known.isBypassed || known.deprecated >= stage.epoch) return approach(state, known);
      return stage.name === 'Waiting' && known.released === stage.epoch && mayRun(state)
        ? start(state, known, { epoch: stage.epoch, isAnnounced: true })
        : stay(state);
    case 'Running':
      return known.isBypassed ? stay(state) : onRunning(state, stage, known);
    case 'Checking':
      return known.isBypassed ? cutPreflight(state) : stay(state);
    case 'Marking':
    case 'Starting':
    case 'Stopping':
    case 'Ending':
    case 'Left':
      return stay(state);
  }
}

/** Whether the agent may now end a worker that makes no progress. */
export function mayHang({ stage, known, isPodEnding }: Barrier): boolean {
  const isRunning = stage.name === 'Running' && stage.isHung !== true;
  return isRunning && !isPodEnding && known?.isBypassed === false;
}

function mayRun({ isPodEnding, isCutOff }: Barrier): boolean {
  return !isPodEnding && !isCutOff;
}

/**
 * Goes to the barrier, or straight through it when the user bypasses it. `end` is not announced yet.
 */
function approach(state: Barrier, known: GroupSnapshot, end?: WorkerEnd): Step {
  if (known.isBypassed) {
    if (!mayRun(state)) return stay({ ...state, stage: UNSYNCED });
    // The marker holds each epoch that this agent announced, so this is never below one of them.
    const { announced, started } = state.marker;
    const epoch = Math.max(announced, started, known.released, known.deprecated + 1);
    return start(state, known, {
      epoch,
      isAnnounced: state.stage.name === 'Waiting' && state.stage.epoch === epoch,
    });
  }
  const epoch = epochToAnnounce(known, state.marker);
  const starts = startsAt(state, epoch);
  const marker: Marker = { announced: epoch, started: state.marker.started, starts };
  const last = state.end?.epoch === epoch - 1 ? state.end : undefined;
  const announcement: Announcement = { epoch, starts, end: end ?? last };
  return {
    state: { ...state, marker, stage: { name: 'Marking', announcement } },
    effects: [{ type: 'writeMarker', marker }],
  };
}

/**
 * Counts the starts of agents in an epoch. An agent that repeats its predecessor's announcement adds
 * one.
 */
function startsAt({ stage, marker }: Barrier, epoch: number): number {
  if (marker.announced !== epoch) return 1;
  return stage.name === 'Unsynced' ? marker.starts + 1 : Math.max(1, marker.starts);
}

function start(
  state: Barrier,
  known: GroupSnapshot,
  { epoch, isAnnounced }: { readonly epoch: number; readonly isAnnounced: boolean },
): Step {
  if (lacksNumbers(known, state.ownRanks))
    return missNumbers(state, known, isAnnounced ? state.stage : UNSYNCED);
  const marker: Marker = { announced: epoch, started: epoch, starts: startsAt(state, epoch) };
  return {
    state: { ...state, marker, stage: { name: 'Starting', epoch, isAnnounced } },
    effects: [{ type: 'writeMarker', marker }],
  };
}

function onMarkerWritten(state: Barrier): Step {
  const { stage, known } = state;
  if (known === undefined) return stay(state);
  if (stage.name === 'Marking') {
    const { announcement } = stage;
    if (known.isBypassed || known.deprecated >= announcement.epoch) {
      return approach(state, known, announcement.end);
    }
    return {
      state: { ...state, stage: { name: 'Announcing', epoch: announcement.epoch } },
      effects: [{ type: 'announce', announcement }],
    };
  }
  if (stage.name === 'Running') return onHungMarked(state, stage, known);
  if (stage.name !== 'Starting') return stay(state);
  // Nothing runs yet. News that came during the write still counts.
  if (!known.isBypassed && known.deprecated >= stage.epoch) return approach(state, known);
  if (state.isPodEnding) return stay(state);
  const { epoch, isAnnounced } = stage;
  const waiting: BarrierStage = { name: 'Waiting', epoch };
  if (state.isCutOff) return stay({ ...state, stage: waiting });
  if (lacksNumbers(known, state.ownRanks)) return missNumbers(state, known, waiting);
  const ranks = numbersIn(known, state.ownRanks);
  const lifted = onKnowledge({ ...state, stage: { name: 'Running', epoch, isAnnounced } });
  return { ...lifted, effects: [{ type: 'lift', epoch, ranks }, ...lifted.effects] };
}

const UNSYNCED: BarrierStage = { name: 'Unsynced' };

/** Waits for a state with numbers, and says so once in each epoch. */
function missNumbers(state: Barrier, { deprecated }: GroupSnapshot, stage: BarrierStage): Step {
  const effects: Effect[] = state.missedAfter === deprecated ? [] : [{ type: 'missNumbers' }];
  return { state: { ...state, stage, missedAfter: deprecated }, effects };
}

function onRunning(
  state: Barrier,
  stage: Extract<BarrierStage, { readonly name: 'Running' }>,
  known: GroupSnapshot,
): Step {
  if (known.deprecated >= stage.epoch) {
    return state.mode === 'Sidecar'
      ? leave(state, { type: 'EpochOver' })
      : {
          state: { ...state, stage: { name: 'Stopping', epoch: stage.epoch } },
          effects: [{ type: 'stopWorker' }],
        };
  }
  // A worker that started while the barrier was bypassed becomes a member when it no longer is.
  return stage.isAnnounced
    ? stay(state)
    : {
        state: { ...state, stage: { ...stage, isAnnounced: true } },
        effects: [
          {
            type: 'announce',
            announcement: { epoch: stage.epoch, starts: state.marker.starts },
          },
        ],
      };
}

/** A supervisor kills the worker itself. A sidecar leaves, so its successor has to know why. */
function onHung(state: Barrier, worker: HungWorker): Step {
  const { stage } = state;
  if (!mayHang(state) || stage.name !== 'Running' || stage.epoch !== worker.epoch) {
    return stay(state);
  }
  const hung: BarrierStage = { ...stage, isHung: true };
  if (state.mode === 'Supervisor') {
    return { state: { ...state, stage: hung }, effects: [{ type: 'killHung' }] };
  }
  const marker: Marker = { ...state.marker, hung: worker };
  return { state: { ...state, marker, stage: hung }, effects: [{ type: 'writeMarker', marker }] };
}

function onHungMarked(
  state: Barrier,
  { isHung, ...stage }: Extract<BarrierStage, { readonly name: 'Running' }>,
  { isBypassed }: GroupSnapshot,
): Step {
  if (isHung !== true) return stay(state);
  if (!isBypassed && !state.isPodEnding) return leave(state, { type: 'Hung' });
  // The worker is not ended as hung any more, so a later end must not look like that.
  const { hung: _, ...marker } = state.marker;
  return { state: { ...state, marker, stage }, effects: [{ type: 'writeMarker', marker }] };
}

/**
 * Stops even a worker that its node has told to end, because that node may be the one that is lost.
 */
function onCutOff(state: Barrier): Step {
  const { stage } = state;
  const stopping: readonly Effect[] = [{ type: 'stopWorker' }];
  if (stage.name === 'Ending') {
    return { state: { ...state, stage: { ...stage, isStopped: true } }, effects: stopping };
  }
  if (stage.name !== 'Running') return cutPreflight(state);
  if (state.mode === 'Sidecar') return leave(state, { type: 'CutOff' });
  const { epoch } = stage;
  return { state: { ...state, stage: { name: 'Stopping', epoch } }, effects: stopping };
}

function onStop(state: Barrier, signal: string): Step {
  const { stage, known } = state;
  if (stage.name === 'Ending') return stay(state);
  const isStopped = stage.name === 'Stopping';
  if (state.mode === 'Supervisor' && (isStopped || stage.name === 'Running')) {
    return stay({ ...state, stage: { name: 'Ending', signal, isStopped } });
  }
  if (stage.name === 'Checking') {
    const { effects } = cutPreflight(state);
    return { state: { ...state, stage: { name: 'Ending', signal, isStopped: true } }, effects };
  }
  const left = leave(state, { type: 'Signal', signal });
  return stage.name === 'Running' && known?.isBypassed === false
    ? { ...left, effects: [{ type: 'giveNotice', epoch: stage.epoch }, ...left.effects] }
    : left;
}

function onWorkerEnded(state: Barrier, end: OwnEnd): Step {
  const { stage, known } = state;
  if (known === undefined) return stay(state);
  switch (stage.name) {
    case 'Running': {
      if (end.restartsGroup !== true || known.isBypassed || state.isPodEnding) {
        return leave(state, { type: 'WorkerExit', end });
      }
      return state.hasPreflight === true
        ? {
            state: { ...state, end, stage: { name: 'Checking' } },
            effects: [{ type: 'preflight' }],
          }
        : approach({ ...state, end }, known, end);
    }
    case 'Stopping': {
      // Its epoch is over whatever the worker did.
      const { restartsGroup: _, ...stopped } = end;
      return onKnowledge({ ...state, end: stopped, stage: { name: 'CutOff' } });
    }
    case 'Ending':
      // An exit with 0 would count as the success of an index that has to start over.
      return stage.isStopped || end.how === 'Hung'
        ? leave(state, { type: 'Signal', signal: stage.signal })
        : leave(state, { type: 'WorkerExit', end });
    case 'Unsynced':
    case 'CutOff':
    case 'Marking':
    case 'Announcing':
    case 'Waiting':
    case 'Starting':
    case 'Checking':
    case 'Left':
      return stay(state);
  }
}

/** The agent cannot wait for the preflight, or its result would move no member. */
function cutPreflight(state: Barrier): Step {
  return { state, effects: state.stage.name === 'Checking' ? [{ type: 'cutPreflight' }] : [] };
}

function onPreflightEnded(state: Barrier, unfit: string | undefined): Step {
  const { stage, known, end } = state;
  if (stage.name === 'Ending') return leave(state, { type: 'Signal', signal: stage.signal });
  if (stage.name !== 'Checking' || known === undefined) return stay(state);
  const checked = end === undefined || unfit === undefined ? end : { ...end, unfit };
  return approach({ ...state, end: checked }, known, checked);
}

function leave(state: Barrier, reason: LeaveReason): Step {
  return { state: { ...state, stage: { name: 'Left' } }, effects: [{ type: 'leave', reason }] };
}

function stay(state: Barrier): Step {
  return { state, effects: [] };
}
