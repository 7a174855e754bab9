/** A real program as credential plugin of a real kubeconfig, against a real server over TLS. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { PODS } from '../../objects/pod.ts';
import { failure } from '../../status.ts';
import { until } from '../../until.fixture.ts';
import type { HttpRequest, Peer } from '../ports/transport.ts';
import { type ClientConnection, connectClient } from './http-client-connection.ts';
import { type HttpServer, startHttpServer } from './http-server.ts';
import { loadKubeconfig } from './kubeconfig-files.ts';
import { nodeClock } from './node-clock.ts';
import { systemRandom } from './system-random.ts';
import { createCertificateAuthority, issueCertificate } from './tls/certificates.ts';

const V1 = 'client.authentication.k8s.io/v1';
const HOUR_MS = 3_600_000;
/** Idle connections must close before they would time out by themselves, after 30 s. */
const BEFORE_IDLE_TIMEOUT_MS = 20_000;
const LOOPBACK = '127.0.0.1';
const directory = mkdtempSync(join(tmpdir(), 'lockstep-plugin-'));
const authority = createCertificateAuthority({ commonName: 'cluster', clock: nodeClock });

/** The users whom the server accepts, by token or name; all others get 401. */
let welcome: ReadonlySet<string>;
/** The users of all requests, in order, refused or not. */
let seen: string[];
let openWatches: number;
/** Answers the requests for namespace `slow`. */
let release: () => void;
let released: Promise<void>;
let server: HttpServer;
const cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  welcome = new Set();
  seen = [];
  openWatches = 0;
  released = new Promise((resolve) => {
    release = resolve;
  });
  server = await startHttpServer({
    handler: async (request) => {
      const who = whoIs(request);
      seen.push(who);
      const { status } = failure('Unauthorized', 'Unauthorized');
      const isWelcome = welcome.has(who);
      if (isWelcome && request.path.includes('watch=true')) {
        return { status: 200, headers: {}, body: untilGone(request.signal) };
      }
      if (request.path.includes('/slow/')) await released;
      const body = isWelcome ? { metadata: { resourceVersion: '1' }, items: [] } : status;
      return {
        status: isWelcome ? 200 : 401,
        headers: {},
        body: Buffer.from(JSON.stringify(body)),
      };
    },
    host: LOOPBACK,
    port: 0,
    tls: {
      ...issueCertificate(authority, {
        commonName: 'server',
        ipAddresses: [LOOPBACK],
        usages: ['server'],
        days: 1,
      }),
      clientAuthority: authority.certificate,
    },
  });
  cleanups.push(() => server.close());
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
afterAll(() => rmSync(directory, { recursive: true }));

function whoIs({ headers, peer }: { headers: HttpRequest['headers']; peer?: Peer | undefined }) {
  return headers['authorization'] ?? peer?.certificate?.commonName ?? 'anonymous';
}

/** Sends the beginning of a line, and nothing more. */
async function* untilGone(signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  openWatches++;
  yield Buffer.from(' ');
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  openWatches--;
}

/** The number of this process's sockets; it holds both ends of each connection. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((kind) => /^TCPSocketWrap$/.test(kind)).length;
}

/** Resolves with the reason of the watch's end. */
async function drained(watch: AsyncIterable<unknown>): Promise<unknown> {
  try {
    for await (const _ of watch);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Sets what the plugin answers from now on. */
function answers(status: object): void {
  const answer = { apiVersion: V1, kind: 'ExecCredential', status };
  writeFileSync(join(directory, 'answer.json'), JSON.stringify(answer));
}

const runs = (): string[] =>
  readFileSync(join(directory, 'runs'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');

/** A client with a kubeconfig whose plugin logs its input, and answers. */
async function connected(): Promise<Pick<ClientConnection, 'client' | 'close'>> {
  writeFileSync(join(directory, 'runs'), '');
  const script = '#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" >> "$1/$RUNS"\ncat "$1/answer.json"\n';
  writeFileSync(join(directory, 'plugin'), script, { mode: 0o755 });
  const config = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [
      {
        name: 'c',
        cluster: {
          server: server.url,
          'certificate-authority-data': Buffer.from(authority.certificate).toString('base64'),
        },
      },
    ],
    users: [
      {
        name: 'u',
        user: {
          exec: {
            apiVersion: V1,
            interactiveMode: 'Never',
            command: './plugin',
            args: [directory],
            env: [{ name: 'RUNS', value: 'runs' }],
            provideClusterInfo: true,
          },
        },
      },
    ],
  };
  const path = join(directory, 'config');
  writeFileSync(path, stringify(config));
  const access = await loadKubeconfig({ path, env: process.env, homeDirectory: '/' });
  const { client, close } = connectClient(access, {
    clock: nodeClock,
    random: systemRandom,
    userAgent: 'test',
  });
  cleanups.push(close);
  return { client, close };
}

function certificateOf(commonName: string) {
  const pair = issueCertificate(authority, { commonName, usages: ['client'], days: 1 });
  return { clientCertificateData: pair.certificate, clientKeyData: pair.key };
}

describe('a credential plugin', () => {
  it('lets a client in with the token that it answers', async () => {
    const { client } = await connected();
    answers({ token: 'first', expirationTimestamp: new Date(nodeClock.now() + HOUR_MS) });
    welcome = new Set(['Bearer first']);
    await Promise.all([client.list(PODS), client.list(PODS)]);
    expect(seen).toEqual(['Bearer first', 'Bearer first']);
    expect(runs().map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        apiVersion: V1,
        kind: 'ExecCredential',
        spec: {
          interactive: false,
          cluster: {
            server: server.url,
            'certificate-authority-data': Buffer.from(authority.certificate).toString('base64'),
          },
        },
      },
    ]);
  });

  it('is asked once more when its token is refused, for writes too', async () => {
    const { client } = await connected();
    answers({ token: 'old' });
    welcome = new Set(['Bearer old']);
    await client.list(PODS);
    answers({ token: 'new' });
    welcome = new Set(['Bearer new']);
    await client.delete(PODS, { namespace: 'a', name: 'b' });
    welcome = new Set();
    await expect(client.list(PODS)).rejects.toMatchObject({ code: 401 });
    await expect(client.list(PODS)).rejects.toMatchObject({ code: 401 });
    expect(runs()).toHaveLength(2);
    expect(seen).toEqual(['Bearer old', 'Bearer old', 'Bearer new', 'Bearer new', 'Bearer new']);
  });

  it(
    'lets a client in with its certificate, and over new connections with the next',
    async () => {
      const { client, close } = await connected();
      answers(certificateOf('one'));
      welcome = new Set(['one']);
      await client.list(PODS);
      const { signal } = new AbortController();
      const watching = drained(client.watch(PODS, { resourceVersion: '1', signal }));
      await until('the watch is open', () => openWatches === 1);
      const sockets = openSockets();
      const slow = client.list(PODS, { namespace: 'slow' });
      await until('the third request arrives', () => expect(seen).toHaveLength(3));
      answers(certificateOf('two'));
      welcome = new Set(['two']);
      seen = [];
      await client.list(PODS);
      await client.list(PODS);
      expect(seen).toEqual(['one', 'two', 'two']);
      expect(runs()).toHaveLength(2);
      // Requests under way continue with the credentials with which they began.
      expect(openWatches).toBe(1);
      release();
      expect((await slow).items).toEqual([]);
      // The first's idle connections were closed when the second's was opened, or came free.
      await until('they are closed', () => expect(openSockets()).toBe(sockets));
      close();
      expect(await watching).toMatchObject({ name: 'TransportError' });
      await until('no socket is open', () => expect(openSockets()).toBe(0));
    },
    BEFORE_IDLE_TIMEOUT_MS,
  );

  it('is named where its certificate and key do not belong together', async () => {
    const { client } = await connected();
    answers({ ...certificateOf('one'), clientKeyData: certificateOf('two').clientKeyData });
    await expect(client.list(PODS)).rejects.toThrow(
      /users\[0\]\.user\.exec: credential plugin ".*plugin" answered with clientCertificateData and/,
    );
    expect(seen).toEqual([]);
  });
});
