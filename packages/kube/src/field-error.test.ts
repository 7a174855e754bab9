import { describe, expect, it } from 'vitest';
import {
  duplicate,
  fieldErrorBody,
  forbiddenField,
  formatFieldError,
  formatFieldErrors,
  invalid,
  invalidValue,
  notSupported,
  required,
  tooLong,
  tooMany,
  valueNotFound,
  wrongType,
} from './field-error.ts';

describe('formatFieldError', () => {
  it.each([
    [required('spec.x'), 'spec.x: Required value'],
    [required('spec.x', 'must be set'), 'spec.x: Required value: must be set'],
    [invalidValue('spec.x', 'a"b', 'no'), 'spec.x: Invalid value: "a\\"b": no'],
    [invalidValue('spec.x', -1, 'no'), 'spec.x: Invalid value: -1: no'],
    [invalidValue('spec.x', { b: ['<'] }, 'no'), 'spec.x: Invalid value: {"b":["\\u003c"]}: no'],
    [invalidValue('spec.x', null, 'no'), 'spec.x: Invalid value: null: no'],
    [wrongType('spec.x', 'a', 'no'), 'spec.x: Invalid value: "a": no'],
    [
      notSupported('spec.x', 'c', ['a', 'b']),
      'spec.x: Unsupported value: "c": supported values: "a", "b"',
    ],
    [forbiddenField('spec.x', 'is immutable'), 'spec.x: Forbidden: is immutable'],
    [duplicate('spec.x[1].name', 'a'), 'spec.x[1].name: Duplicate value: "a"'],
    [valueNotFound('spec.x', 'a'), 'spec.x: Not found: "a"'],
    [tooLong('spec.x', 63), 'spec.x: Too long: may not be more than 63 bytes'],
    [tooLong('spec.x', 1), 'spec.x: Too long: may not be more than 1 byte'],
    [tooMany('spec.x', 21, 20), 'spec.x: Too many: 21: must have at most 20 items'],
    [tooMany('spec.x', 2, 1), 'spec.x: Too many: 2: must have at most 1 item'],
  ])('%#: $field', (error, line) => {
    expect(formatFieldError(error)).toBe(line);
  });

  it('leaves a value out that is not known', () => {
    const error = { type: 'FieldValueInvalid', field: 'spec.x', detail: 'no' } as const;
    expect(fieldErrorBody(error)).toBe('Invalid value: no');
  });

  it('tells several problems once each, in brackets', () => {
    const [a, b] = [required('spec.a'), required('spec.b')];
    expect(formatFieldErrors([a, a])).toBe('spec.a: Required value');
    expect(formatFieldErrors([a, b, a])).toBe('[spec.a: Required value, spec.b: Required value]');
  });
});

describe('invalid', () => {
  it('is a 422 with one cause for each problem', () => {
    const errors = [required('spec.a'), invalidValue('spec.b', 1, 'no')];
    const { status } = invalid({ group: 'batch', kind: 'Job' }, 'j', errors);
    expect(status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      code: 422,
      reason: 'Invalid',
      message: 'Job.batch "j" is invalid: [spec.a: Required value, spec.b: Invalid value: 1: no]',
      details: {
        name: 'j',
        group: 'batch',
        kind: 'Job',
        causes: [
          { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.a' },
          { reason: 'FieldValueInvalid', message: 'Invalid value: 1: no', field: 'spec.b' },
        ],
      },
    });
  });

  it('names a kind of the core group without a group', () => {
    const { message } = invalid({ group: '', kind: 'Pod' }, 'p', [required('spec')]);
    expect(message).toBe('Pod "p" is invalid: spec: Required value');
  });
});
