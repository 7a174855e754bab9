/** Lists in pages and at points in time, and watches, of Secrets with one label. */
import {
  METADATA,
  METADATA_LIST,
  NAMESPACE,
  type ScriptedRequest,
  TABLE,
} from './scripted-request.ts';

const SECRETS = `${NAMESPACE}/secrets`;
const PAGED = 'labelSelector=app%3Dpaged';

function created(name: string, app = 'paged'): ScriptedRequest {
  return {
    name: `create the Secret ${name}`,
    method: 'POST',
    path: SECRETS,
    body: { apiVersion: 'v1', kind: 'Secret', metadata: { name, labels: { app } } },
  };
}

function labelled(name: string, what: string, app: string): ScriptedRequest {
  return {
    name: what,
    method: 'PATCH',
    path: `${SECRETS}/${name}`,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { metadata: { labels: { app } } },
  };
}

function list(name: string, query: string, headers: Record<string, string> = {}): ScriptedRequest {
  return { name, method: 'GET', path: `${SECRETS}?${query}`, headers };
}

function watch(
  name: string,
  events: number,
  query: string,
  headers: Record<string, string> = {},
): ScriptedRequest {
  return { name, method: 'GET', path: `${SECRETS}?watch=1&${query}`, headers, events };
}

const INITIAL = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';

export const LIST_REQUESTS: readonly ScriptedRequest[] = [
  ...['s1', 's2', 's3', 's4', 's5'].map((name) => created(name)),
  list('the first page', 'limit=2'),
  created('s0'),
  { name: 'delete s4 between pages', method: 'DELETE', path: `${SECRETS}/s4` },
  list('the second page shows what was there', 'limit=2&continue={continue}'),
  list('the last page', 'limit=2&continue={continue}'),
  list('the first page of a selection', `limit=2&${PAGED}`),
  list('a page in YAML', 'limit=1', { accept: 'application/yaml' }),
  list('a page of metadata', 'limit=1', METADATA_LIST),
  list('metadata of one, of a list', 'limit=1', METADATA),
  {
    name: 'metadata of a list, of one',
    method: 'GET',
    path: `${SECRETS}/s1`,
    headers: METADATA_LIST,
  },
  list('a page of a table', 'limit=1', TABLE),
  list('a table without objects', 'limit=1&includeObject=None', TABLE),
  list('a table with objects', 'limit=1&includeObject=Object', TABLE),
  list('a table with what there is not', 'includeObject=All', TABLE),
  list('a page with a version', 'limit=2&continue={continue}&resourceVersion={revision}'),
  list('a page that matches a version', 'limit=2&continue={continue}&resourceVersionMatch=Exact'),
  list('a continue of something else', 'continue=eyJ2IjoidjkifQ'),
  list('a list of any version', `resourceVersion=0&${PAGED}`),
  { name: 'delete s5 after the list', method: 'DELETE', path: `${SECRETS}/s5` },
  list('a list of exactly that version', 'resourceVersion={revision}&resourceVersionMatch=Exact'),
  list('a list not older', 'resourceVersion={revision}&resourceVersionMatch=NotOlderThan'),
  list('a list of exactly any version', 'resourceVersion=0&resourceVersionMatch=Exact'),
  list('a list that matches strangely', 'resourceVersion=1&resourceVersionMatch=Some'),
  list('a list with initial events', 'sendInitialEvents=true'),
  list('a list of the future', 'resourceVersion=999999999'),
  {
    name: 'a list of all namespaces',
    method: 'GET',
    path: '/api/v1/secrets?fieldSelector=metadata.namespace%3Dconformance',
  },
  list('by type', 'fieldSelector=type%3DOpaque%2Cmetadata.name%21%3Ds1&limit=1'),
  list('by a label there may not be', 'labelSelector=app+notin+%28paged%29'),

  watch('a watch of what there is', 4, `${PAGED}&resourceVersion=0`),
  list('a list to watch from', PAGED),
  created('s6'),
  labelled('s1', 'leave the selection', 'other'),
  {
    name: 'change nothing',
    method: 'PATCH',
    path: `${SECRETS}/s2`,
    body: {},
    headers: { 'content-type': 'application/merge-patch+json' },
  },
  labelled('s1', 'come back', 'paged'),
  { name: 'delete s2', method: 'DELETE', path: `${SECRETS}/s2` },
  created('aside', 'other'),
  watch('a watch from a version', 4, `${PAGED}&resourceVersion={revision}`),
  watch('a watch of metadata', 2, `${PAGED}&resourceVersion={revision}`, METADATA),
  watch('a watch of a table', 2, `${PAGED}&resourceVersion={revision}`, TABLE),
  watch('initial events and their end', 5, `${PAGED}&${INITIAL}&allowWatchBookmarks=true`),
  watch('initial events without bookmarks', 4, `${PAGED}&${INITIAL}`),
  watch('a watch of one by name', 1, 'fieldSelector=metadata.name%3Ds6'),
  watch(
    'a watch of metadata and its end',
    5,
    `${PAGED}&${INITIAL}&allowWatchBookmarks=1`,
    METADATA,
  ),
  watch('a watch of a table and its end', 5, `${PAGED}&${INITIAL}&allowWatchBookmarks=1`, TABLE),
  { name: 'delete a selection', method: 'DELETE', path: `${SECRETS}?${PAGED}` },
  list('what the deletion left', 'limit=500'),
];
