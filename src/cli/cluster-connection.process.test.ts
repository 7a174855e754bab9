import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HttpServer, startHttpServer } from '@lockstep/kube/runtime/adapters/http-server.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import {
  createCertificateAuthority,
  issueCertificate,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { HttpHandler } from '@lockstep/kube/runtime/ports/transport.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { connectTo } from './cluster-connection.ts';
import { withCluster } from './named-jobset.ts';

const LOOPBACK = '127.0.0.1';
const DAY_MS = 86_400_000;
const directory = mkdtempSync(join(tmpdir(), 'lockstep-connection-'));
const authority = createCertificateAuthority({ commonName: 'cluster', clock: nodeClock });
/** A clock a week in the past, to make certificates that have expired since. */
const past: Clock = { ...nodeClock, now: () => nodeClock.now() - 7 * DAY_MS };
const servers: HttpServer[] = [];

const answer =
  (status: number, body: object): HttpHandler =>
  () =>
    Promise.resolve({
      status,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
    });

async function serve(
  handler: HttpHandler,
  tls?: { readonly names?: readonly string[]; readonly clock?: Clock },
): Promise<string> {
  const by = tls?.clock === undefined ? authority : { ...authority, clock: tls.clock };
  const pair = issueCertificate(by, {
    commonName: 'server',
    dnsNames: tls?.names ?? [],
    ipAddresses: tls?.names === undefined ? [LOOPBACK] : [],
    usages: ['server'],
    days: 1,
  });
  const server = await startHttpServer({
    handler,
    host: LOOPBACK,
    port: 0,
    ...(tls === undefined ? {} : { tls: pair }),
  });
  servers.push(server);
  return server.url;
}

let files = 0;

/** Writes a kubeconfig; `user` is the user of its only context. */
function kubeconfig(server: string, user: object = { token: 't' }, ca = authority): string {
  const file = join(directory, `kubeconfig-${files++}`);
  const config = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [
      {
        name: 'c',
        cluster: {
          server,
          'certificate-authority-data': Buffer.from(ca.certificate).toString('base64'),
        },
      },
    ],
    users: [{ name: 'u', user }],
  };
  writeFileSync(file, stringify(config));
  return file;
}

async function problemOf(file: string, context?: string): Promise<string> {
  const connecting = connectTo({ kubeconfig: file, context }, new AbortController().signal);
  return connecting.then(
    ({ close }) => {
      close();
      return 'none';
    },
    (error: Error) => error.message,
  );
}

let url: string;

beforeAll(async () => {
  url = await serve(answer(200, { gitVersion: 'v1.36.3' }), {});
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  rmSync(directory, { recursive: true, force: true });
});

test('a command that has failed ends the requests that are still out', async () => {
  const flags = { kubeconfig: kubeconfig(url) };
  let late: AbortSignal | undefined;
  const run = withCluster(flags, ({ signal }) => {
    late = signal;
    return Promise.reject(new Error('refused'));
  });
  await expect(run).rejects.toThrow('refused');
  expect(late?.aborted).toBe(true);
});

describe('a kubeconfig', () => {
  test('without a path', async () => {
    expect(await problemOf('')).toBe('--kubeconfig is "", expected is the path of a file');
  });

  test('that is right leads to its cluster', async () => {
    const flags = { kubeconfig: kubeconfig(url) };
    const connected = await connectTo(flags, new AbortController().signal);
    expect(connected.serverVersion).toBe('1.36.3');
    connected.close();
  });

  test('of a server that is not there', async () => {
    expect(await problemOf(kubeconfig(`https://${LOOPBACK}:1`))).toMatch(
      /^https:\/\/127.0.0.1:1: cannot be reached: is the cluster up, and is this the right server\?/,
    );
    expect(await problemOf(kubeconfig('https://no-such-host.invalid'))).toMatch(
      /name (is unknown|cannot be looked up)/,
    );
  });

  test('of a server that is no API server', async () => {
    const plain = (await serve(answer(200, {}))).replace('http:', 'https:');
    expect(await problemOf(kubeconfig(plain))).toMatch(/: it does not speak TLS .*\)$/);
    const page = await serve(
      () => Promise.resolve({ status: 200, headers: {}, body: Buffer.from('<html>') }),
      {},
    );
    for (const other of [page, await serve(answer(404, {}), {})]) {
      expect(await problemOf(kubeconfig(other))).toMatch(/not like a Kubernetes API server/);
    }
  });

  test('of another authority, another name, an expired server', async () => {
    const other = createCertificateAuthority({ commonName: 'other', clock: nodeClock });
    expect(await problemOf(kubeconfig(url, {}, other))).toContain('not signed by an authority');
    const named = await serve(answer(200, {}), { names: ['elsewhere'] });
    expect(await problemOf(kubeconfig(named))).toContain('tls-server-name');
    const expired = await serve(answer(200, {}), { clock: past });
    expect(await problemOf(kubeconfig(expired))).toContain('its certificate has expired');
  });

  test('with a client certificate that has expired', async () => {
    const old = { ...authority, clock: past };
    const pair = issueCertificate(old, { commonName: 'me', usages: ['client'], days: 1 });
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const user = {
      'client-certificate-data': base64(pair.certificate),
      'client-key-data': base64(pair.key),
    };
    expect(await problemOf(kubeconfig(url, user))).toMatch(
      /^the client certificate of the kubeconfig expired at 20.*: get a new kubeconfig/,
    );
  });

  test('with credentials that the server does not take', async () => {
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' };
    const refused = { ...status, message: 'Unauthorized', reason: 'Unauthorized', code: 401 };
    const strict = await serve(answer(401, refused), {});
    expect(await problemOf(kubeconfig(strict))).toContain('does not accept the credentials');
  });

  test('without the context that was asked for', async () => {
    expect(await problemOf(kubeconfig(url), 'there')).toMatch(
      /context "there": not found; contexts: "here"$/,
    );
  });

  describe('with a credential plugin', () => {
    const v1 = 'client.authentication.k8s.io/v1';
    const user = (script: string, more: object = {}) => ({
      exec: {
        apiVersion: v1,
        interactiveMode: 'Never',
        command: 'sh',
        args: ['-c', script],
        ...more,
      },
    });
    const credential = (status: object) =>
      JSON.stringify({ apiVersion: v1, kind: 'ExecCredential', status });

    test('leads to its cluster', async () => {
      const strict = await serve(
        (request) =>
          answer(request.headers['authorization'] === 'Bearer made' ? 200 : 401, {
            gitVersion: 'v1.36.3',
          })(request),
        {},
      );
      const file = kubeconfig(strict, user(`echo '${credential({ token: 'made' })}'`));
      expect(await problemOf(file)).toBe('none');
      const other = kubeconfig(strict, user(`echo '${credential({ token: 'other' })}'`));
      expect(await problemOf(other)).toMatch(
        /does not accept what the credential plugin "sh" \(.*users\[0\]\.user\.exec\) returns: log in again/,
      );
    });

    test.each<[string, object, RegExp]>([
      [
        'is not installed',
        user('', { command: 'no-such-plugin', installHint: 'It is at a place.' }),
        /users\[0\]\.user\.exec\.command: exec "no-such-plugin": executable file not found in PATH\nIt is at a place\.$/,
      ],
      [
        'fails',
        user('exit 3'),
        /users\[0\]\.user\.exec: credential plugin "sh" failed with exit code 3; its standard error says why/,
      ],
      ['says nothing', user(''), /credential plugin "sh" wrote nothing instead of an ExecCred/],
    ])('that %s', async (_, of, problem) => {
      expect(await problemOf(kubeconfig(url, of))).toMatch(problem);
    });
  });

  test('that is no YAML, in one line that shows nothing of it', async () => {
    const file = join(directory, 'text');
    writeFileSync(file, 'users: [{user: {token: secret}}');
    expect(await problemOf(file)).toMatch(/text: must be YAML: .* at line 1, column \d+$/);
  });

  test('that is not there', async () => {
    expect(await problemOf(join(directory, 'none'))).toContain('cannot be read');
  });
});
