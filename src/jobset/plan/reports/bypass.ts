/**
 * A group that restarted in place and no longer does, by the annotation that says so or because its
 * failure policy changed (`docs/design/member-hazards.md#in-place-restart-is-switched-off`). Its
 * agents open their barriers. Epochs stand still, so the group continues from the same epoch if it is
 * switched back. The condition says why a worker restarts alone.
 */
import { DISABLE_IN_PLACE_RESTART } from '../../names.ts';
import { cleared } from '../../status/conditions.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';
import { ranksToWrite } from '../rank-numbers.ts';

export function reportBypass(facts: Facts): readonly Decision[] {
  const { jobSet, status: stored, group } = facts;
  const type = 'InPlaceRestartBypassed';
  const status = ranksToWrite(facts);
  const numbers: readonly Decision[] = status === undefined ? [] : [{ status }];
  if (group !== undefined) {
    const message = 'failures of workers restart the group in place';
    return [...numbers, { conditions: [cleared(type, 'InPlaceRestart', message)] }];
  }
  if (stored.deprecatedEpoch === undefined) return numbers;
  const isAnnotated = jobSet.metadata.annotations?.[DISABLE_IN_PLACE_RESTART] !== undefined;
  const why = isAnnotated
    ? `annotation ${DISABLE_IN_PLACE_RESTART} is set`
    : 'the failure policy asks for no restarts in place';
  const message = `${why}: barriers are open, workers keep running, and one that fails restarts alone`;
  const reason = isAnnotated ? 'DisabledByAnnotation' : 'StrategyChanged';
  const bypassed = { type, status: 'True', reason, message, event: 'Normal' } as const;
  return [
    ...numbers,
    { conditions: [bypassed, ...STALE.map((each) => cleared(each, reason, message))] },
  ];
}

/** Conditions that nothing else would turn off. */
const STALE = ['RestartingInPlace', 'ReplacementPending'] as const;
