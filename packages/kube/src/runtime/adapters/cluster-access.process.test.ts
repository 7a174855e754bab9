import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defined } from '../../json/defined.ts';
import { PODS } from '../../objects/pod.ts';
import { VirtualClock } from '../memory/virtual-clock.ts';
import { connectClient } from './http-client-connection.ts';
import { startHttpServer } from './http-server.ts';
import { inClusterAccess } from './in-cluster.ts';
import { loadKubeconfig } from './kubeconfig-files.ts';
import { nodeClock } from './node-clock.ts';
import { systemRandom } from './system-random.ts';
import { tokenFile } from './token-file.ts';

const FIRST = { token: 'first' };
const PEM = '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-access-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function write(path: string, text: string): Promise<string> {
  const file = join(directory, path);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, text);
  return file;
}

const config = (server: string, more = '') => `
current-context: here
contexts: [{name: here, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "${server}"${more}}}]
users: [{name: u, user: {tokenFile: token}}]
`;

describe('loadKubeconfig', () => {
  const load = (env: Record<string, string>, path?: string) =>
    loadKubeconfig({ path, env, homeDirectory: directory });

  it('reads ~/.kube/config, with paths relative to it', async () => {
    await write('.kube/ca.crt', PEM);
    await write('.kube/config', config('https://home', ', certificate-authority: ca.crt'));
    expect(await load({})).toEqual({
      server: 'https://home',
      tls: {
        certificateAuthority: PEM,
        clientCertificate: undefined,
        clientKey: undefined,
        serverName: undefined,
        insecureSkipVerify: false,
      },
      credentials: { tokenFile: join(directory, '.kube/token') },
      namespace: 'default',
      context: 'here',
    });
  });

  it('merges the files of KUBECONFIG that exist, and prefers a file that is given', async () => {
    const first = await write('first', 'clusters: [{name: c, cluster: {server: "https://first"}}]');
    const second = await write('second', config('https://second'));
    const env = { KUBECONFIG: ['', '/does/not/exist', first, second].join(delimiter) };
    expect((await load(env)).server).toBe('https://first');
    expect((await load(env, second)).server).toBe('https://second');
  });

  it('names the file that is missing, unreadable or no PEM', async () => {
    await expect(load({})).rejects.toThrow(`${directory}/.kube/config: no such file; --kubeconfig`);
    await expect(load({}, '/does/not/exist')).rejects.toThrow('/does/not/exist: cannot be read');
    await expect(load({ KUBECONFIG: directory })).rejects.toThrow(
      `${directory}: cannot be read: EISDIR`,
    );
    const ca = await write('ca.crt', 'not PEM');
    const file = await write('config', config('https://a', ', certificate-authority: ca.crt'));
    await expect(load({}, file)).rejects.toThrow(`${ca}: must be a PEM file`);
  });
});

describe('inClusterAccess', () => {
  const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
  const serviceAccount = 'var/run/secrets/kubernetes.io/serviceaccount';

  it('reads the files of the service account below the root directory', async () => {
    await write(`${serviceAccount}/ca.crt`, PEM);
    await write(`${serviceAccount}/namespace`, 'team\n');
    const token = await write(`${serviceAccount}/token`, 'abc');
    expect(await inClusterAccess(env, directory)).toEqual({
      server: 'https://10.0.0.1:443',
      tls: { certificateAuthority: PEM },
      credentials: { tokenFile: token },
      namespace: 'team',
    });
    const six = await inClusterAccess({ ...env, KUBERNETES_SERVICE_HOST: 'fd00::1' }, directory);
    expect(six.server).toBe('https://[fd00::1]:443');
  });

  it('names what is missing', async () => {
    await expect(inClusterAccess({}, directory)).rejects.toThrow(
      'KUBERNETES_SERVICE_HOST: required',
    );
    await expect(
      inClusterAccess({ ...env, KUBERNETES_SERVICE_PORT: 'tcp://1' }, directory),
    ).rejects.toThrow('KUBERNETES_SERVICE_PORT: "tcp://1": must be a port');
    await write(`${serviceAccount}/ca.crt`, PEM);
    await expect(inClusterAccess(env, directory)).rejects.toThrow(
      /serviceaccount\/token: cannot be read: .*; is automountServiceAccountToken false\?/,
    );
  });
});

describe('tokenFile', () => {
  it('reads a replaced token within a minute, and once for all who ask meanwhile', async () => {
    const clock = new VirtualClock();
    const file = await write('token', 'first\n');
    const source = tokenFile(file, clock);
    expect(await Promise.all([source.current(), source.current()])).toEqual([FIRST, FIRST]);
    await write('token', 'second\n');
    expect(await source.current()).toEqual(FIRST);
    await clock.advance(60_000);
    expect(await source.current()).toEqual({ token: 'second' });
  });

  it('continues with the last token while the file cannot be read', async () => {
    const clock = new VirtualClock();
    const file = await write('token', 'first');
    const source = tokenFile(file, clock);
    await source.current();
    await rm(file);
    await clock.advance(60_000);
    expect(await source.current()).toEqual(FIRST);
    await write('token', 'second');
    await clock.advance(60_000);
    expect(await source.current()).toEqual({ token: 'second' });
  });

  it('reads it again at once when a server refuses the token', async () => {
    const clock = new VirtualClock();
    const file = await write('token', 'first');
    const source = tokenFile(file, clock);
    const first = await source.current();
    await write('token', 'second');
    source.refused?.(first);
    expect(await source.current()).toEqual({ token: 'second' });
    await write('token', 'third');
    source.refused?.(first);
    expect(await source.current()).toEqual({ token: 'second' });
  });

  it('names the file when there never was a token', async () => {
    const clock = new VirtualClock();
    await expect(tokenFile('/does/not/exist', clock).current()).rejects.toThrow(
      '/does/not/exist: cannot be read',
    );
    const empty = await write('token', '\n');
    await expect(tokenFile(empty, clock).current()).rejects.toThrow(`${empty}: must hold a token`);
  });
});

describe('connectClient', () => {
  it('sends the token that the configuration names', async () => {
    const seen: (string | undefined)[] = [];
    const server = await startHttpServer({
      host: '127.0.0.1',
      port: 0,
      handler: async (request) => {
        seen.push(request.headers['authorization']);
        return { status: 200, headers: {}, body: Buffer.from('{"metadata":{},"items":[]}') };
      },
    });
    await write('token', 'from-a-file');
    const path = await write('config', config(server.url));
    const access = await loadKubeconfig({ path, env: {}, homeDirectory: directory });
    const options = { userAgent: 'test/1', clock: nodeClock, random: systemRandom };
    const all = [access.credentials, { token: 'inline' }, undefined];
    for (const credentials of all) {
      const { credentials: _, ...rest } = access;
      const connection = connectClient({ ...rest, ...defined({ credentials }) }, options);
      await connection.client.list(PODS);
      connection.close();
    }
    await server.close();
    expect(seen).toEqual(['Bearer from-a-file', 'Bearer inline', undefined]);
  });
});
