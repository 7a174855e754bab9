import type { JobSet } from '../jobset.ts';
import { AGENT_INJECTION, RESTART_MODE } from '../names.ts';
import type { RestartMode } from './agent-injection.ts';

/** What a cluster's administrator wants for JobSets that restart in place and do not say themselves. */
export interface AgentDefaults {
  readonly mode: RestartMode;
  readonly injection: 'Enabled' | 'Disabled';
}

/** What an annotation that is absent means anyway. */
const BUILT_IN: AgentDefaults = { mode: 'Sidecar', injection: 'Enabled' };

/** The same where nodes cannot restart all containers of a Pod, as sidecars need it. */
export function supervising(defaults: AgentDefaults = BUILT_IN): AgentDefaults {
  return { ...defaults, mode: 'Supervisor' };
}

/**
 * The JobSet with these defaults as annotations, which admission stores: a JobSet keeps what it was
 * created with. One that was stored without is read as if it had them.
 */
export function withAgentDefaults<T extends JobSet>(
  jobSet: T,
  { mode, injection }: AgentDefaults = BUILT_IN,
): T {
  if (jobSet.spec?.failurePolicy?.restartStrategy !== 'InPlaceRestart') return jobSet;
  const { annotations } = jobSet.metadata;
  const added = {
    ...(mode === BUILT_IN.mode ? {} : { [RESTART_MODE]: mode }),
    ...(injection === BUILT_IN.injection ? {} : { [AGENT_INJECTION]: injection }),
  };
  if (Object.keys(added).every((key) => annotations?.[key] !== undefined)) return jobSet;
  const metadata = { ...jobSet.metadata, annotations: { ...added, ...annotations } };
  return { ...jobSet, metadata };
}
