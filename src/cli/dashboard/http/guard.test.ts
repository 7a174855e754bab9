import { describe, expect, it } from 'vitest';
import { judge } from './guard.ts';

const SESSION = 's'.repeat(43);
const hasSession = (cookie: string): boolean => cookie === SESSION;
const HOST = '127.0.0.1:8475';
const COOKIE = `lockstep-8475=${SESSION}`;
const LOGGED_IN = { host: HOST, cookie: COOKIE };
const ACTION = {
  ...LOGGED_IN,
  origin: `http://${HOST}`,
  'content-type': 'application/json',
  'sec-fetch-site': 'same-origin',
};

function judged(
  method: 'GET' | 'POST' | 'PUT' | 'HEAD' | 'DELETE' | 'OPTIONS',
  path: string,
  headers: Readonly<Record<string, string>>,
): string {
  const judgement = judge({ method, path, headers }, { port: 8475, hasSession });
  switch (judgement.kind) {
    case 'Permitted':
      return judgement.request.kind;
    case 'LogIn':
      return `LogIn ${judgement.token} ${judgement.session ?? 'anew'}`;
    case 'Refused':
      return String(judgement.status);
  }
}

describe('a request', () => {
  it.each([
    ['the page', 'GET', '/', LOGGED_IN, 'File'],
    ['the head of the page', 'HEAD', '/page.js', LOGGED_IN, 'File'],
    ['a query behind a file', 'GET', '/?x=1', LOGGED_IN, 'File'],
    ['the overview', 'GET', '/api/overview', LOGGED_IN, 'Overview'],
    ['a run', 'GET', '/api/run?namespace=a&name=b', LOGGED_IN, 'Run'],
    ['a log', 'GET', '/api/log?namespace=a&name=b&pod=c', LOGGED_IN, 'Log'],
    ['the cluster', 'GET', '/api/cluster', LOGGED_IN, 'Cluster'],
    ['a trace', 'GET', '/api/trace', LOGGED_IN, 'Trace'],
    ['a moment of it', 'GET', '/api/trace/state?event=3', LOGGED_IN, 'TraceState'],
    ['an action', 'POST', '/api/action', ACTION, 'Action'],
    [
      'the other names of this machine',
      'GET',
      '/',
      { ...LOGGED_IN, host: 'localhost:8475' },
      'File',
    ],
    ['its address in IPv6', 'GET', '/', { ...LOGGED_IN, host: '[::1]:8475' }, 'File'],
    ['one of several cookies', 'GET', '/', { host: HOST, cookie: `a=b; ${COOKIE}; c=d` }, 'File'],
    ['a token', 'GET', '/?token=x', { host: HOST }, 'LogIn x anew'],
    ['a token beside a session', 'GET', '/?token=x', LOGGED_IN, `LogIn x ${SESSION}`],
    ['a pass', 'GET', '/api/pass', LOGGED_IN, 'Pass'],
    ['the start, without a session', 'GET', '/api/start', { host: HOST }, 'Start'],
    ['a renewal, without a session', 'POST', '/api/renew', { ...ACTION, cookie: '' }, 'Renew'],
  ] as const)('for %s is permitted', (_, method, path, headers, expected) => {
    expect(judged(method, path, headers)).toBe(expected);
  });

  it.each([
    ['without a host', 'GET', '/', { cookie: COOKIE }, '421'],
    [
      'for a name that was made to resolve here',
      'GET',
      '/',
      { ...LOGGED_IN, host: 'evil.example:8475' },
      '421',
    ],
    ['for another port', 'GET', '/', { ...LOGGED_IN, host: '127.0.0.1:80' }, '421'],
    ['for a host without port', 'GET', '/', { ...LOGGED_IN, host: '127.0.0.1' }, '421'],
    [
      'for another address of this machine',
      'GET',
      '/',
      { ...LOGGED_IN, host: '127.0.0.2:8475' },
      '421',
    ],
    ['without a cookie', 'GET', '/', { host: HOST }, '401'],
    ['for the API without a cookie', 'GET', '/api/overview', { host: HOST }, '401'],
    ['for an action without a cookie', 'POST', '/api/action', { ...ACTION, cookie: '' }, '401'],
    [
      'with the cookie of another port',
      'GET',
      '/',
      { host: HOST, cookie: `lockstep-80=${SESSION}` },
      '401',
    ],
    ['with a wrong cookie', 'GET', '/', { host: HOST, cookie: 'lockstep-8475=x' }, '401'],
    ['for a pass without a cookie', 'GET', '/api/pass', { host: HOST }, '401'],
    ['with a token for another path', 'GET', '/api/overview?token=x', { host: HOST }, '401'],
    ['that posts a token', 'POST', '/?token=x', { host: HOST }, '405'],
    ['that gets a renewal', 'GET', '/api/renew', ACTION, '405'],
    [
      'to renew from another port',
      'POST',
      '/api/renew',
      { ...ACTION, origin: 'http://127.0.0.1:80' },
      '403',
    ],
    [
      'for the start by another site',
      'GET',
      '/api/start',
      { host: HOST, 'sec-fetch-site': 'cross-site' },
      '403',
    ],
    [
      'to renew by a form',
      'POST',
      '/api/renew',
      { ...ACTION, 'content-type': 'text/plain' },
      '415',
    ],
    ['for a file that is not of the page', 'GET', '/index.html', LOGGED_IN, '404'],
    ['for a path upwards', 'GET', '/../../etc/passwd', LOGGED_IN, '404'],
    ['for an encoded path upwards', 'GET', '/%2e%2e/etc/passwd', LOGGED_IN, '404'],
    ['for a double slash', 'GET', '//page.js', LOGGED_IN, '404'],
    ['for a property of all objects', 'GET', '/__proto__', LOGGED_IN, '404'],
    ['for what an object inherits', 'GET', 'constructor', LOGGED_IN, '404'],
    ['that posts to the page', 'POST', '/', LOGGED_IN, '405'],
    ['that gets an action', 'GET', '/api/action', ACTION, '405'],
    ['that posts to a stream', 'POST', '/api/overview', ACTION, '405'],
    ['for the head of a stream', 'HEAD', '/api/overview', LOGGED_IN, '405'],
    ['that asks what it may', 'OPTIONS', '/api/action', ACTION, '405'],
    [
      'of another origin',
      'GET',
      '/api/overview',
      { ...LOGGED_IN, origin: 'https://evil.example' },
      '403',
    ],
    [
      'of another port',
      'GET',
      '/api/overview',
      { ...LOGGED_IN, origin: 'http://127.0.0.1:80' },
      '403',
    ],
    [
      'of another name of this machine',
      'POST',
      '/api/action',
      { ...ACTION, origin: 'http://localhost:8475' },
      '403',
    ],
    ['of a sandbox', 'POST', '/api/action', { ...ACTION, origin: 'null' }, '403'],
    ['of a site', 'GET', '/api/overview', { ...LOGGED_IN, 'sec-fetch-site': 'cross-site' }, '403'],
    [
      'of the same site',
      'GET',
      '/api/overview',
      { ...LOGGED_IN, 'sec-fetch-site': 'same-site' },
      '403',
    ],
    [
      'that a user typed',
      'GET',
      '/api/overview',
      { ...LOGGED_IN, 'sec-fetch-site': 'none' },
      '403',
    ],
    ['of a form', 'POST', '/api/action', { ...ACTION, 'content-type': 'text/plain' }, '415'],
  ] as const)('%s is refused', (_, method, path, headers, expected) => {
    expect(judged(method, path, headers)).toBe(expected);
  });

  it('that acts has to name its origin', () => {
    const { origin: _origin, ...headers } = ACTION;
    expect(judged('POST', '/api/action', headers)).toBe('403');
  });
});
