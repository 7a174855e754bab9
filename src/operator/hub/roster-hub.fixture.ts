/** A roster behind a hub, as the operator connects them, with Pods of one Job of `jobSetWith`. */

import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import { storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { identityOf, ownerReferenceTo } from '../../jobset/membership.ts';
import { Roster } from '../../jobset/roster/roster.ts';
import { RosterFeed } from '../tracking/roster-feed.ts';
import type { Hub } from './hub.ts';

export const TRAIN = identityOf(jobSetWith(0, 0, 1));
const JOB = storedJob('train-w-0', 'w', {
  pods: 9,
  metadata: { ownerReferences: [ownerReferenceTo(TRAIN)] },
});

export class RosterBehindHub {
  readonly feed: RosterFeed;

  constructor(clock: Clock, hub: () => Hub) {
    const roster = new Roster((uid) => (uid === JOB.metadata.uid ? JOB : undefined));
    this.feed = new RosterFeed({
      roster,
      clock,
      broken: (error) => {
        throw error;
      },
    });
    this.feed.subscribe((news) => hub().hear(news));
  }

  get roster(): Roster {
    return this.feed.roster;
  }

  podSeen(uid: string): void {
    if (this.roster.pod(uid) === undefined) this.feed.tell({ kind: 'PodSeen', pod: podWith(uid) });
  }

  podGone(uid: string): void {
    this.feed.tell({ kind: 'PodGone', pod: podWith(uid) });
  }
}

function podWith(uid: string): Stored<PartialObjectMetadata> {
  const { name, uid: jobUid } = JOB.metadata;
  const job = { apiVersion: 'batch/v1', kind: 'Job', name, uid: jobUid, controller: true };
  const version = { resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: uid, namespace: TRAIN.namespace, uid, ownerReferences: [job], ...version },
  };
}
