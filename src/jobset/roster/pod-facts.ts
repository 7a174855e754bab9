/**
 * A Pod's metadata about its membership of a group that restarts in place: the epoch that its agent
 * announces in either dialect, its notice, and how often the agent started.
 */

import type { PartialObjectMetadata } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import { COMPLETION_INDEX, JOB_TRACKING_FINALIZER } from '@lockstep/kube/objects/job.ts';
import { parseLostNodeDeadline } from '../injection/lost-node-deadline.ts';
import { jobOf } from '../membership.ts';
import {
  AGENT_STARTS,
  EPOCH,
  IN_PLACE_RESTART_ATTEMPT,
  LOST_NODE_DEADLINE,
  NOTICE,
} from '../names.ts';
import { type Notice, parseNotice } from '../worker-end/notice.ts';
import { MAX_EPOCH } from '../worker-end/worker-end.ts';

export interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly jobUid: string;
  readonly jobName: string;
  /** Completion index; undefined in a NonIndexed Job, where any Pod fills any slot. */
  readonly slot: string | undefined;
  /** The announced epoch, at least 1; undefined if there is no valid one. */
  readonly epoch: number | undefined;
  /** An invalid value of the epoch's annotation. */
  readonly malformedEpoch: string | undefined;
  /** An invalid value of upstream's annotation. */
  readonly malformedAttempt?: string | undefined;
  readonly notice: Notice | undefined;
  /** How often the agent has started for which epoch; absent if it does not say so. */
  readonly starts?: AgentStarts | undefined;
  readonly isTerminating: boolean;
  /**
   * The Pod is in deletion, and the Job controller has released it, for a suspend, a smaller size or
   * a Job that has ended. So its end is no failure.
   */
  readonly isDiscarded?: boolean | undefined;
  /** When the Pod should have ended, grace period included; present if it is in deletion. */
  readonly endMs?: number | undefined;
  /** How long after `endMs` the Pod may be deleted by force, as its agent knows; absent: never. */
  readonly lostNodeDeadlineMs?: number | undefined;
}

/** A Pod that should have ended, with its node. */
export interface OverduePod extends PodFacts {
  readonly node: string | undefined;
}

/** Undefined if the Pod has no Job as its controller, so that it cannot be a member. */
export function podFacts(pod: PartialObjectMetadata): PodFacts | undefined {
  const { metadata } = pod;
  const owner = jobOf(pod);
  if (owner === undefined) return undefined;
  const { annotations } = metadata;
  const text = annotations?.[EPOCH];
  const epoch = text === undefined ? undefined : parseEpoch(text);
  const attemptText = annotations?.[IN_PLACE_RESTART_ATTEMPT];
  const attempted = attemptText === undefined ? undefined : parseAttempt(attemptText);
  const notice = annotations?.[NOTICE];
  const isTerminating = metadata.deletionTimestamp !== undefined;
  const isTracked = metadata.finalizers?.includes(JOB_TRACKING_FINALIZER) === true;
  const endMs = Date.parse(metadata.deletionTimestamp ?? '');
  return {
    namespace: namespaceOf(metadata),
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    jobUid: owner.uid,
    jobName: owner.name,
    slot: annotations?.[COMPLETION_INDEX],
    epoch: higher(epoch, attempted),
    malformedEpoch: epoch === undefined ? text : undefined,
    malformedAttempt: attempted === undefined ? attemptText : undefined,
    notice: notice === undefined ? undefined : parseNotice(notice),
    starts: parseAgentStarts(annotations?.[AGENT_STARTS] ?? ''),
    isTerminating,
    isDiscarded: isTerminating && !isTracked,
    endMs: Number.isNaN(endMs) ? undefined : endMs,
    lostNodeDeadlineMs: parseLostNodeDeadline(annotations?.[LOST_NODE_DEADLINE] ?? ''),
  };
}

/** An announced epoch: decimal digits, 1 to 2147483647. Undefined for any other text. */
export function parseEpoch(text: string): number | undefined {
  if (!/^[0-9]{1,10}$/.test(text)) return undefined;
  const epoch = Number(text);
  return epoch >= 1 && epoch <= MAX_EPOCH ? epoch : undefined;
}

/**
 * The epoch that upstream's annotation announces: an attempt is an epoch - 1. Decimal digits with
 * an optional sign, as upstream reads them, 0 to 2147483646. Undefined for any other text.
 */
export function parseAttempt(text: string): number | undefined {
  if (!/^\+?[0-9]{1,10}$/.test(text)) return undefined;
  const epoch = Number(text) + 1;
  return epoch <= MAX_EPOCH ? epoch : undefined;
}

/** `lockstep/agent-starts`: for `epoch` the agent of this Pod has started `starts` times. */
export interface AgentStarts {
  readonly epoch: number;
  readonly starts: number;
}

/** An agent that starts more often than this for one epoch will not get its worker to run. */
export const MAX_AGENT_STARTS = 3;

/** Undefined for anything but `<epoch>:<n>`: it is only a hint. */
export function parseAgentStarts(text: string): AgentStarts | undefined {
  const [epochText = '', startsText = '', ...more] = text.split(':');
  const epoch = parseEpoch(epochText);
  if (epoch === undefined || more.length > 0 || !/^[0-9]{1,9}$/.test(startsText)) return undefined;
  return { epoch, starts: Number(startsText) };
}

function higher(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.max(a, b);
}
