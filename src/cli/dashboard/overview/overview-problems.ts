/** What is missing from the page with all JobSets, in sentences. */
import type { ApiStatusError } from '@lockstep/kube/status.ts';
import { refusalInWords } from '../streams/refusal-in-words.ts';
import { MAX_ROWS } from './overview-changes.ts';

export interface OverviewState {
  /** Why the cluster does not answer. */
  readonly health: string | undefined;
  /** The one that is shown; undefined: all. */
  readonly namespace: string | undefined;
  /** All were asked for, and may not be read. */
  readonly isNarrowed: boolean;
  /** What the server answered to whoever wants to list them. */
  readonly jobSets: ApiStatusError | undefined;
  readonly jobs: ApiStatusError | undefined;
  /** JobSets that there are. */
  readonly count: number;
}

export function overviewProblems(state: OverviewState): readonly string[] {
  const { health, namespace, isNarrowed, jobSets, jobs, count } = state;
  const problems: string[] = [];
  if (health !== undefined) problems.push(health);
  if (isNarrowed) {
    problems.push(
      `You may not list the JobSets of all namespaces, so this is namespace ${namespace}: choose another with -n.`,
    );
  }
  if (jobSets !== undefined) problems.push(refusalInWords(jobSets, 'JobSets', namespace));
  else if (jobs !== undefined) {
    const what = refusalInWords(jobs, 'Jobs', namespace);
    problems.push(`${what} So it is not shown how many members are ready.`);
  }
  if (count > MAX_ROWS) {
    problems.push(
      `The newest ${MAX_ROWS} of ${count} JobSets are shown: choose a namespace with -n.`,
    );
  }
  return problems;
}
