/** What is missing from the page of one JobSet, in sentences. */
import type { ApiStatusError } from '@lockstep/kube/status.ts';
import { refusalInWords } from '../streams/refusal-in-words.ts';

export interface RunTroubles {
  readonly namespace: string;
  readonly name: string;
  /** Why the cluster does not answer. */
  readonly health: string | undefined;
  /** There is no such JobSet, and was none. */
  readonly isMissing: boolean;
  readonly jobSets: ApiStatusError | undefined;
  readonly pods: ApiStatusError | undefined;
  readonly events: ApiStatusError | undefined;
  /** Why the hub was not asked. */
  readonly hub: string | undefined;
}

const RIGHTS =
  'You need the right to get, list and watch jobsets.jobset.x-k8s.io there: ask who administers the namespace.';

export function runProblems(troubles: RunTroubles): readonly string[] {
  const { namespace, name, health, isMissing, jobSets, pods, events, hub } = troubles;
  const problems: string[] = [];
  if (health !== undefined) problems.push(health);
  if (jobSets !== undefined) {
    const what = refusalInWords(jobSets, 'JobSets', namespace);
    return [...problems, jobSets.code === 403 ? `${what} ${RIGHTS}` : what];
  }
  if (isMissing) problems.push(`There is no JobSet ${namespace}/${name}.`);
  if (pods !== undefined) {
    problems.push(`${refusalInWords(pods, 'Pods', namespace)} So no members are shown.`);
  }
  if (events !== undefined) problems.push(refusalInWords(events, 'Events', namespace));
  if (hub !== undefined) {
    problems.push(`Epochs and progress of members may be missing: ${hub}.`);
  }
  return problems;
}
