/**
 * A user's request to remove nodes from the list of avoided nodes. It names entries, each by its node
 * and its time. The named entries are gone once the operator has obeyed, and a later strike makes
 * another entry. So the operator obeys once, even if it crashes, and nobody has to remove the request.
 */
import { invalidValue } from '@lockstep/kube/field-error.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import { dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { type AvoidedNode, MAX_AVOIDED_NODES } from '../jobset-status.ts';
import { FORGET_NODES } from '../names.ts';

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

/** The keys of the named entries; undefined: the text is absent or wrong. */
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
