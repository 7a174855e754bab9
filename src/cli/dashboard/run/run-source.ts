/** Follows one JobSet and its members, and tells pages about them. */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import { CORE_EVENTS, type CoreEvent } from '@lockstep/kube/objects/event.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { pause } from '@lockstep/kube/runtime/ports/clock.ts';
import {
  type EventView,
  MAX_SAMPLES,
  type RunMessage,
  type RunView,
  type Sample,
  withMembers,
} from '../../../dashboard/messages/run.ts';
import { JOBSETS, type JobSet } from '../../../jobset/jobset.ts';
import { claims } from '../../../jobset/membership.ts';
import { JOBSET_UID } from '../../../jobset/names.ts';
import { type GroupProgress, groupProgress } from '../../../jobset/progress/group-progress.ts';
import { specView } from '../../../jobset/view/spec-view.ts';
import { type StatusView, statusView } from '../../../jobset/view/status-view.ts';
import { eventChoice, eventViews } from '../../jobset-status/event-views.ts';
import type { Asked, HubMembers } from '../../jobset-status/hub-members.ts';
import type { NodeHealth } from '../../jobset-status/node-health.ts';
import { Coalesced } from '../streams/coalesced.ts';
import type { Publisher, Source } from '../streams/feed.ts';
import { Followed, type Surroundings } from '../streams/followed.ts';
import { refusalInWords } from '../streams/refusal-in-words.ts';
import { actionOffers } from './action-offers.ts';
import { type Members, memberChanges, membersMessages } from './member-changes.ts';
import type { Rights, RightsCheck } from './rights.ts';
import { runView, sampleOf, withoutTime } from './run-view.ts';

export interface RunOptions extends Surroundings {
  readonly at: { readonly namespace: string; readonly name: string };
  readonly hub: Pick<HubMembers, 'ask' | 'close'>;
  readonly nodes: Pick<NodeHealth, 'notReady'>;
  readonly rights: RightsCheck;
  readonly clusterFlags: readonly string[];
}

/** Announcements over a hub have no watch, so they are polled. */
const ASK_INTERVAL_MS = 1000;
/** A page counts time by itself. It gets a run of which only the times changed this often. */
const RETELL_MS = 5000;

/** How long a page waits for the first answer. */
const FIRST_ANSWER_MS = 1000;

/** What is followed of the JobSet of one UID. */
interface Parts {
  readonly uid: string;
  readonly pods: Followed<Pod>;
  readonly events: Followed<CoreEvent>;
  readonly stopping: AbortController;
}

export class RunSource implements Source<RunMessage> {
  readonly #options: RunOptions;
  readonly #publisher: Publisher<RunMessage>;
  readonly #coalesced: Coalesced;
  readonly #leaveHealth: () => void;
  readonly #jobSets: Followed<JobSet>;
  #parts: Parts | undefined;
  #asked: Asked = { reports: undefined };
  #hasNewAnswer = false;
  /** The hub was asked once, or takes too long. */
  #isShown = false;
  #notReady: ReadonlySet<string> = new Set();
  #rights: Rights | undefined;
  /** What pages know. */
  #run: RunView | undefined;
  #members: Members = new Map();
  #samples: readonly Sample[] = [];
  #lastSteps: GroupProgress | undefined;
  #events: readonly EventView[] = [];
  #isGone = false;
  #problems: readonly string[] = [];
  #spec: { readonly of: Stored<JobSet>; readonly view: RunView['spec'] } | undefined;

  constructor(options: RunOptions, publisher: Publisher<RunMessage>) {
    const { at, clock, health } = options;
    this.#options = options;
    this.#publisher = publisher;
    this.#coalesced = new Coalesced(clock, () => this.#tell());
    const look = (): void => this.#coalesced.ask();
    this.#leaveHealth = health.follow({ changed: look });
    this.#jobSets = new Followed<JobSet>({
      ...options,
      resource: JOBSETS,
      namespace: at.namespace,
      fieldSelector: `metadata.name=${at.name}`,
      handler: { added: look, updated: look, deleted: look },
      onState: look,
    });
  }

  snapshot(): readonly RunMessage[] {
    return [
      ...(this.#run === undefined ? [] : [{ type: 'Run', run: this.#run } as const]),
      ...membersMessages([...this.#members.values()]),
      { type: 'Samples', samples: this.#samples },
      { type: 'Events', events: this.#events },
      { type: 'Problems', problems: this.#problems },
      ...(this.#isGone ? [{ type: 'Gone' } as const] : []),
    ];
  }

  async stop(): Promise<void> {
    this.#coalesced.stop();
    this.#leaveHealth();
    this.#options.hub.close();
    await Promise.all([this.#jobSets.stop(), this.#endParts()]);
  }

  #tell(): void {
    const { informer } = this.#jobSets;
    const [jobSet] = informer.store.values();
    if (jobSet !== undefined) {
      this.#begin(jobSet);
      this.#tellRun(jobSet);
    } else if (informer.hasSynced() && this.#run !== undefined && !this.#isGone) {
      this.#isGone = true;
      void this.#endParts();
      this.#publisher.publish({ type: 'Gone' });
    }
    this.#tellProblems();
  }

  /** Follows what belongs to it, unless that is done. Another JobSet of its name starts afresh. */
  #begin(jobSet: Stored<JobSet>): void {
    const { uid } = jobSet.metadata;
    if (this.#parts?.uid === uid) return;
    const isAnother = this.#run !== undefined && this.#run.uid !== uid;
    void this.#endParts();
    if (isAnother || this.#isGone) {
      this.#run = undefined;
      this.#members = new Map();
      this.#samples = [];
      this.#lastSteps = undefined;
      this.#events = [];
      this.#isGone = false;
      this.#asked = { reports: undefined };
      this.#publisher.startAnew();
    }
    this.#parts = this.#follow(uid);
  }

  #follow(uid: string): Parts {
    const look = (): void => this.#coalesced.ask();
    const { namespace } = this.#options.at;
    const handler = { added: look, updated: look, deleted: look };
    const common = { ...this.#options, namespace, handler, onState: look };
    const stopping = new AbortController();
    const pods = new Followed<Pod>({
      ...common,
      resource: PODS,
      labelSelector: `${JOBSET_UID}=${uid}`,
    });
    const choice = eventChoice({
      jobSet: () => [...this.#jobSets.informer.store.values()][0],
      podUid: (name) => pods.informer.store.get(`${namespace}/${name}`)?.metadata.uid,
    });
    const forget = (event: Stored<CoreEvent>): void => {
      choice.forget(event);
      look();
    };
    const events = new Followed<CoreEvent>({
      ...common,
      ...choice,
      resource: CORE_EVENTS,
      handler: { ...handler, deleted: forget },
    });
    const parts = { uid, stopping, pods, events };
    void this.#askAgainAndAgain(parts);
    return parts;
  }

  async #endParts(): Promise<void> {
    const parts = this.#parts;
    this.#parts = undefined;
    if (parts === undefined) return;
    parts.stopping.abort(new Error('nobody looks any more'));
    await Promise.all([parts.pods.stop(), parts.events.stop()]);
  }

  async #askAgainAndAgain(parts: Parts): Promise<void> {
    const { clock, hub, nodes, rights } = this.#options;
    const { signal } = parts.stopping;
    // Without it, a page would show members without epochs for a moment.
    const patience = clock.setTimer(FIRST_ANSWER_MS, () => this.#showNow());
    signal.addEventListener('abort', () => patience.cancel(), { once: true });
    await parts.pods.informer.whenSynced(signal).catch(() => undefined);
    while (!signal.aborted) {
      try {
        const pods = this.#podsOf(parts);
        const names = pods.flatMap(({ spec: { nodeName } }) => nodeName ?? []);
        const [asked, notReady, mayDo] = await Promise.all([
          hub.ask(parts.uid, pods, signal),
          nodes.notReady(new Set(names), signal).catch(() => this.#notReady),
          rights.current(signal),
        ]);
        if (signal.aborted) return;
        this.#asked = asked;
        this.#notReady = notReady;
        this.#rights = mayDo;
        this.#hasNewAnswer = true;
        this.#showNow();
      } catch {
        // What fails here is asked again.
      }
      await pause(clock, ASK_INTERVAL_MS, signal);
    }
  }

  #showNow(): void {
    this.#isShown = true;
    this.#coalesced.ask();
  }

  #podsOf({ pods }: Parts): readonly Stored<Pod>[] {
    const [jobSet] = this.#jobSets.informer.store.values();
    if (jobSet === undefined) return [];
    return [...pods.informer.store.values()].filter((pod) => claims(pod, jobSet));
  }

  #tellRun(jobSet: Stored<JobSet>): void {
    const parts = this.#parts;
    // Members that have not come yet are not gone.
    if (parts === undefined || !this.#isShown) return;
    const arePodsKnown = parts.pods.informer.hasSynced() || parts.pods.refusal !== undefined;
    if (!arePodsKnown) return;
    const atMs = this.#options.clock.now();
    const reports = 'reports' in this.#asked ? this.#asked.reports : undefined;
    const view = this.#withLastSteps(
      statusView(jobSet, this.#podsOf(parts), reports, this.#notReady, atMs),
    );
    const steps = reports?.flatMap(({ progress }) => progress ?? []);
    const { clusterFlags } = this.#options;
    const actions = actionOffers(jobSet, this.#rights);
    const more = { actions, spec: this.#specOf(jobSet), clusterFlags, atMs };
    this.#publishRun(runView(jobSet, view, steps && groupProgress(steps), more));
    const changes = memberChanges(this.#members, view.members, atMs);
    if (changes !== undefined) {
      this.#members = withMembers(this.#members, changes);
      this.#publisher.publish(changes);
    }
    if (this.#hasNewAnswer) {
      this.#hasNewAnswer = false;
      this.#addSample(sampleOf(view, atMs));
    }
    this.#tellEvents(parts);
  }

  /** Members that are gone report no steps: the last that they reported stay. */
  #withLastSteps(view: StatusView): StatusView {
    const { progress, state } = view.jobSet;
    if (progress?.highestStep !== undefined) this.#lastSteps = progress;
    const isAtRest = state === 'Completed' || state === 'Failed' || state === 'Suspended';
    const last = this.#lastSteps;
    if (!isAtRest || progress?.highestStep !== undefined || last === undefined) return view;
    const { lowestStep, highestStep, checkpoint } = last;
    const kept = defined({ lowestStep, highestStep, checkpoint });
    return { ...view, jobSet: { ...view.jobSet, progress: kept } };
  }

  #publishRun(run: RunView): void {
    const told = this.#run;
    const isOld = told === undefined || run.atMs - told.atMs >= RETELL_MS;
    if (!isOld && withoutTime(told) === withoutTime(run)) return;
    this.#run = run;
    this.#publisher.publish({ type: 'Run', run });
  }

  #specOf(jobSet: Stored<JobSet>): RunView['spec'] {
    if (this.#spec?.of.metadata.resourceVersion !== jobSet.metadata.resourceVersion) {
      this.#spec = { of: jobSet, view: specView(jobSet) };
    }
    return this.#spec.view;
  }

  #addSample(sample: Sample | undefined): void {
    if (sample === undefined) return;
    this.#samples = [...this.#samples, sample].slice(-MAX_SAMPLES);
    this.#publisher.publish({ type: 'Samples', samples: [sample] });
  }

  #tellEvents({ uid, events: { informer } }: Parts): void {
    const events = eventViews(informer.store.values(), uid);
    if (JSON.stringify(events) === JSON.stringify(this.#events)) return;
    this.#events = events;
    this.#publisher.publish({ type: 'Events', events });
  }

  #tellProblems(): void {
    const problems = this.#missing();
    if (JSON.stringify(problems) === JSON.stringify(this.#problems)) return;
    this.#problems = problems;
    this.#publisher.publish({ type: 'Problems', problems });
  }

  /** What is missing, in sentences. */
  #missing(): readonly string[] {
    const { at, health } = this.#options;
    const { namespace, name } = at;
    const problems = health.problem === undefined ? [] : [health.problem];
    const { informer, refusal } = this.#jobSets;
    if (refusal !== undefined) {
      const what = refusalInWords(refusal, 'JobSets', namespace);
      return [...problems, refusal.code === 403 ? `${what} ${RIGHTS}` : what];
    }
    const { pods, events } = this.#parts ?? {};
    if (informer.hasSynced() && this.#run === undefined && this.#parts === undefined) {
      problems.push(`There is no JobSet ${namespace}/${name}.`);
    }
    if (pods?.refusal !== undefined) {
      problems.push(`${refusalInWords(pods.refusal, 'Pods', namespace)} So no members are shown.`);
    }
    if (events?.refusal !== undefined) {
      problems.push(refusalInWords(events.refusal, 'Events', namespace));
    }
    if ('problem' in this.#asked) {
      problems.push(`Epochs and progress of members may be missing: ${this.#asked.problem}.`);
    }
    return problems;
  }
}

const RIGHTS =
  'You need the right to get, list and watch jobsets.jobset.x-k8s.io there: ask who administers the namespace.';
