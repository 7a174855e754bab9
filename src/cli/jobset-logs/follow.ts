/** Follows the logs of a JobSet: through restarts in place, and into Pods and Jobs that are new. */

import { JOBS } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { labelledBy } from '../named-jobset.ts';
import { PORTS } from '../ports.ts';
import { bytesOf, type LabelledLine, shownLines } from './line-printer.ts';
import { type LogMember, logMembers } from './log-members.ts';
import { LiveMerge } from './merge.ts';
import {
  expectPrefix,
  type LogsJob,
  memberLog,
  type OpenLog,
  printSoFar,
  write,
} from './so-far.ts';

/** Members that may be followed: each takes a connection. */
const MAX_FOLLOWED = 256;
/** A group that is recreated has old and new Pods for a while. */
const MAX_STREAMS = 2 * MAX_FOLLOWED;

/** Resolves when the JobSet is gone or finished, and all logs have ended. */
export async function followLogs(job: LogsJob): Promise<void> {
  const { client, jobSet, at, signal } = job;
  const common = { client, ...PORTS };
  const labelled = { ...common, ...labelledBy(jobSet, at) };
  const informers = {
    pods: createInformer({ ...labelled, resource: PODS }),
    jobs: createInformer({ ...labelled, resource: JOBS }),
    jobSets: createInformer({
      ...common,
      resource: JOBSETS,
      namespace: at.namespace,
      fieldSelector: `metadata.name=${at.name}`,
    }),
  };
  const { pods, jobs, jobSets } = informers;
  const all = [pods, jobs, jobSets];
  const stop = new AbortController();
  const until = AbortSignal.any([signal, stop.signal]);
  try {
    await Promise.all(all.map(async (each) => each.whenSynced(signal)));
    const following = new Following(
      { ...job, signal: until },
      {
        members: () => logMembers(jobSet, jobs.store.values(), pods.store.values()),
        isOver: () => {
          const [now] = jobSets.store.values();
          const isFinished = (now?.status?.terminalState ?? '') !== '';
          return now?.metadata.uid !== jobSet.metadata.uid || isFinished;
        },
      },
    );
    await following.begin();
    const look = (): void => following.look();
    for (const each of all) each.subscribe({ added: look, updated: look, deleted: look }, until);
    await following.ended;
  } finally {
    stop.abort(new Error('all logs have ended'));
    await Promise.all(all.map(async (each) => each.stop()));
  }
}

/** What the informers know now. */
interface FollowedRun {
  readonly members: () => readonly LogMember[];
  /** The JobSet gets no new Pods. */
  readonly isOver: () => boolean;
}

class Following {
  readonly ended: Promise<void>;
  readonly #job: LogsJob;
  readonly #known: FollowedRun;
  readonly #merge: LiveMerge<LabelledLine>;
  /** By UID of the Pod. */
  readonly #logs = new Map<string, OpenLog>();
  /** Pods whose logs have ended. */
  readonly #read = new Set<string>();
  #settle: (error?: unknown) => void = () => undefined;

  constructor(job: LogsJob, known: FollowedRun) {
    this.#job = job;
    this.#known = known;
    this.#merge = new LiveMerge({
      clock: PORTS.clock,
      write: async (lines) => write(job, lines),
      sizeOf: bytesOf,
    });
    this.ended = new Promise((resolve, reject) => {
      this.#settle = (error) => (error === undefined ? resolve() : reject(error));
      const { signal } = job;
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    this.ended.catch(() => undefined);
  }

  /** Shows what there is, in order, and follows it. */
  async begin(): Promise<void> {
    const members = this.#known.members().filter(this.#job.isWanted);
    if (members.length > MAX_FOLLOWED) {
      throw new Error(
        `-f follows at most ${MAX_FOLLOWED} members, and there are ${members.length}: choose one with --rank, or leave out -f`,
      );
    }
    const logs = members.map((member) => ({ member, log: memberLog(this.#job, member) }));
    await printSoFar(this.#job, logs);
    for (const open of logs) this.#follow(open);
    this.look();
  }

  /** Takes in what has changed. */
  look(): void {
    const members = this.#known.members().filter(this.#job.isWanted);
    const now = new Map(members.map((member) => [member.pod.metadata.uid, member]));
    for (const [uid, { log }] of this.#logs) log.update(now.get(uid)?.pod);
    for (const [uid, member] of now) {
      if (this.#logs.has(uid) || this.#read.has(uid)) continue;
      if (this.#logs.size >= MAX_STREAMS) {
        this.#settle(new Error(`more than ${MAX_STREAMS} logs are open: choose one with --rank`));
        return;
      }
      this.#follow({ member, log: memberLog(this.#job, member) });
    }
    this.#endIfOver();
  }

  #follow(open: OpenLog): void {
    const { uid } = open.member.pod.metadata;
    this.#logs.set(uid, open);
    this.#pump(open).then(
      () => {
        this.#logs.delete(uid);
        this.#read.add(uid);
        this.#endIfOver();
      },
      (error: unknown) => this.#settle(error),
    );
  }

  async #pump(open: OpenLog): Promise<void> {
    expectPrefix(this.#job, open);
    const { member, log } = open;
    const lines = shownLines(log.following(), member.label, this.#job.shown);
    for await (const line of lines) await this.#merge.add(line);
  }

  #endIfOver(): void {
    if (this.#logs.size > 0 || !this.#known.isOver()) return;
    this.#merge.flush().then(
      () => this.#settle(),
      (error: unknown) => this.#settle(error),
    );
  }
}
