/** Parses the query options of lists and watches. */
import {
  forbiddenField,
  formatFieldError,
  invalid,
  invalidValue,
  notSupported,
} from '@lockstep/kube/field-error.ts';
import { quote } from '@lockstep/kube/quote.ts';
import {
  type ApiStatusError,
  type FieldError,
  failure,
  failureWithoutReason,
} from '@lockstep/kube/status.ts';
import { badRequest } from '@lockstep/kube/status-errors.ts';
import type { WatchStart } from './watch.ts';

/** The state from which a list is answered. */
export type ListSnapshot =
  | { readonly at: 'Latest' }
  | { readonly at: 'Exactly'; readonly revision: number };

/** The snapshot that `resourceVersion` and `resourceVersionMatch` of a list ask for. */
export function listSnapshot(query: URLSearchParams, current: number): ListSnapshot {
  const revision = revisionOf(query);
  const match = query.get('resourceVersionMatch') ?? '';
  const errors: FieldError[] = [];
  if (query.has('sendInitialEvents')) {
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') {
    errors.push(notSupported(MATCH, match, ['Exact', 'NotOlderThan', '']));
  } else if (match !== '' && revision === undefined) {
    errors.push(forbiddenField(MATCH, `${MATCH} is forbidden unless resourceVersion is provided`));
  } else if (match === 'Exact' && revision === 0) {
    errors.push(forbiddenField(MATCH, `${MATCH} "exact" is forbidden for resourceVersion "0"`));
  }
  if (match !== '' && (query.get('continue') ?? '') !== '') {
    errors.push(forbiddenField(MATCH, `${MATCH} is forbidden when continue is provided`));
  }
  if (errors.length > 0) throw invalidListOptions(errors);
  if (revision !== undefined && revision > current) throw tooLarge(revision, current);
  return match === 'Exact' && revision !== undefined
    ? { at: 'Exactly', revision }
    : { at: 'Latest' };
}

/** Where a watch starts, and whether it announces the end of its initial events. */
export function watchStart(
  query: URLSearchParams,
  current: number,
): { readonly start: WatchStart; readonly announcesInitialEnd: boolean } {
  const revision = watchRevisionOf(query);
  const match = query.get('resourceVersionMatch') ?? '';
  const sendInitialEvents = booleanOption(query, 'sendInitialEvents');
  const errors: FieldError[] = [];
  if (sendInitialEvents === undefined && match !== '') {
    const detail = `${MATCH} is forbidden for watch unless sendInitialEvents is provided`;
    errors.push(forbiddenField(MATCH, detail));
  } else if (sendInitialEvents !== undefined && match === '') {
    const detail = `sendInitialEvents requires setting ${MATCH} to NotOlderThan`;
    errors.push(forbiddenField(MATCH, detail));
  }
  if (match !== '' && match !== 'NotOlderThan') {
    errors.push(notSupported(MATCH, match, ['NotOlderThan']));
  }
  if (errors.length > 0) throw invalidListOptions(errors);
  if (sendInitialEvents === true) {
    if ((revision ?? 0) > current) throw tooLarge(revision ?? 0, current);
    const announcesInitialEnd = booleanOption(query, 'allowWatchBookmarks') === true;
    return { start: { from: 'State' }, announcesInitialEnd };
  }
  if (revision !== undefined && revision > 0) {
    return { start: { from: 'After', revision }, announcesInitialEnd: false };
  }
  const start: WatchStart =
    sendInitialEvents === false ? { from: 'After', revision: current } : { from: 'State' };
  return { start, announcesInitialEnd: false };
}

/** A query parameter that is a whole number, at least 0; undefined if it is not given. */
export function integerOption(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^-?[0-9]+$/.test(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`);
  }
  return Math.max(0, Number(text));
}

/** Reads booleans as the API does: everything but `false` and `0` is true. */
export function booleanOption(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  return text === null ? undefined : text.toLowerCase() !== 'false' && text !== '0';
}

const MATCH = 'resourceVersionMatch';

/** Undefined if no version is asked for; 0 means any. */
function revisionOf(query: URLSearchParams): number | undefined {
  return parseRevision(query, (why) => badRequest(`invalid resource version: ${why}`));
}

/** Watches report this error in another form than lists, and clients rely on that. */
function watchRevisionOf(query: URLSearchParams): number | undefined {
  return parseRevision(query, failureWithoutReason);
}

function parseRevision(
  query: URLSearchParams,
  refusal: (why: string) => ApiStatusError,
): number | undefined {
  const text = query.get('resourceVersion') ?? '';
  if (text === '') return undefined;
  if (/^[0-9]+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  const why = `strconv.ParseUint: parsing ${quote(text)}: invalid syntax`;
  throw refusal(formatFieldError(invalidValue('resourceVersion', text, why)));
}

function invalidListOptions(errors: readonly FieldError[]): ApiStatusError {
  return invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
}

/** The client has seen a revision that this server has not reached. */
function tooLarge(revision: number, current: number): ApiStatusError {
  return failure(
    'Timeout',
    `Timeout: Too large resource version: ${revision}, current: ${current}`,
    {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  );
}
