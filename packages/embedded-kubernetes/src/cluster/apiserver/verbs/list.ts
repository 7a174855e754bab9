/** Lists objects in pages. */
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { ListMeta } from '@lockstep/kube/meta.ts';
import { badRequest, expired } from '@lockstep/kube/status-errors.ts';
import type { Entry } from '../resources/entry.ts';
import type { ServedResource } from '../resources/served-resource.ts';
import { integerOption, listSnapshot } from './list-options.ts';
import type { Selection } from './selection.ts';

/** One page of a list, or all of it. */
export interface ListPage {
  readonly entries: readonly Entry[];
  readonly metadata: ListMeta;
}

/**
 * Answers a list from memory. All pages of a list show one revision: the token names it, and the
 * collection's history leads back to it. If the history is too short the answer is 410.
 */
export function listPage(
  of: ServedResource,
  selection: Selection,
  query: URLSearchParams,
): ListPage {
  const { collection } = of;
  const limit = integerOption(query, 'limit') ?? 0;
  const token = query.get('continue') ?? '';
  const snapshot = listSnapshot(query, collection.revision);
  const from = token === '' ? undefined : parseToken(token, query);
  const revision =
    from?.revision ?? (snapshot.at === 'Exactly' ? snapshot.revision : collection.revision);
  const start = from?.start ?? selection.prefix;
  const all =
    revision === collection.revision
      ? collection.entries(selection.prefix, start)
      : collection.entriesAt(revision, selection.prefix, start);
  if (all === undefined) throw tooOld(from !== undefined, revision, collection.revision);
  const matching = all.filter((entry) => selection.matches(entry));
  const resourceVersion = String(revision);
  const next = limit > 0 ? matching[limit] : undefined;
  if (next === undefined) return { entries: matching, metadata: { resourceVersion } };
  return {
    entries: matching.slice(0, limit),
    metadata: {
      resourceVersion,
      continue: formatToken({ revision, start: next.key }),
      // A filtered list has no count, as in Kubernetes, where it is not known either.
      ...(selection.isFiltered ? {} : { remainingItemCount: matching.length - limit }),
    },
  };
}

interface ContinueToken {
  readonly revision: number;
  /** Key of the first entry of the next page. */
  readonly start: string;
}

function formatToken(token: ContinueToken): string {
  const json = JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.revision, start: token.start });
  return Buffer.from(json).toString('base64url');
}

function parseToken(text: string, query: URLSearchParams): ContinueToken {
  const version = query.get('resourceVersion') ?? '';
  if (version !== '' && version !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const strange = undecodableAt(text);
  if (strange !== undefined) throw badToken(`illegal base64 data at input byte ${strange}`);
  let issuer: unknown;
  try {
    const token: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (isJsonObject(token)) {
      const { v, rv, start } = token;
      if (v === 'meta.k8s.io/v1' && Number.isSafeInteger(rv) && typeof start === 'string') {
        return { revision: Number(rv), start };
      }
      issuer = v;
    }
  } catch (cause) {
    throw badToken('the token cannot be decoded', cause);
  }
  throw badToken(`server does not recognize this encoded version ${String(issuer)}`);
}

function badToken(why: string, cause?: unknown): Error {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`, cause);
}

/** Where a text stops being base64url without padding: 4 characters are 3 bytes, 1 is none. */
function undecodableAt(text: string): number | undefined {
  const strange = text.search(/[^A-Za-z0-9_-]/);
  if (strange >= 0) return strange;
  return text.length % 4 === 1 ? text.length - 1 : undefined;
}

function tooOld(isContinued: boolean, revision: number, current: number): Error {
  return expired(
    isContinued
      ? 'The provided continue parameter is too old to display a consistent list result. ' +
          'You can start a new list without the continue parameter.'
      : `The resourceVersion for the provided list is too old: ${revision} (${current})`,
  );
}
