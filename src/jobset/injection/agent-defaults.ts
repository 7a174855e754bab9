/** Defaults of a cluster's administrator for agents. */
import type { StringMap } from '@lockstep/kube/meta.ts';
import { isOff } from '../annotations/table.ts';
import type { DefaultedSpec } from '../defaults.ts';
import { withDefaults } from '../defaults.ts';
import type { JobSet } from '../jobset.ts';
import type { JobSetStatus, RestartMode } from '../jobset-status.ts';
import { AGENT_INJECTION, PROCESSES_PER_POD, RESTART_MODE } from '../names.ts';
import type { RestartAllProblem } from '../restart-rules/restart-rules.ts';
import { injectAgent } from './agent-injection.ts';
import { templateAgent } from './template-agent.ts';

/** The defaults apply to JobSets that restart in place and do not choose themselves. */
export interface AgentDefaults {
  readonly mode: RestartMode | 'Auto';
  readonly injection: 'Enabled' | 'Disabled';
}

const BUILT_IN: AgentDefaults = { mode: 'Auto', injection: 'Enabled' };

/** Facts beside the JobSet that decide about its mode. */
export interface ModeFacts {
  readonly defaults?: AgentDefaults | undefined;
  /** Why nodes cannot restart all containers of a Pod, as sidecars need it; absent: they can. */
  readonly restartAllProblem?: RestartAllProblem | undefined;
  readonly hasJobs?: boolean;
}

/**
 * The JobSet with the administrator's defaults as annotations, where it has none. Admission stores
 * them, and a JobSet that was stored without them is read as if it had them. `Auto` becomes the mode
 * in the status or, before any operator has acted on the JobSet, the mode that suits its templates.
 * A JobSet that has run without a recorded mode is older than the choice, and has sidecars.
 */
export function withAgentDefaults<T extends JobSet>(jobSet: T, facts: ModeFacts = {}): T {
  const { spec, status, metadata } = jobSet;
  if (spec?.failurePolicy?.restartStrategy !== 'InPlaceRestart') return jobSet;
  const { annotations = {} } = metadata;
  const { defaults = BUILT_IN } = facts;
  const injection = annotations[AGENT_INJECTION] ?? defaults.injection;
  const mode = modeOf(jobSet, status, injection, facts);
  const wanted: StringMap = {
    ...(mode === undefined ? {} : { [RESTART_MODE]: mode }),
    ...(injection === BUILT_IN.injection ? {} : { [AGENT_INJECTION]: injection }),
  };
  if (Object.entries(wanted).every(([key, value]) => annotations[key] === value)) return jobSet;
  return { ...jobSet, metadata: { ...metadata, annotations: { ...annotations, ...wanted } } };
}

/** Undefined if no template is known to get an agent. */
function modeOf(
  { spec, metadata }: JobSet,
  status: JobSetStatus | undefined,
  injection: string,
  { defaults = BUILT_IN, restartAllProblem, hasJobs = false }: ModeFacts,
): string | undefined {
  const said = metadata.annotations?.[RESTART_MODE];
  if (said !== undefined && said !== 'Auto') return said;
  if (restartAllProblem !== undefined) return 'Supervisor';
  // Only a supervisor starts ranks.
  if (metadata.annotations?.[PROCESSES_PER_POD] !== undefined) return 'Supervisor';
  if (status?.restartMode !== undefined) return status.restartMode;
  if (said === undefined && defaults.mode !== 'Auto') return defaults.mode;
  if (isOff(AGENT_INJECTION, injection)) return undefined;
  const isNew = !hasJobs && status?.restarts === undefined && !status?.replicatedJobsStatus;
  return isNew ? automaticMode(withDefaults(spec)) : 'Sidecar';
}

/**
 * The mode that suits all templates that get an agent: supervisors, which restart fastest, unless a
 * template refuses one or behaves differently with one. Undefined if there is no such template.
 */
function automaticMode({ replicatedJobs }: DefaultedSpec): RestartMode | undefined {
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
