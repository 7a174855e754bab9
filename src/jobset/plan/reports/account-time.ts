/**
 * Accounts for the time of a JobSet in status writes that happen anyway: a run without events
 * causes none.
 */

import { currentEpoch } from '../../epoch/in-place-restart.ts';
import { account, type Moment } from '../../goodput/account.ts';
import { sumsOf } from '../../goodput/classes.ts';
import { partsBetween } from '../../goodput/course.ts';
import { recordCourse } from '../../goodput/course-record.ts';
import { judgeHeldWork } from '../../goodput/held-work.ts';
import { isSoundGoodput } from '../../goodput/sound.ts';
import type { Goodput, GoodputPhase, JobSetStatus } from '../../jobset-status.ts';
import { isFinished, isTrue } from '../../status/conditions.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';
import type { Next } from '../merge.ts';
import { phaseAfter } from './phase.ts';

export function accountTime(facts: Facts, { status: next, isChanged }: Next): Decision {
  if (!isChanged || facts.lacks?.has('goodput') === true) return {};
  const { status, nowMs, group } = facts;
  // The JobSet was over before its time was accounted for.
  if (status.goodput === undefined && isFinished(status.conditions)) return {};
  const stored =
    status.goodput !== undefined && isSoundGoodput(status.goodput) ? status.goodput : undefined;
  const before = stored ?? beginning(facts);
  const isAdopted = stored === undefined && status.restarts !== undefined;
  const isGroup = group !== undefined && !isAdopted;
  const isTold = isGroup && (before.phase === 'Running' || before.pendingMs !== undefined);
  const phase = phaseAfter(facts, next);
  const moment: Moment = {
    nowMs,
    next: phase,
    isGroup,
    isEnd: currentEpoch(next) > currentEpoch(status),
    isSuccess: isTrue(next.conditions, 'Completed'),
    told: (isTold ? facts.reported?.() : undefined) ?? {},
    isHeard: (facts.hubReach?.streams ?? 0) > 0,
    maySave: phase !== 'Finished' && maySave(facts, next, before.phase),
    hungMs: hungMs(facts, next, before.phase),
  };
  const judged = judgeHeldWork(before, next.restartHistory ?? [], moment);
  const goodput = account(judged.goodput, moment);
  if (goodput === status.goodput) return {};
  const change = recordCourse({
    status,
    // If another version of the operator wrote, the order of time is unknown.
    before: isAdopted ? goodput : judged.goodput,
    after: goodput,
    records: judged.records,
    lacks: facts.lacks,
  });
  return { status: change, outcomes: grown(status, goodput) };
}

/** What came before is unknown if another version of the operator has begun the JobSet. */
function beginning({ jobSet, status }: Facts): Goodput {
  const { creationTimestamp } = jobSet.metadata;
  return { time: creationTimestamp, phase: status.restarts === undefined ? 'Waiting' : 'Running' };
}

/** Workers that no failure has ended can save their work. */
function maySave({ lacks }: Facts, next: JobSetStatus, phase: GoodputPhase): boolean {
  if (lacks?.has('goodput.held') === true) return false;
  const cause = next.restartHistory?.find(({ ranMs }) => ranMs !== undefined)?.cause;
  return phase === 'Suspended' || cause === 'Resumed' || cause === 'Scaled';
}

/** The silence of the witness, if the epoch ended because it hung. */
function hungMs(facts: Facts, next: JobSetStatus, phase: GoodputPhase): number | undefined {
  const record = next.restartHistory?.find(({ ranMs }) => ranMs !== undefined);
  if (record?.witness?.reason !== 'WorkerHung') return undefined;
  const { epoch, witness } = record;
  if (phase !== 'Restarting' && epoch !== currentEpoch(facts.status)) return undefined;
  const end = facts.endsIn?.(epoch).find(({ member }) => member.pod === witness.pod)?.end;
  if (end?.kind !== 'Ended' || end.how !== 'Hung') return undefined;
  // The worker may never have reported anything.
  return end.silentMs ?? Number.MAX_SAFE_INTEGER;
}

function grown(
  { goodput: before }: JobSetStatus,
  after: Goodput,
): NonNullable<Decision['outcomes']> {
  const parts = partsBetween(sumsOf(before ?? {}), sumsOf(after));
  const ms = Object.fromEntries(parts.map((part) => [part.class, part.ms]));
  return parts.length === 0 ? [] : [{ kind: 'TimeAccounted', ms }];
}
