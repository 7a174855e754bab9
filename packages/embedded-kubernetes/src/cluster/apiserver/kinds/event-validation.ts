import { invalidValue, required } from '@lockstep/kube/field-error.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import { qualifiedNameErrors } from '@lockstep/kube/name-rules.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { type ApiObject, textAt } from '../resources/api-object.ts';

const MAX_WORD_CHARACTERS = 128;
const MAX_MESSAGE_CHARACTERS = 1_024;
/** Where Events about objects without a namespace live. */
const CLUSTER_NAMESPACE = 'default';

/** Problems of an Event as `core/v1` writes it. Who sends an event time uses the newer rules. */
export function eventErrors(event: ApiObject): readonly FieldError[] {
  const namespace = namespaceOf(event.metadata);
  const about = textAt(event, 'involvedObject', 'namespace');
  const errors: FieldError[] = [];
  if (namespace !== (about === '' ? CLUSTER_NAMESPACE : about)) {
    errors.push(invalidValue('involvedObject.namespace', about, 'does not match event.namespace'));
  }
  if (textAt(event, 'eventTime') === '') return errors;
  const controller = textAt(event, 'reportingComponent');
  if (controller === '') errors.push(required('reportingController'));
  for (const why of qualifiedNameErrors(controller)) {
    errors.push(invalidValue('reportingController', controller, why));
  }
  for (const member of ['reportingInstance', 'action', 'reason']) {
    const word = textAt(event, member);
    if (word === '') errors.push(required(member));
    errors.push(...lengthErrors(member, word, MAX_WORD_CHARACTERS));
  }
  return [...errors, ...lengthErrors('message', textAt(event, 'message'), MAX_MESSAGE_CHARACTERS)];
}

/** What `events.k8s.io/v1` demands beyond that. */
export function newEventErrors(event: ApiObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (textAt(event, 'eventTime') === '') errors.push(required('eventTime'));
  const type = textAt(event, 'type');
  if (type !== 'Normal' && type !== 'Warning') {
    errors.push(invalidValue('type', '', `has invalid value: ${type}`));
  }
  return errors;
}

function lengthErrors(field: string, text: string, limit: number): readonly FieldError[] {
  return text.length > limit
    ? [invalidValue(field, '', `can have at most ${limit} characters`)]
    : [];
}
