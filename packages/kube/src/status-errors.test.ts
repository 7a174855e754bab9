import { describe, expect, it } from 'vitest';
import {
  alreadyExists,
  conflict,
  expired,
  forbidden,
  internalError,
  methodNotSupported,
  notFound,
  timedOut,
  tooManyRequests,
} from './status-errors.ts';

const PODS = { group: '', plural: 'pods' };
const JOBS = { group: 'batch', plural: 'jobs' };

describe('refusals', () => {
  it.each([
    [notFound(PODS, 'x'), 404, 'NotFound', 'pods "x" not found'],
    [notFound(JOBS, 'x'), 404, 'NotFound', 'jobs.batch "x" not found'],
    [alreadyExists(JOBS, 'x'), 409, 'AlreadyExists', 'jobs.batch "x" already exists'],
    [
      conflict(PODS, 'x'),
      409,
      'Conflict',
      'Operation cannot be fulfilled on pods "x": the object has been modified; please apply your changes to the latest version and try again',
    ],
    [forbidden(PODS, 'x', 'no'), 403, 'Forbidden', 'pods "x" is forbidden: no'],
    [forbidden(PODS, '', 'no'), 403, 'Forbidden', 'pods is forbidden: no'],
    [forbidden(undefined, '', 'no'), 403, 'Forbidden', 'forbidden: no'],
    [
      methodNotSupported(JOBS, 'patch'),
      405,
      'MethodNotAllowed',
      'patch is not supported on resources of kind "jobs.batch"',
    ],
    [expired(), 410, 'Expired', 'The resourceVersion for the provided watch is too old.'],
    [timedOut('waiting'), 504, 'Timeout', 'Timeout: waiting'],
    [internalError('bug'), 500, 'InternalError', 'Internal error occurred: bug'],
  ])('%#: %s', (refusal, code, reason, message) => {
    expect([refusal.code, refusal.reason, refusal.message]).toEqual([code, reason, message]);
  });

  it('say what they are about', () => {
    expect(notFound(JOBS, 'x').status.details).toEqual({ name: 'x', group: 'batch', kind: 'jobs' });
    expect(tooManyRequests('later', 3).status.details).toEqual({ retryAfterSeconds: 3 });
  });
});
