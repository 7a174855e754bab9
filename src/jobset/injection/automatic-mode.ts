import type { DefaultedSpec } from '../defaults.ts';
import type { RestartMode } from '../jobset.ts';
import { injectAgent } from './agent-injection.ts';
import { templateAgent } from './template-agent.ts';

/**
 * The mode that suits all templates that get an agent: supervisors, which restart fastest, unless one
 * of them refuses or behaves otherwise with one. Undefined if there is no such template.
 */
export function automaticMode({ replicatedJobs }: DefaultedSpec): RestartMode | undefined {
  const templates = replicatedJobs
    .map(({ template }) => template.spec.template)
    .filter((template) => templateAgent(template) === undefined);
  if (templates.length === 0) return undefined;
  const suits = templates.every((template) => {
    const { errors, warnings } = injectAgent(template, { mode: 'Supervisor', image: '' });
    return errors.length === 0 && warnings.length === 0;
  });
  return suits ? 'Supervisor' : 'Sidecar';
}
