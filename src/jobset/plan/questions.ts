/**
 * What `plan` must know before it can continue, and the answers. Each question costs a request, so a
 * plan asks only if it must. The next plan of the same pass finds the answer by the kind and the
 * subject of its question, and so never takes an answer about one Pod for an answer about another.
 */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Witness } from '../epoch/witness.ts';
import type { ContainerMinimums } from '../injection/agent-resources.ts';
import type { RestartWitness } from '../jobset-status.ts';
import type { Members } from '../roster/members.ts';
import type { PodFacts } from '../roster/pod-facts.ts';
import type { PodHold } from '../roster/pod-hold.ts';

/** The answer to a kind of question, and what the question says beside its kind. */
interface Asked<A, About = object> {
  readonly answer: A;
  readonly about: Readonly<About>;
}

interface Questions {
  /** How did this member fail? */
  Witness: Asked<Witness, { pod: PodFacts }>;
  /** Did this member, whose agent was told to stop, fail at all? If so, that answers `Witness`. */
  Notice: Asked<never, { pod: PodFacts }>;
  /** Which Pod made this Job fail, and in which epoch? Both are absent if no failed Pod is left. */
  FailedJob: Asked<{ readonly epoch?: number; readonly witness?: Witness }, { job: Stored<Job> }>;
  /** Are Jobs really suspended, so that a released epoch has lost its Pods? `jobs` is fresh then. */
  FreshJobs: Asked<true>;
  /**
   * What do these suspended Jobs say in full? `Snapshot.jobs` need not have all of a Pod template.
   * By UID, the Jobs that still exist, as far as memory allows.
   */
  WholeJobs: Asked<ReadonlyMap<string, Stored<Job>>, { jobs: readonly Stored<Job>[] }>;
  /** Which Pods have succeeded by now, so that no nearly complete Job is recreated? `members` has them. */
  SucceededPods: Asked<true>;
  /** Which Pods live by now, if slots have no known Pod? A second view beside `members`. */
  FreshPods: Asked<Members>;
  /** On which nodes are these overdue Pods? By UID; undefined: it is gone, or has ended. */
  OverduePods: Asked<ReadonlyMap<string, { readonly node?: string } | undefined>, Pods>;
  /**
   * How many of this Job's Pods have failed since the epoch began, and not because it ended? And how
   * did the last of them?
   */
  FailedPods: Asked<{ readonly inEpoch: number; readonly witness?: Witness }, { job: Stored<Job> }>;
  /** What does a LimitRange of the namespace demand of each container? */
  ContainerMinimums: Asked<ContainerMinimums>;
  /** Can agents start from volumes of their image on all nodes that the Pods may use? */
  ImageVolumes: Asked<boolean>;
  /** On which nodes are these suspects of the epoch, and how did their containers end? By UID. */
  Suspects: Asked<
    ReadonlyMap<string, SuspectAnswer>,
    { epoch: number; pods: readonly SuspectPod[] }
  >;
  /** What binds these Pods to one node, so that new ones in their place would be too? By UID, in words. */
  Pins: Asked<ReadonlyMap<string, string>, Pods>;
  /** For how long have the agents of these Pods run in their containers? By UID, in milliseconds. */
  SilentAgents: Asked<ReadonlyMap<string, number>, Pods>;
  /**
   * Why does this Pod not start, or if none is named, the first that is `Pending`? Without a name,
   * there is no such Pod; without a hold, it starts.
   */
  HeldPod: Asked<
    { readonly name?: string; readonly hold?: PodHold },
    { pod: PodFacts | undefined }
  >;
  /** Are these Pods ahead of their time, or is the JobSet old? The Pods, once the JobSet is fresh. */
  FreshJobSet: Asked<readonly PodFacts[], Pods>;
}

interface Pods {
  pods: readonly PodFacts[];
}

type About<K extends keyof Questions> = K extends unknown
  ? { readonly kind: K } & Questions[K]['about']
  : never;

export type Question = About<keyof Questions>;

/** A question to which there is an answer. */
export type Answerable = Exclude<Question, { readonly kind: 'Notice' }>;

export type AnswerOf = { readonly [K in Answerable['kind']]: Questions[K]['answer'] };

/** The answer to a question; undefined: it was not asked in this pass. */
export type Answer = <Q extends Answerable>(question: Q) => AnswerOf[Q['kind']] | undefined;

export const NO_ANSWERS: Answer = () => undefined;

/** The answers with one more. */
export function withAnswer<Q extends Answerable>(
  answers: Answer,
  question: Q,
  answer: AnswerOf[Q['kind']],
): Answer {
  const subject = subjectOf(question);
  // The kind of a question implies the type of its answer.
  return (other) =>
    other.kind === question.kind && subjectOf(other) === subject
      ? (answer as never)
      : answers(other);
}

/**
 * What a question is about, among questions of its kind. A list that an answer may change is no
 * subject: a plan asks once in a pass, and Pods that it would list later wait for another pass.
 */
function subjectOf(question: Answerable): string {
  switch (question.kind) {
    case 'Witness':
      return question.pod.uid;
    case 'FailedJob':
    case 'FailedPods':
      return question.job.metadata.uid;
    case 'Suspects':
      return String(question.epoch);
    case 'Pins':
      return question.pods.map(({ uid }) => uid).join();
    case 'FreshJobs':
    case 'WholeJobs':
    case 'SucceededPods':
    case 'FreshPods':
    case 'OverduePods':
    case 'ContainerMinimums':
    case 'ImageVolumes':
    case 'SilentAgents':
    case 'HeldPod':
    case 'FreshJobSet':
      return '';
  }
}

export type SuspectPod = Pick<PodFacts, 'name' | 'uid'>;

export interface SuspectAnswer {
  readonly node?: string;
  readonly isNodeLost?: true;
  /** How the first failed container of this epoch ended; absent: the Pod shows none. */
  readonly witness?: RestartWitness;
}
