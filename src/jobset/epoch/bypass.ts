import { DISABLE_IN_PLACE_RESTART } from '../names.ts';
import type { Planning } from '../planning.ts';

/**
 * A group that restarted in place and no longer does, by the annotation that says so or because its
 * failure policy changed (design, H13). Its agents open their barriers and stay where they are; epochs
 * stand still, so that the group goes on from the same one if it is switched back. The condition is
 * there so that nobody has to guess why a worker restarts alone.
 */
export function reportBypass({ snapshot, draft, stages }: Planning): void {
  const { metadata, status } = snapshot.jobSet;
  if (stages !== undefined) {
    const message = 'failures of workers restart the group in place';
    draft.clear({ type: 'InPlaceRestartBypassed', reason: 'InPlaceRestart', message });
    return;
  }
  if (status?.deprecatedEpoch === undefined) return;
  const isAnnotated = metadata.annotations?.[DISABLE_IN_PLACE_RESTART] !== undefined;
  const why = isAnnotated
    ? `annotation ${DISABLE_IN_PLACE_RESTART} is set`
    : 'the failure policy asks for no restarts in place';
  const message = `${why}: barriers are open, workers keep running, and one that fails restarts alone`;
  const reason = isAnnotated ? 'DisabledByAnnotation' : 'StrategyChanged';
  draft.condition({ type: 'InPlaceRestartBypassed', status: 'True', reason, message }, 'Normal');
  draft.clear({ type: 'RestartingInPlace', reason, message });
}
