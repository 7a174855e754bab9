/** The questions whose answers a Job's template depends on. */

import { injectedMode, sharesWithSidecars } from '../../injection/agent-mode.ts';
import type { Facts } from '../facts.ts';
import type { Question } from '../snapshot.ts';

/** The question before Jobs are made. */
export function questionOfTemplates(facts: Facts): Question | undefined {
  const { jobSet, spec, agent, answers } = facts;
  const isOpen = agent.delivery === 'Auto' && answers.hasImageVolumes === undefined;
  const isSupervised = injectedMode(spec, jobSet.metadata.annotations) === 'Supervisor';
  const ofVolumes: Question | undefined =
    isOpen && isSupervised ? { kind: 'ImageVolumes' } : undefined;
  return questionOfResources(facts) ?? ofVolumes;
}

/** The question before Jobs are made or get other resources. */
export function questionOfResources({ jobSet, spec, answers }: Facts): Question | undefined {
  const isShared = sharesWithSidecars(spec, jobSet.metadata.annotations);
  return isShared && answers.minimums === undefined ? { kind: 'ContainerMinimums' } : undefined;
}
