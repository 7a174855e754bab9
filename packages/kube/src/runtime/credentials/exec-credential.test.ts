import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { execAnswer, execInfo } from './exec-credential.ts';

const V1 = 'client.authentication.k8s.io/v1';
const V1BETA1 = 'client.authentication.k8s.io/v1beta1';

function answer(status: unknown, more: object = {}): string {
  return JSON.stringify({ apiVersion: V1, kind: 'ExecCredential', status, ...more });
}

describe('what a plugin gets to know', () => {
  it('is whether it may ask, and nothing else by default', () => {
    expect(JSON.parse(execInfo(V1BETA1, false, undefined))).toEqual({
      apiVersion: V1BETA1,
      kind: 'ExecCredential',
      spec: { interactive: false },
    });
  });

  it('is the cluster, with its authority in base64 and its settings for plugins', () => {
    const cluster = {
      server: 'https://host:6443/path',
      serverName: 'kubernetes',
      insecureSkipVerify: true,
      certificateAuthority: 'PEM\n',
      config: { audience: 'a', list: [1] },
    };
    expect(JSON.parse(execInfo(V1, true, cluster))).toEqual({
      apiVersion: V1,
      kind: 'ExecCredential',
      spec: {
        interactive: true,
        cluster: {
          server: 'https://host:6443/path',
          'tls-server-name': 'kubernetes',
          'insecure-skip-tls-verify': true,
          'certificate-authority-data': Buffer.from('PEM\n').toString('base64'),
          config: { audience: 'a', list: [1] },
        },
      },
    });
    const plain = { server: 'https://h', insecureSkipVerify: false, config: undefined };
    expect(JSON.parse(execInfo(V1, true, plain))).toMatchObject({
      spec: { interactive: true, cluster: { server: 'https://h' } },
    });
    expect(execInfo(V1, true, plain)).not.toMatch(/insecure|config|data|name"/);
  });
});

describe('the answer of a plugin', () => {
  const pair = { clientCertificateData: 'C', clientKeyData: 'K' };
  const clientCertificate = { certificate: 'C', key: 'K' };
  it.each([
    ['a token', { token: 'abc' }, { token: 'abc' }, undefined],
    ['a certificate', pair, { clientCertificate }, undefined],
    ['both', { ...pair, token: 'abc' }, { token: 'abc', clientCertificate }, undefined],
    [
      'a token that expires',
      { token: 'abc', expirationTimestamp: '2018-03-05T17:30:20-08:00' },
      { token: 'abc' },
      Date.parse('2018-03-06T01:30:20Z'),
    ],
    [
      'an expiry with fractions, and null for what is not there',
      { token: 'abc', clientKeyData: null, expirationTimestamp: '2030-01-01T00:00:00.25Z' },
      { token: 'abc' },
      Date.parse('2030-01-01T00:00:00.25Z'),
    ],
  ])('may be %s', (_, status, credentials, expiresAtMs) => {
    expect(execAnswer(answer(status), V1)).toEqual({ credentials, expiresAtMs });
  });

  it('may be indented, with fields that we do not know, or YAML', () => {
    const text = JSON.stringify(
      JSON.parse(answer({ token: 'abc' }, { spec: {}, x: 1 })),
      null,
      '\t',
    );
    const expected = { credentials: { token: 'abc' }, expiresAtMs: undefined };
    expect(execAnswer(text, V1)).toEqual(expected);
    const yaml = `apiVersion: ${V1}\nkind: ExecCredential\nstatus:\n  token: abc\n`;
    expect(execAnswer(yaml, V1)).toEqual(expected);
  });

  it.each([
    ['nothing', ' \n', 'wrote nothing instead of an ExecCredential in JSON'],
    ['a bare token', 'secret', 'wrote something else instead of an ExecCredential in JSON'],
    ['half of it', answer({ token: 'secret' }).slice(0, -5), 'wrote something else instead'],
    ['a list', '["secret"]', 'wrote something else instead'],
    ['another kind', answer({}, { kind: 'Secret' }), 'with kind "Secret", where ExecCredential is'],
    ['no kind', '{"token": "secret"}', 'with kind missing, where ExecCredential is expected'],
    [
      'another version',
      answer({ token: 'secret' }, { apiVersion: V1BETA1 }),
      `with apiVersion "${V1BETA1}", where ${V1} is expected`,
    ],
    ['no status', answer(undefined), 'without a status: it has no credentials'],
    ['a text as status', answer('secret'), 'without a status: it has no credentials'],
    ['an empty status', answer({ token: '' }), 'without status.token, and without status.client'],
    ['a number as token', answer({ token: 5 }), 'with a status.token that is not a string'],
    [
      'a list as certificate',
      answer({ clientCertificateData: ['secret'] }),
      'with a status.clientCertificateData that is not a string',
    ],
    [
      'a token of two lines',
      answer({ token: 'secret\n' }),
      'with a status.token that is no bearer',
    ],
    [
      'a certificate alone',
      answer({ clientCertificateData: 'secret' }),
      'without status.clientKeyData: certificate and key go together',
    ],
    [
      'a key alone',
      answer({ token: 'secret', clientKeyData: 'secret' }),
      'without status.clientCertificateData: certificate and key go together',
    ],
    [
      'an expiry of another form',
      answer({ token: 'secret', expirationTimestamp: 'tomorrow' }),
      'with status.expirationTimestamp "tomorrow", where a time as 2026-01-31T12:00:00Z is expected',
    ],
    [
      'an expiry on no day',
      answer({ token: 'secret', expirationTimestamp: '2026-13-01T00:00:00Z' }),
      'with status.expirationTimestamp "2026-13-01T00:00:00Z", where',
    ],
  ])('is refused where it is %s, without showing a secret', (_, output, problem) => {
    const refused = execAnswer(output, V1);
    expect(refused).toEqual({ problem: expect.stringContaining(problem) });
    expect(JSON.stringify(refused)).not.toContain('secret');
  });

  it('of any form is accepted or refused, and shows no possible secret', () => {
    const field = fc.constantFrom('token', 'clientCertificateData', 'clientKeyData', 'other');
    const value = fc.oneof(
      fc.string().map((text) => `secret${text}`),
      fc.constantFrom(null, '', 5, ['secret']),
    );
    const status = fc.dictionary(field, value).map((fields) => answer(fields));
    fc.assert(
      fc.property(
        fc.oneof(
          status,
          fc.string().map((text) => `secret${text}`),
        ),
        (output) => {
          const refused = execAnswer(output, V1);
          if ('problem' in refused) expect(refused.problem).not.toContain('secret');
          else expect(Object.values(refused.credentials).join('')).not.toBe('');
        },
      ),
    );
  });
});
