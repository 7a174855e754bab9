/** The questions whose answers a Job's template depends on. */

import { injectedMode, sharesWithSidecars } from '../../injection/agent-mode.ts';
import type { Facts } from '../facts.ts';
import type { Question } from '../questions.ts';

/** The question before Jobs are made. */
export function questionOfTemplates(facts: Facts): Question | undefined {
  const { jobSet, spec, agent, answer } = facts;
  const volumes = { kind: 'ImageVolumes' } as const;
  const isOpen = agent.delivery === 'Auto' && answer(volumes) === undefined;
  const isSupervised = injectedMode(spec, jobSet.metadata.annotations) === 'Supervisor';
  return questionOfResources(facts) ?? (isOpen && isSupervised ? volumes : undefined);
}

/** The question before Jobs are made or get other resources. */
export function questionOfResources({ jobSet, spec, answer }: Facts): Question | undefined {
  const isShared = sharesWithSidecars(spec, jobSet.metadata.annotations);
  const minimums = { kind: 'ContainerMinimums' } as const;
  return isShared && answer(minimums) === undefined ? minimums : undefined;
}
