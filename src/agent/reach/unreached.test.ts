import { DeadlineError } from '@lockstep/kube/runtime/deadline.ts';
import { StreamRefusedError } from '@lockstep/kube/runtime/ports/stream.ts';
import { TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import { describe, expect, test } from 'vitest';
import { failedTry, type Sight, unreached } from './unreached.ts';

function errorWith(code: string): Error {
  return new TransportError('the system says so', { code });
}

describe('what a Pod saw that does not reach the hub', () => {
  test.each<[unknown, Sight, RegExp, RegExp]>([
    [errorWith('ECONNREFUSED'), 'Refused', /port refused/, /endpoint of its Service/],
    [errorWith('EHOSTUNREACH'), 'NoRoute', /no route/, /NetworkPolicies/],
    [errorWith('ENETUNREACH'), 'NoRoute', /no route/, /NetworkPolicies/],
    [errorWith('EPERM'), 'NoRoute', /no route/, /NetworkPolicies/],
    [errorWith('ETIMEDOUT'), 'TimedOut', /nothing answered/, /NetworkPolicies/],
    [new DeadlineError('not done'), 'TimedOut', /nothing answered/, /NetworkPolicies/],
    [errorWith('ENOTFOUND'), 'UnknownName', /does not know its name/, /DNS/],
    [errorWith('EAI_AGAIN'), 'NoNameService', /did not answer/, /port 53/],
    [errorWith('SELF_SIGNED_CERT_IN_CHAIN'), 'Untrusted', /not trusted/, /authorities/],
    [errorWith('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'Untrusted', /not trusted/, /authorities/],
    [errorWith('CERT_HAS_EXPIRED'), 'NotValidNow', /not valid now/, /clock/],
    [errorWith('ERR_TLS_CERT_ALTNAME_INVALID'), 'OtherName', /another name/, /proxy/],
    [errorWith('EPROTO'), 'NoTls', /TLS/, /proxy/],
    [errorWith('ECONNRESET'), 'BrokenOff', /broken off/, /log of the operator/],
    [new StreamRefusedError(401, 'no'), 'Answered', /HTTP status 401/, /token/],
    [new StreamRefusedError(403, 'no'), 'Answered', /HTTP status 403/, /log of the operator/],
    [new StreamRefusedError(503, 'no'), 'Answered', /HTTP status 503/, /leads/],
  ])('%s is %s', (error, sight, saw, look) => {
    const found = unreached(failedTry(error));
    expect(found.sight).toBe(sight);
    expect(found.saw).toMatch(saw);
    expect(found.look).toMatch(look);
  });

  test.each<[unknown, string]>([
    [errorWith('EMFILE'), 'the system says so'],
    [new TransportError('', { code: 'EMFILE' }), 'EMFILE'],
    [new Error('what?'), 'what?'],
    ['what?', 'what?'],
    [new Error(''), 'an unknown error'],
    [new StreamRefusedError(418, 'no'), 'it answered with HTTP status 418'],
  ])('%s keeps its text', (error, saw) => {
    const found = unreached(failedTry(error));
    expect(found.saw).toBe(saw);
    expect(found.look).toBeUndefined();
  });
});
