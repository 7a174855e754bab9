/** Removes nodes from the list of avoided nodes, as the user asks. */
import { isConverging } from '../../epoch/in-place-restart.ts';
import type { AvoidedNode } from '../../jobset-status.ts';
import { FORGET_NODES } from '../../names.ts';
import { parsedRequest, requestKey } from '../../policies/forget-nodes.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';

/** Removes the entries that the user names, with the next status write. */
export function forgetNodes(facts: Facts): readonly Decision[] {
  const { jobSet, status } = facts;
  const { avoidedNodes = [] } = status;
  const requested = parsedRequest(jobSet.metadata.annotations?.[FORGET_NODES]);
  if (avoidedNodes.length === 0 || requested === undefined) return [];
  const asked = new Set(requested);
  const isForgotten = (entry: AvoidedNode): boolean =>
    asked.has(requestKey(entry)) && !isUnderWay(facts, entry);
  const kept = avoidedNodes.filter((entry) => !isForgotten(entry));
  if (kept.length === avoidedNodes.length) return [];
  const nodes = new Set(avoidedNodes.filter(isForgotten).map(({ node }) => node));
  const note = `not avoided any more, as ${FORGET_NODES} asks: ${[...nodes].join(', ')}`;
  return [
    {
      status: { avoidedNodes: kept.length === 0 ? undefined : kept },
      events: [{ type: 'Normal', reason: 'NodesForgotten', note }],
    },
  ];
}

/** The entry still says which Pods have to go before the epoch is released. */
function isUnderWay({ group, status }: Facts, { time }: AvoidedNode): boolean {
  const [newest] = status.restartHistory ?? [];
  if (group === undefined || newest === undefined || !isConverging(group)) return false;
  return Date.parse(time) >= Date.parse(newest.time);
}
