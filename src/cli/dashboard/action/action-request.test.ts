import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseActionRequest } from './action-request.ts';

const OF = { namespace: 'team', name: 'train', uid: 'u-1' };

it.each([
  { kind: 'Restart', epoch: 3 },
  { kind: 'Suspend' },
  { kind: 'Resume' },
  { kind: 'Delete' },
  { kind: 'SetTimeout', annotation: 'lockstep/progress-timeout', value: '5m' },
  { kind: 'SetTimeout', annotation: 'lockstep/progress-timeout', value: 'Auto' },
  { kind: 'SetTimeout', annotation: 'lockstep/first-progress-timeout', value: null },
])('takes %j, and no more than that', (action) => {
  const body = { ...OF, action: { ...action, more: 1 }, more: 1 };
  expect(parseActionRequest(JSON.stringify(body))).toEqual({ request: { ...OF, action } });
});

it.each([
  ['{', 'The body is no JSON.'],
  ['[]', 'The body is no JSON object.'],
  [
    JSON.stringify({ ...OF, namespace: '../x' }),
    'namespace is "../x", expected the name of a namespace.',
  ],
  [JSON.stringify({ ...OF, name: '<b>' }), 'name is "<b>", expected the name of a JobSet.'],
  [JSON.stringify({ ...OF, uid: 5 }), 'uid is 5, expected the UID of the JobSet.'],
  [JSON.stringify(OF), 'action is absent, expected an object.'],
  [
    asked({ kind: 'Drop' }),
    'action.kind is "Drop", expected Restart, Suspend, Resume, SetTimeout or Delete.',
  ],
  [asked({ kind: 'Restart' }), 'action.epoch is absent, expected the epoch that is to end.'],
  [
    asked({ kind: 'Restart', epoch: 1.5 }),
    'action.epoch is 1.5, expected the epoch that is to end.',
  ],
  [
    asked({ kind: 'SetTimeout', annotation: 'lockstep/restart-epoch', value: '1' }),
    'action.annotation is "lockstep/restart-epoch", expected lockstep/progress-timeout or lockstep/first-progress-timeout.',
  ],
  [
    asked({ kind: 'SetTimeout', annotation: 'lockstep/first-progress-timeout', value: 'Auto' }),
    'lockstep/first-progress-timeout is "Auto": expected Off or a duration such as "5m", from 10s to 168h0m0s.',
  ],
  [
    asked({ kind: 'SetTimeout', annotation: 'lockstep/progress-timeout', value: 5 }),
    'action.value is 5, expected a text or null.',
  ],
])('refuses %s', (text, problem) => {
  expect(parseActionRequest(text)).toEqual({ problem });
});

it('answers any text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      expect(parseActionRequest(text)).toHaveProperty('problem');
    }),
  );
});

function asked(action: object): string {
  return JSON.stringify({ ...OF, action });
}
