/** Answers watch requests. */
import { jitter } from '@lockstep/kube/runtime/ports/random.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { type ResourceCall, representationOf } from '../calls/resource-call.ts';
import { contentTypeOf } from '../http/encode.ts';
import { bytesResponse } from '../http/request.ts';
import { booleanOption, integerOption, watchStart } from './list-options.ts';
import { selectionOf } from './selection.ts';
import { watch } from './watch.ts';

export function isWatch({ path, request }: ResourceCall): boolean {
  return path.watch || booleanOption(request.query, 'watch') === true;
}

/** The least default of `timeoutSeconds`; a random share of up to as much is added. */
const DEFAULT_WATCH_TIMEOUT_MS = 30 * 60_000;

export function watchResponse(call: ResourceCall): HttpResponse {
  const { server, of, path, request } = call;
  const { query } = request;
  const as = { ...representationOf(request), encoding: 'json' as const };
  const { start, announcesInitialEnd } = watchStart(query, of.collection.revision);
  const timeoutSeconds = integerOption(query, 'timeoutSeconds') ?? 0;
  const filter = new URLSearchParams(query);
  if (path.name !== undefined) filter.set('fieldSelector', `metadata.name=${path.name}`);
  const lines = watch({
    of,
    as,
    selection: selectionOf(of, path.namespace, filter),
    start,
    wantsBookmarks: booleanOption(query, 'allowWatchBookmarks') === true,
    announcesInitialEnd,
    timeoutMs:
      timeoutSeconds > 0
        ? timeoutSeconds * 1000
        : jitter(server.random, DEFAULT_WATCH_TIMEOUT_MS, 1),
    signal: request.signal,
    streams: server.streams,
    clock: server.clock,
  });
  return bytesResponse(200, contentTypeOf(as), lines);
}
