import type { Metrics } from '@lockstep/kube/runtime/metrics.ts';
import { NO_METRICS } from '@lockstep/kube/runtime/no-metrics.ts';
import type { ProgressMeasures } from './progress-measures.ts';

/** The hub's metrics. Labels have fixed sets of values, so agents cannot make new series. */
export interface HubMetrics {
  streams(count: number): void;
  message(direction: Direction, type: string, bytes: number): void;
  /** Publishes the sums of `message`; a restart of thousands has no time to publish each. */
  flush(): void;
  closed(reason: string): void;
  refused(reason: string): void;
  /** An announcement was older than an earlier one, and changed nothing. */
  ignored(): void;
  /** An agent that used the hub before now uses the API server. */
  fellBack(): void;
  progress(measures: ProgressMeasures): void;
}

type Direction = 'received' | 'sent';

interface Tally {
  readonly direction: Direction;
  readonly type: string;
  messages: number;
  bytes: number;
}

export function hubMetrics(metrics: Metrics = NO_METRICS): HubMetrics {
  const streams = metrics.gauge({ name: 'lockstep_hub_streams', help: 'Open streams of agents' });
  const messages = metrics.counter({
    name: 'lockstep_hub_messages_total',
    help: 'Messages over streams of agents',
    labels: ['direction', 'type'],
  });
  const bytes = metrics.counter({
    name: 'lockstep_hub_bytes_total',
    help: 'Bytes of those messages, before encryption',
    labels: ['direction'],
  });
  const closed = metrics.counter({
    name: 'lockstep_hub_streams_closed_total',
    help: 'Streams that ended, by the reason',
    labels: ['reason'],
  });
  const refused = metrics.counter({
    name: 'lockstep_hub_streams_refused_total',
    help: 'Requests for a stream that were refused, by the reason',
    labels: ['reason'],
  });
  const ignored = metrics.counter({
    name: 'lockstep_hub_announcements_ignored_total',
    help: 'Announcements of an epoch that is older than one that the Pod announced before',
  });
  const fallbacks = metrics.counter({
    name: 'lockstep_hub_fallbacks_total',
    help: 'Agents that left the hub for the API server',
  });
  const reporting = metrics.gauge({
    name: 'lockstep_members_reporting',
    help: 'Members with a stream whose workers report progress',
  });
  const silence = metrics.gauge({
    name: 'lockstep_longest_silence_seconds',
    help: 'Longest time since the last report of a worker that has reported progress',
  });
  const standbysReady = metrics.gauge({
    name: 'lockstep_standbys_ready',
    help: 'Warm standbys that wait for the next epoch',
  });
  const standbysOff = metrics.gauge({
    name: 'lockstep_standbys_off',
    help: 'Members whose Pods get no warm standbys any more',
  });
  const tallies = new Map<string, Tally>();
  return {
    streams: (count) => streams.set({}, count),
    message: (direction, type, size) => {
      const key = `${direction} ${type}`;
      let tally = tallies.get(key);
      if (tally === undefined) {
        tally = { direction, type, messages: 0, bytes: 0 };
        tallies.set(key, tally);
      }
      tally.messages++;
      tally.bytes += size;
    },
    flush: () => {
      for (const tally of tallies.values()) {
        const { direction, type } = tally;
        messages.add({ direction, type }, tally.messages);
        bytes.add({ direction }, tally.bytes);
      }
      tallies.clear();
    },
    closed: (reason) => closed.add({ reason }),
    refused: (reason) => refused.add({ reason }),
    ignored: () => ignored.add({}),
    fellBack: () => fallbacks.add({}),
    progress: (measures) => {
      reporting.set({}, measures.reporting);
      silence.set({}, measures.longestSilenceMs / 1000);
      standbysReady.set({}, measures.standbysReady);
      standbysOff.set({}, measures.standbysOff);
    },
  };
}
