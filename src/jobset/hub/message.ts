/**
 * The messages between an agent and the hub, version 1 (`docs/reference/hub-protocol.md`). Each is
 * one JSON object in one line of UTF-8. A reader ignores members that it does not know. A message
 * of an unknown type, or with a member out of its bounds, is malformed and ends the stream.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { parsedObject } from '@lockstep/kube/json/parsed-json.ts';
import type { GroupState } from '../epoch/group-state.ts';
import { lagFields, type Progress, parseProgress, progressFields } from '../progress/progress.ts';
import { parseTimeouts } from '../progress/progress-timeouts.ts';
import { parseRankFields, rankFields } from '../ranks/group-ranks.ts';
import {
  type Announcement,
  announcementFields,
  parseAnnouncement,
  parseSuccess,
  successFields,
} from '../worker-end/announcement.ts';
import { isEpoch, MAX_EPOCH, type WorkerEnd } from '../worker-end/worker-end.ts';

/** The limit for a line without its line feed. `MAX_ANNOUNCEMENT_BYTES` leaves room for more. */
export const MAX_MESSAGE_BYTES = 2048;

/** `progress` is what the worker that runs, or ran last, has reported; absent: nothing. */
export type AgentMessage =
  /** The first message of a stream, and only that: asks for the state from now on. */
  | {
      readonly type: 'hello';
      /** UID of the JobSet to which the agent believes to belong. */
      readonly jobSetUid: string | undefined;
      readonly announcement: Announcement | undefined;
      readonly progress?: Progress | undefined;
    }
  | {
      readonly type: 'announce';
      readonly announcement: Announcement;
      readonly progress?: Progress | undefined;
    }
  /** The worker of `epoch` is about to be stopped from outside. */
  | { readonly type: 'notice'; readonly epoch: number }
  | {
      readonly type: 'ping';
      /** Asks whether the agent's Pod exists, under a number that the answer repeats. */
      readonly ask?: number;
      /** The worker exited with 0, and the agent leaves. */
      readonly success?: WorkerEnd;
      readonly progress?: Progress | undefined;
    };

export type HubMessage =
  | {
      readonly type: 'state';
      readonly state: GroupState;
      /** Pods of the whole group: the more there are, the wider reconnections are spread. */
      readonly members: number;
      /** The answer to the hello: read consistently after the hello had arrived. */
      readonly isFresh: boolean;
    }
  /** The agent's Pod is being deleted: its barrier lifts no more. */
  | { readonly type: 'ending' }
  | { readonly type: 'pong' }
  /**
   * The agent's Pod was read after the question had arrived: it exists, and is not being deleted.
   */
  | { readonly type: 'podLives'; readonly ask: number }
  /** The last message: why the hub closes the stream. */
  | { readonly type: 'bye'; readonly reason: ByeReason };

export type ByeReason = (typeof BYE_REASONS)[number];
export const BYE_REASONS = [
  /** The Pod has ended or is gone: there is nothing to come back for. */
  'PodGone',
  /** Another stream of this Pod took its place. */
  'Replaced',
  /** The hub does not lead any more, or it ends. */
  'NotLeading',
  /** The agent claims another JobSet than its Pod's. */
  'OtherJobSet',
  'Malformed',
  'TooManyMessages',
  /** Nothing was heard, or no hello came, for too long. */
  'Silent',
  /** The agent does not read what is sent. */
  'TooSlow',
  /** The JobSet could not be read. */
  'Unavailable',
] as const;

/** Why a line is malformed: for the receiver's log. */
export interface Malformed {
  readonly type: 'malformed';
  readonly problem: string;
}

export function encodeAgentMessage(message: AgentMessage): string {
  switch (message.type) {
    case 'hello': {
      const { jobSetUid, announcement, progress } = message;
      return line({
        type: 'hello',
        jobSet: jobSetUid,
        ...(announcement === undefined ? {} : { announcement: announcementFields(announcement) }),
        ...progressFields(progress),
      });
    }
    case 'announce': {
      const { announcement, progress } = message;
      return line({
        type: 'announce',
        ...announcementFields(announcement),
        ...progressFields(progress),
      });
    }
    case 'notice':
      return line(message);
    case 'ping': {
      const { type, ask, success, progress } = message;
      const told = { ...progressFields(progress), ...lagFields(progress) };
      return line({ type, ask, ...successFields(success), ...told });
    }
  }
}

export function encodeHubMessage(message: HubMessage): string {
  switch (message.type) {
    case 'state': {
      const { state, members, isFresh } = message;
      const { uid, version, deprecated, released, isBypassed, timeouts, ranks } = state;
      return line({
        type: 'state',
        jobSet: uid,
        version,
        deprecated,
        released,
        ...(isBypassed ? { bypassed: true } : {}),
        ...(isFresh ? { fresh: true } : {}),
        members,
        ...timeouts,
        ...(ranks && { ranks: rankFields(ranks) }),
      });
    }
    case 'ending':
    case 'pong':
    case 'podLives':
    case 'bye':
      return line(message);
  }
}

/** `text` is a line without its line feed. */
export function parseAgentMessage(text: string): AgentMessage | Malformed {
  const object = parsedObject(text);
  if (object === undefined) return malformed(text, 'a JSON object');
  switch (object['type']) {
    case 'hello': {
      const { jobSet, announcement: given } = object;
      if (jobSet !== undefined && !isText(jobSet)) return malformed(text, 'a UID as "jobSet"');
      const announcement = isJsonObject(given) ? parseAnnouncement(given) : undefined;
      return given !== undefined && announcement === undefined
        ? malformed(text, ANNOUNCEMENT)
        : { type: 'hello', jobSetUid: jobSet, announcement, ...progressOf(object) };
    }
    case 'announce': {
      const announcement = parseAnnouncement(object);
      return announcement === undefined
        ? malformed(text, ANNOUNCEMENT)
        : { type: 'announce', announcement, ...progressOf(object) };
    }
    case 'notice': {
      const { epoch } = object;
      return isEpoch(epoch) ? { type: 'notice', epoch } : malformed(text, EPOCH_RANGE);
    }
    case 'ping': {
      const { ask } = object;
      if (ask !== undefined && !isCount(ask)) return malformed(text, 'a count as "ask"');
      const success = parseSuccess(object);
      return { type: 'ping', ...defined({ ask, success }), ...progressOf(object) };
    }
    default:
      return malformed(text, 'a "type" that an agent sends');
  }
}

/** `text` is a line without its line feed. */
export function parseHubMessage(text: string): HubMessage | Malformed {
  const object = parsedObject(text);
  if (object === undefined) return malformed(text, 'a JSON object');
  switch (object['type']) {
    case 'state':
      return parseState(object) ?? malformed(text, 'the members of a state');
    case 'ending':
      return { type: 'ending' };
    case 'pong':
      return { type: 'pong' };
    case 'podLives': {
      const { ask } = object;
      return isCount(ask) ? { type: 'podLives', ask } : malformed(text, 'a count as "ask"');
    }
    case 'bye': {
      const reason = BYE_REASONS.find((known) => known === object['reason']);
      return reason === undefined ? malformed(text, 'a known "reason"') : { type: 'bye', reason };
    }
    default:
      return malformed(text, 'a "type" that a hub sends');
  }
}

const EPOCH_RANGE = `an "epoch" from 1 to ${MAX_EPOCH}`;
const ANNOUNCEMENT = `${EPOCH_RANGE}, "starts" from 1, and a "cause" of an earlier epoch or none`;
/** UIDs have 36 characters, versions of today's API servers at most 20. */
const MAX_TEXT_LENGTH = 128;
const MAX_SHOWN_LENGTH = 200;

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

function progressOf(object: JsonObject): { readonly progress?: Progress } {
  const progress = parseProgress(object);
  return progress === undefined ? {} : { progress };
}

function parseState(object: JsonObject): HubMessage | undefined {
  const { jobSet: uid, version, deprecated, released, bypassed, fresh, members } = object;
  const isState =
    isText(uid) &&
    isText(version) &&
    isCount(deprecated) &&
    isCount(released) &&
    isCount(members) &&
    isFlag(bypassed) &&
    isFlag(fresh);
  if (!isState) return undefined;
  // An older hub, or one that sends nonsense, sets no time-out.
  const timeouts = parseTimeouts(object) ?? {};
  // Without numbers an agent starts no ranks.
  const ranks = parseRankFields(object['ranks']);
  const isBypassed = bypassed === true;
  const state = {
    uid,
    version,
    deprecated,
    released,
    isBypassed,
    timeouts,
    ...(ranks && { ranks }),
  };
  return { type: 'state', state, members, isFresh: fresh === true };
}

function malformed(text: string, expected: string): Malformed {
  const shown = text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}...` : text;
  return { type: 'malformed', problem: `${JSON.stringify(shown)}: expected ${expected}` };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_EPOCH;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_TEXT_LENGTH;
}

function isFlag(value: unknown): value is boolean | undefined {
  return value === undefined || typeof value === 'boolean';
}
