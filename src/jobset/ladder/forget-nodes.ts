/**
 * A user's request to take nodes from the list of those that members have left. It names entries, each
 * by its node and its time, and not just nodes: what it names is gone once it was obeyed, and a later
 * strike makes another entry. So it is obeyed once, even if the operator crashes, and never has to
 * be removed.
 */
import { invalidValue } from '../../kube/field-error.ts';
import type { StringMap } from '../../kube/meta.ts';
import { dns1123SubdomainErrors } from '../../kube/name-rules.ts';
import type { FieldError } from '../../kube/status.ts';
import type { Decision } from '../decision.ts';
import { isConverging } from '../epoch/in-place-restart.ts';
import type { Facts } from '../facts.ts';
import { type AvoidedNode, MAX_AVOIDED_NODES } from '../jobset.ts';
import { FORGET_NODES } from '../names.ts';

/** Takes the entries away that the user names, in the next status write. */
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

/** The value of the annotation that asks to forget these entries. */
export function forgetRequest(entries: readonly AvoidedNode[]): string {
  return entries.map(({ node, time }) => `${node}@${time}`).join(',');
}

export function forgetNodesErrors(annotations: StringMap | undefined): readonly FieldError[] {
  const text = annotations?.[FORGET_NODES];
  if (text === undefined || parsedRequest(text) !== undefined) return [];
  const detail = `expected 1 to ${MAX_AVOIDED_NODES} entries of status.avoidedNodes, separated by commas, each as NODE@TIME, such as "node-3@2026-01-01T00:00:00.000000Z"`;
  return [invalidValue(`metadata.annotations[${FORGET_NODES}]`, text, detail)];
}

/** The keys of the entries that are named; undefined: the text is absent or wrong. */
export function parsedRequest(text: string | undefined): readonly string[] | undefined {
  const entries = text?.split(',') ?? [];
  if (entries.length === 0 || entries.length > MAX_AVOIDED_NODES) return undefined;
  const keys = entries.map((entry) => {
    const [, node = '', time = ''] = ENTRY.exec(entry.trim()) ?? [];
    const isValid = dns1123SubdomainErrors(node).length === 0 && !Number.isNaN(Date.parse(time));
    return isValid ? requestKey({ node, time }) : undefined;
  });
  const valid = keys.filter((key) => key !== undefined);
  return valid.length === keys.length ? valid : undefined;
}

const ENTRY = /^([^@]{1,253})@(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)$/;

/** Equal times may be written with more digits or fewer. */
export function requestKey({ node, time }: Pick<AvoidedNode, 'node' | 'time'>): string {
  return `${node}@${Date.parse(time)}`;
}
