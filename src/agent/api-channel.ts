/**
 * The channel over the API server: announcements are an annotation of the agent's Pod, and the
 * controller's answer is the status of the JobSet.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { ClientPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { groupSize, groupState } from '../jobset/epoch/group-state.ts';
import type { JobSet } from '../jobset/jobset.ts';
import { JOBSET_UID, REPLICATED_JOB_NAME } from '../jobset/names.ts';
import { Announcer } from './announcer.ts';
import type { Channel, ChannelListener, GroupSnapshot } from './channel.ts';
import type { Configuration } from './configuration.ts';
import { followJobSet } from './jobset-follower.ts';

export interface ApiChannelOptions
  extends ClientPorts,
    Pick<
      Configuration,
      'dialect' | 'jobSetName' | 'jobSetUid' | 'replicatedJobName' | 'podName' | 'podUid'
    > {
  readonly namespace: string;
  /** The epoch that this Pod announced last, according to its marker; 0: none. */
  readonly announced: number;
}

/**
 * Groups up to this size announce at once: an API server handles that many patches without delay.
 */
const SPREAD_FREE_GROUP_SIZE = 200;
/**
 * Half the cost of one Pod patch on a server of two cores, so the spread adds no delay.
 */
const SPREAD_PER_MEMBER_MS = 2;

export function createApiChannel(options: ApiChannelOptions): Channel {
  const { random, namespace } = options;
  const end = new AbortController();
  let listener: ChannelListener | undefined;
  let known: GroupSnapshot | undefined;

  const spreadMs = (epoch: number): number => {
    // Only one agent announces more than the current epoch: it reports a failure. It need not wait.
    if (known === undefined || epoch > known.deprecated + 1) return 0;
    return (
      random.next() * SPREAD_PER_MEMBER_MS * Math.max(0, known.members - SPREAD_FREE_GROUP_SIZE)
    );
  };
  const announcer = new Announcer({
    ...options,
    pod: { namespace, name: options.podName, uid: options.podUid },
    spreadMs,
    confirmed: (epoch) => listener?.announced(epoch),
    podEnding: () => listener?.podEnding(),
    podLives: (askedMs) => {
      listener?.podLives(askedMs);
      listener?.answered(askedMs);
    },
    signal: end.signal,
  });
  const follow = async (): Promise<void> => {
    const { signal } = end;
    const identity = await identify(options, announcer);
    if (identity === undefined) return;
    const seen = (jobSet: Stored<JobSet>, isFresh: boolean): void => {
      const { uid } = jobSet.metadata;
      if (identity.jobSetUid !== undefined && identity.jobSetUid !== uid) return;
      const state = groupState(jobSet, identity.replicatedJobName);
      known = { ...state, isFresh, members: groupSize(jobSet) };
      listener?.snapshot(known);
    };
    await followJobSet({ ...options, name: options.jobSetName, seen, signal });
  };
  return {
    open(to) {
      listener = to;
      follow().catch((error: unknown) => {
        // Only the end of the channel gets here.
        if (!end.signal.aborted) throw error;
      });
    },
    announce: (announcement) => announcer.announce(announcement),
    giveNotice: (epoch) => announcer.giveNotice(epoch),
    tellSuccess: () => undefined,
    askForPod: () => void announcer.lookAtPod(),
    ping: () => void announcer.lookAtPod(),
    close() {
      end.abort(new Error('the channel was closed'));
      listener = undefined;
    },
  };
}

type Identity = Pick<ApiChannelOptions, 'jobSetUid' | 'replicatedJobName'>;

/** Which JobSet to follow. If the template does not say, the Pod's labels do. */
async function identify(
  { jobSetUid, replicatedJobName }: ApiChannelOptions,
  announcer: Announcer,
): Promise<Identity | undefined> {
  if (jobSetUid !== undefined && replicatedJobName !== undefined) {
    return { jobSetUid, replicatedJobName };
  }
  const labels = await announcer.ownLabels();
  if (labels === undefined) return undefined;
  return {
    jobSetUid: jobSetUid ?? labels[JOBSET_UID],
    replicatedJobName: replicatedJobName ?? labels[REPLICATED_JOB_NAME],
  };
}
