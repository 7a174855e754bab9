/** What `lockstep doctor` finds out, and how one question to the API server can end. */

import { defined } from '@lockstep/kube/json/defined.ts';
import { DeadlineError, unlessAborted, withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { ApiStatusError, isReason } from '@lockstep/kube/status.ts';

export type Level = 'ok' | 'note' | 'problem' | 'not-checked';

export type Topic =
  | 'Kubernetes'
  | 'Nodes'
  | 'Lockstep'
  | 'Rights'
  | 'Namespace'
  | 'JobSets'
  | 'Probe';

export interface Finding {
  readonly topic: Topic;
  /** Stays the same from version to version, for scripts. */
  readonly check: string;
  readonly level: Level;
  /** One line in words. */
  readonly text: string;
  /** A command, or a page of the documentation. */
  readonly fix?: string;
  /** Nothing was there to look at yet, so a cluster of which only this is not checked may be well. */
  readonly isMoot?: true;
}

/** Whether it could hide a problem. */
export function isUnknown({ level, isMoot }: Finding): boolean {
  return level === 'not-checked' && isMoot !== true;
}

/** Makes the findings of one check. A fix is a command, or a page of the documentation. */
export interface Check {
  readonly ok: (text: string) => Finding;
  readonly note: (text: string, fix?: string) => Finding;
  readonly problem: (text: string, fix?: string) => Finding;
  readonly unknown: (text: string, more?: Pick<Finding, 'fix' | 'isMoot'>) => Finding;
}

export function checkOf(topic: Topic, check: string): Check {
  const about = { topic, check };
  return {
    ok: (text) => ({ ...about, level: 'ok', text }),
    note: (text, fix) => ({ ...about, level: 'note', text, ...defined({ fix }) }),
    problem: (text, fix) => ({ ...about, level: 'problem', text, ...defined({ fix }) }),
    unknown: (text, more) => ({ ...about, level: 'not-checked', text, ...more }),
  };
}

/** Something that was to be read, or why that was not possible. */
export type Fact<T> = { readonly value: T } | { readonly unknown: string };

export interface Asking {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** One question that hangs does not hold up the others, and the user waits no longer than this. */
const QUESTION_LIMIT_MS = 10_000;

/**
 * Reads a fact. `what` completes "you may not": `list nodes`. Rejects only if the user has ended the
 * command.
 */
export async function fact<T>(
  { clock, signal }: Asking,
  what: string,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<Fact<T>> {
  try {
    const value = await withDeadline(clock, QUESTION_LIMIT_MS, signal, (limited) =>
      unlessAborted(read(limited), limited),
    );
    return { value };
  } catch (error) {
    signal.throwIfAborted();
    if (isReason(error, 'Forbidden')) return { unknown: `you may not ${what}` };
    if (error instanceof DeadlineError) {
      return { unknown: `no answer within ${QUESTION_LIMIT_MS / 1000} s to: ${what}` };
    }
    return { unknown: `could not ${what}: ${error instanceof Error ? error.message : 'failed'}` };
  }
}

/** The findings about a fact, or one that says why there are none. */
export function ifKnown<T>(
  known: Fact<T>,
  check: Check,
  judge: (value: T) => Finding | readonly Finding[],
): readonly Finding[] {
  return 'value' in known ? [judge(known.value)].flat() : [check.unknown(known.unknown)];
}

/** As if it were empty, a collection that the API server does not serve. */
export async function ifServed<T>(request: Promise<T>, none: T): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiStatusError && error.code === 404) return none;
    throw error;
  }
}

/** A finding gives only the number of names beyond these. */
const MAX_NAMES = 5;

export function named(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
