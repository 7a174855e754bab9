/**
 * Changes a live JobSet in each phase, as the tool Acto does: an allowed change has to lead to what a
 * new JobSet with the same spec becomes, and a refusal has to name the field.
 */
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import { admitJobSet } from '../../jobset/admit.ts';
import { DEFAULT_FEATURE_GATES } from '../../jobset/feature-gates.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import type { Scenario } from '../scenario.ts';
import { jobSetOf } from '../user.ts';
import { type Mutation, mutationsOf } from './catalogue.ts';
import { differences, type FinalState, type Finding } from './final-state.ts';
import { isNamed, unexplained } from './judgment.ts';
import { LiveGroup, PHASES, type Phase } from './live-group.ts';

export interface TrialFigures {
  /** Refused, with the name of the field. */
  refused: number;
  /** Accepted, and stored as it was before. */
  meaningless: number;
  /** Accepted, and the same as a new JobSet. */
  same: number;
  /** Accepted and different, as a warning or the documentation says. */
  told: number;
  /** Findings. */
  different: number;
}

interface TrialOptions {
  /** By default all. */
  readonly phases?: readonly Phase[];
  /** Which to try, by the phase and the mutation, such as `Running: add /spec/suspend true`; by default all. */
  readonly chooses?: (name: string) => boolean;
  readonly told?: (phase: Phase, figures: Readonly<TrialFigures>) => void;
  /** Called at once for each finding. */
  readonly found?: (finding: Finding) => void;
}

/** Two kinds of members, and more restarts than any trial needs. */
const GROUP: Scenario = {
  seed: 1,
  jobs: [
    { name: 'a', replicas: 1, pods: 2 },
    { name: 'b', replicas: 1, pods: 1 },
  ],
  nodes: 2,
  operators: 1,
  maxRestarts: 5,
  isInOrder: false,
  acts: [],
};

export async function tryMutations(options: TrialOptions = {}): Promise<readonly Finding[]> {
  const { phases = PHASES, chooses = () => true, told, found } = options;
  const mutations = mutationsOf(baseJobSet());
  const fresh = new FreshRuns();
  const findings: Finding[] = [];
  const finds = (finding: Finding): void => {
    findings.push(finding);
    found?.(finding);
  };
  for (const phase of phases) {
    const figures = { refused: 0, meaningless: 0, same: 0, told: 0, different: 0 };
    const chosen = mutations.filter(({ name }) => chooses(`${phase}: ${name}`));
    for (let left: readonly Mutation[] = chosen; left.length > 0; ) {
      left = await tryOn(phase, left, fresh, figures, finds);
    }
    if (chosen.length > 0) told?.(phase, figures);
  }
  return findings;
}

/** Tries mutations on one group until one of them changes it. Returns those that are left. */
async function tryOn(
  phase: Phase,
  mutations: readonly Mutation[],
  fresh: FreshRuns,
  figures: TrialFigures,
  tell: (finding: Finding) => void,
): Promise<readonly Mutation[]> {
  const group = await LiveGroup.start(GROUP, baseJobSet());
  try {
    await group.reach(phase);
    for (const [index, mutation] of mutations.entries()) {
      const finds = (...why: readonly string[]): void => {
        figures.different++;
        tell({ name: `${phase}: ${mutation.name}`, why });
      };
      const before = await group.get();
      const refusal = await group.change(mutation.operations);
      if (refusal !== undefined) {
        if (isNamed(mutation.path, refusal)) figures.refused++;
        else finds(`the refusal does not name the field: ${refusal.message}`);
        continue;
      }
      const after = await group.get();
      if (
        after.metadata.generation === before.metadata.generation &&
        isSameMetadata(before, after)
      ) {
        figures.meaningless++;
        continue;
      }
      if (phase === 'Suspended' && !mutation.path.startsWith('/spec/suspend')) await group.resume();
      const [found, expected] = [await group.rest(), await fresh.of(after, phase)];
      const violation = group.violation(after);
      if (violation !== undefined) finds(`${violation.property}: ${violation.detail}`);
      else if (typeof expected === 'string') finds(expected);
      else if (found === undefined) finds('the group does not come to rest');
      else {
        const left = unexplained(phase, [before, after], [expected, found]);
        if (differences(expected, found).length === 0) figures.same++;
        else if (left.length === 0) figures.told++;
        else finds(...left);
      }
      return mutations.slice(index + 1);
    }
    return [];
  } finally {
    await group.stop();
  }
}

/** What new JobSets become, each tried once. */
class FreshRuns {
  readonly #known = new Map<string, FinalState | string>();

  /** A text says why there is no such state. */
  async of(changed: Stored<JobSet>, phase: Phase): Promise<FinalState | string> {
    const isFinished = phase === 'Finished';
    const isResumed = isFinished || (phase === 'Suspended' && changed.spec.suspend === true);
    const { metadata, spec } = changed;
    const { name, namespace = '', labels, annotations } = metadata;
    const jobSet: JobSet = {
      apiVersion: changed.apiVersion,
      kind: changed.kind,
      metadata: { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) },
      spec: isResumed ? { ...spec, suspend: false } : spec,
    };
    const key = JSON.stringify([jobSet, isFinished]);
    const state = this.#known.get(key) ?? (await this.#run(jobSet, isFinished));
    this.#known.set(key, state);
    return state;
  }

  async #run(jobSet: JobSet, isFinished: boolean): Promise<FinalState | string> {
    let group: LiveGroup;
    try {
      group = await LiveGroup.start(GROUP, jobSet);
    } catch (error) {
      return `such a JobSet cannot be created: ${(error as Error).message}`;
    }
    try {
      if (isFinished) await group.reach('Finished');
      const state = await group.rest();
      const violation = group.violation(jobSet);
      if (violation !== undefined) return `a new one: ${violation.property}: ${violation.detail}`;
      return state ?? 'a new one does not come to rest';
    } finally {
      await group.stop();
    }
  }
}

/** It has all that may change in a suspended JobSet. */
function baseJobSet(): JobSet {
  const jobSet = jobSetOf(GROUP);
  const replicatedJobs = jobSet.spec.replicatedJobs?.map((job) => {
    const { spec } = job.template;
    const containers = spec.template.spec.containers.map((container) => ({
      ...container,
      env: [{ name: 'LEVEL', value: '1' }],
      resources: { requests: { cpu: '1m' }, limits: { memory: '1Gi' } },
    }));
    const template = {
      metadata: { labels: { tier: 'a' }, annotations: { note: 'a' } },
      spec: { ...spec.template.spec, containers },
    };
    return { ...job, template: { ...job.template, spec: { ...spec, template } } };
  });
  const base = { ...jobSet, spec: { ...jobSet.spec, replicatedJobs } } as JobSet;
  return admitJobSet(base, DEFAULT_FEATURE_GATES).jobSet;
}

function isSameMetadata({ metadata: a }: JobSet, { metadata: b }: JobSet): boolean {
  return deepEqual([a.labels, a.annotations], [b.labels, b.annotations]);
}
