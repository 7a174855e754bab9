/** Kubernetes Events of a JobSet, its Jobs and its Pods, as a page shows them. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { CoreEvent } from '@lockstep/kube/objects/event.ts';
import type { EventView } from '../../dashboard/messages/run.ts';
import { jobNamePrefix } from '../../jobset/derived-names.ts';
import type { JobSet } from '../../jobset/jobset.ts';

const MAX_EVENTS = 500;
/** UTF-16 code units of one message, and of all that are shown. */
const MAX_MESSAGE_LENGTH = 1024;
const MAX_MESSAGES_LENGTH = 256 * 1024;
/** Events of Jobs and Pods that are kept at a time; each takes 2 KB at most. */
const MAX_KEPT = 5000;
/** If one thing happens to several Pods within this time, one line says so. */
const TOGETHER_MS = 60_000;

/** Chooses among all Events of a namespace: no selector finds Events of Pods by their JobSet. */
export interface EventChoice {
  readonly transform: (event: Stored<CoreEvent>) => Stored<CoreEvent>;
  readonly keeps: (event: Stored<CoreEvent>) => boolean;
  /** It is not there any more. */
  readonly forget: (event: Stored<CoreEvent>) => void;
}

export interface Chooser {
  /** As it is now. */
  readonly jobSet: () => Stored<JobSet> | undefined;
  /** The UID of the member of that name; undefined: it is gone, or has not come yet. */
  readonly podUid: (name: string) => string | undefined;
}

export function eventChoice({ jobSet, podUid }: Chooser): EventChoice {
  const kept = new Set<string>();
  const isMeant = (event: Stored<CoreEvent>): boolean => {
    const at = jobSet();
    return at !== undefined && isAbout(event, at, podUid);
  };
  return {
    transform: (event) => shortened(event, isMeant(event) ? MAX_MESSAGE_LENGTH : 0),
    keeps: (event) => {
      if (!isMeant(event)) return false;
      const { uid } = event.metadata;
      const isOwn = event.involvedObject.uid === jobSet()?.metadata.uid;
      // Pods leave room for the JobSet, of which there are few.
      if (!kept.has(uid) && kept.size >= (isOwn ? 2 * MAX_KEPT : MAX_KEPT)) return false;
      kept.add(uid);
      return true;
    },
    forget: ({ metadata }) => {
      kept.delete(metadata.uid);
    },
  };
}

/** About the JobSet, one of its Jobs, or a Pod of them. */
export function isAbout(
  event: Stored<CoreEvent>,
  jobSet: Stored<JobSet>,
  podUid: Chooser['podUid'],
): boolean {
  const { kind, name = '', uid } = event.involvedObject;
  if (uid === jobSet.metadata.uid) return true;
  if (kind !== 'Job' && kind !== 'Pod') return false;
  // Another JobSet may have had the name before.
  if (timeOf(event) < Date.parse(jobSet.metadata.creationTimestamp ?? '')) return false;
  if (kind === 'Job') return isJobOf(jobSet, name);
  const member = podUid(name);
  if (member !== undefined) return member === uid;
  const [, base = ''] = /^(.+)-[a-z0-9]{5}$/.exec(name) ?? [];
  return isJobOf(jobSet, base) || isJobOf(jobSet, base.replace(/-\d+$/, ''));
}

function isJobOf({ metadata, spec }: Stored<JobSet>, name: string): boolean {
  return (spec.replicatedJobs ?? []).some((each) => {
    const prefix = jobNamePrefix(metadata.name, each.name);
    return name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length));
  });
}

/** What is cut off cannot be shown, and of others nothing is. */
function shortened(event: Stored<CoreEvent>, length: number): Stored<CoreEvent> {
  const { managedFields: _, annotations: __, ...metadata } = event.metadata;
  return { ...event, metadata, message: (event.message ?? '').slice(0, length) };
}

/** The newest, the oldest of them first. */
export function eventViews(
  events: Iterable<Stored<CoreEvent>>,
  jobSetUid: string,
): readonly EventView[] {
  const ordered = [...events].sort((a, b) => timeOf(a) - timeOf(b));
  const own = ordered.filter(({ involvedObject }) => involvedObject.uid === jobSetUid);
  const others = ordered.filter(({ involvedObject }) => involvedObject.uid !== jobSetUid);
  return within(
    [...own.map((event) => eventView(event, '')), ...together(others)]
      .sort((a, b) => a.timeMs - b.timeMs)
      .slice(-MAX_EVENTS),
  );
}

/** The newest, as far as their messages are not too long together. */
function within(views: readonly EventView[]): readonly EventView[] {
  let length = 0;
  const from = views.findLastIndex(({ message }) => {
    length += message.length;
    return length > MAX_MESSAGES_LENGTH;
  });
  return views.slice(from + 1);
}

/** Tells once what several Jobs or Pods say alike: how many they are, and the last as an example. */
function together(events: readonly Stored<CoreEvent>[]): readonly EventView[] {
  const groups: { view: EventView; readonly names: Set<string>; readonly key: string }[] = [];
  const newest = new Map<string, (typeof groups)[number]>();
  for (const event of events) {
    const { kind = '', name = '' } = event.involvedObject;
    const view = eventView(event, `${kind} ${name}`);
    // Who is named differs, and where a Pod is put.
    const what = view.type === 'Normal' ? '' : view.message.replaceAll(name, '');
    const key = JSON.stringify([kind, view.type, view.reason, what]);
    const open = newest.get(key);
    if (open === undefined || view.timeMs - open.view.timeMs > TOGETHER_MS) {
      const group = { key, names: new Set([name]), view };
      newest.set(key, group);
      groups.push(group);
      continue;
    }
    open.names.add(name);
    const { size } = open.names;
    const about = size === 1 ? view.about : `${size} ${kind}s, such as ${name}`;
    open.view = { ...view, about, uid: open.view.uid, count: open.view.count + view.count };
  }
  return groups.map(({ view }) => view);
}

function eventView(event: Stored<CoreEvent>, about: string): EventView {
  return {
    uid: event.metadata.uid,
    timeMs: timeOf(event),
    type: event.type ?? '',
    reason: event.reason ?? '',
    message: (event.message ?? '').slice(0, MAX_MESSAGE_LENGTH),
    count: event.series?.count ?? event.count ?? 1,
    about,
  };
}

/** Writers give times in several fields, and leave out the others. 0: none can be read. */
function timeOf(event: Stored<CoreEvent>): number {
  const { metadata, series, lastTimestamp, eventTime, firstTimestamp } = event;
  const times = [series?.lastObservedTime, lastTimestamp, eventTime, firstTimestamp];
  const timeMs = Date.parse(times.find((each) => each != null) ?? metadata.creationTimestamp ?? '');
  return Number.isNaN(timeMs) ? 0 : timeMs;
}
