/**
 * The channel over the API server: announcements are an annotation of the agent's Pod, and what the
 * controller answers is the status of the JobSet.
 */
import type { JobSet } from '../jobset/jobset.ts';
import type { Stored } from '../kube/meta.ts';
import type { Client } from '../runtime/client.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import type { Logger } from '../runtime/ports/logger.ts';
import type { Random } from '../runtime/ports/random.ts';
import { Announcer } from './announcer.ts';
import type { Channel, ChannelListener, Snapshot } from './channel.ts';
import { followJobSet } from './jobset-follower.ts';
import { groupSize, jobSetSnapshot } from './jobset-snapshot.ts';

export interface ApiChannelOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly namespace: string;
  readonly jobSetName: string;
  readonly replicatedJobName: string | undefined;
  readonly podName: string;
  readonly podUid: string | undefined;
  /** The epoch that this Pod announced last, as far as its marker knows; 0: none. */
  readonly announced: number;
}

/** Groups up to this size announce at once: an API server takes that many patches in its stride. */
const SPREAD_FREE_GROUP_SIZE = 200;
/** Half of what one Pod patch costs a server of two cores: the spread is no slower than the work. */
const SPREAD_PER_MEMBER_MS = 2;

export function createApiChannel(options: ApiChannelOptions): Channel {
  const { client, clock, random, logger, namespace } = options;
  const end = new AbortController();
  let listener: ChannelListener | undefined;
  let known: { readonly snapshot: Snapshot; readonly size: number } | undefined;

  const spreadMs = (epoch: number): number => {
    // Whoever announces beyond the current epoch tells of a failure, and nobody else does yet.
    if (known === undefined || epoch > known.snapshot.deprecated + 1) return 0;
    return random.next() * SPREAD_PER_MEMBER_MS * Math.max(0, known.size - SPREAD_FREE_GROUP_SIZE);
  };
  const announcer = new Announcer({
    client,
    clock,
    random,
    logger,
    pod: { namespace, name: options.podName, uid: options.podUid },
    announced: options.announced,
    spreadMs,
    confirmed: (epoch) => listener?.announced(epoch),
    podEnding: () => listener?.podEnding(),
    signal: end.signal,
  });
  const seen = (jobSet: Stored<JobSet>): void => {
    const snapshot = jobSetSnapshot(jobSet, options.replicatedJobName);
    known = { snapshot, size: groupSize(jobSet) };
    listener?.snapshot(snapshot);
  };
  return {
    open(to) {
      listener = to;
      const { signal } = end;
      const name = options.jobSetName;
      void followJobSet({ client, clock, random, logger, namespace, name, seen, signal });
    },
    announce: (announcement) => announcer.announce(announcement),
    giveNotice: (epoch) => announcer.giveNotice(epoch),
    close() {
      end.abort(new Error('the channel was closed'));
      listener = undefined;
    },
  };
}
