/** What a page asks to be done, checked. */

import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { parsedJson } from '@lockstep/kube/json/parsed-json.ts';
import { dns1123LabelErrors, dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import type { Action, ActionRequest } from '../../../dashboard/messages/action.ts';
import { FIRST_PROGRESS_TIMEOUT, PROGRESS_TIMEOUT } from '../../../jobset/names.ts';
import { progressTimeoutErrors } from '../../../jobset/progress/progress-timeouts.ts';

/** Time-outs that may change while workers run. */
const ANNOTATIONS: readonly string[] = [PROGRESS_TIMEOUT, FIRST_PROGRESS_TIMEOUT];
const MAX_UID_LENGTH = 128;

/** The request, or what is wrong with it: the field, its value and what was expected. */
export function parseActionRequest(
  text: string,
): { readonly request: ActionRequest } | { readonly problem: string } {
  const body = parsedJson(text);
  if (body === undefined) return { problem: 'The body is no JSON.' };
  if (!isJsonObject(body)) return { problem: 'The body is no JSON object.' };
  const { namespace, name, uid, action } = body;
  if (typeof namespace !== 'string' || dns1123LabelErrors(namespace).length > 0) {
    return wrong('namespace', namespace, 'the name of a namespace');
  }
  if (typeof name !== 'string' || dns1123SubdomainErrors(name).length > 0) {
    return wrong('name', name, 'the name of a JobSet');
  }
  if (typeof uid !== 'string' || uid === '' || uid.length > MAX_UID_LENGTH) {
    return wrong('uid', uid, 'the UID of the JobSet');
  }
  const parsed = isJsonObject(action) ? parseAction(action) : wrong('action', action, 'an object');
  return 'problem' in parsed ? parsed : { request: { namespace, name, uid, action: parsed } };
}

function parseAction(action: JsonObject): Action | { readonly problem: string } {
  const { kind, epoch, annotation, value } = action;
  switch (kind) {
    case 'Restart':
      return typeof epoch === 'number' && Number.isSafeInteger(epoch) && epoch > 0
        ? { kind, epoch }
        : wrong('action.epoch', epoch, 'the epoch that is to end');
    case 'Suspend':
    case 'Resume':
    case 'Delete':
      return { kind };
    case 'SetTimeout': {
      if (typeof annotation !== 'string' || !ANNOTATIONS.includes(annotation)) {
        return wrong('action.annotation', annotation, ANNOTATIONS.join(' or '));
      }
      if (value === null) return { kind, annotation, value };
      if (typeof value !== 'string') return wrong('action.value', value, 'a text or null');
      const [error] = progressTimeoutErrors({ [annotation]: value });
      if (error !== undefined) {
        return { problem: `${annotation} is ${JSON.stringify(value)}: ${error.detail}.` };
      }
      return { kind, annotation, value };
    }
    default:
      return wrong('action.kind', kind, 'Restart, Suspend, Resume, SetTimeout or Delete');
  }
}

const MAX_SHOWN_LENGTH = 100;

function wrong(field: string, value: unknown, expected: string): { readonly problem: string } {
  const given = (JSON.stringify(value) ?? 'absent').slice(0, MAX_SHOWN_LENGTH);
  return { problem: `${field} is ${given}, expected ${expected}.` };
}
