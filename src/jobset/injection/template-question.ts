import type { Action } from '../convergence.ts';
import type { Planning } from '../planning.ts';
import type { Question } from '../snapshot.ts';
import { injectedMode, sharesWithSidecars } from './agent-mode.ts';

/** What has to be known before a Job gets its template. */
export function questionOfTemplates(
  { spec, snapshot }: Planning,
  actions: readonly Action[],
): Question | undefined {
  const { agent, answers, jobSet } = snapshot;
  const { annotations } = jobSet.metadata;
  const isMade = actions.some(({ kind }) => kind === 'CreateJob');
  const isChanged = actions.some((one) => one.kind === 'ResumeJob' && one.resume.changesResources);
  const isShared = (isMade || isChanged) && sharesWithSidecars(spec, annotations);
  if (isShared && answers.minimums === undefined) return { kind: 'ContainerMinimums' };
  const isOpen = isMade && agent.delivery === 'Auto' && answers.hasImageVolumes === undefined;
  const isSupervised = injectedMode(spec, annotations) === 'Supervisor';
  return isOpen && isSupervised ? { kind: 'ImageVolumes' } : undefined;
}
