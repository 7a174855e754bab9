import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import type {
  HttpRequest,
  HttpResponse,
  Transport,
} from '@lockstep/kube/runtime/ports/transport.ts';
import { describe, expect, it } from 'vitest';
import { createTokenSigner } from './adapters/token-signer.ts';
import { byStaticToken } from './identity/authentication.ts';
import { TestServer } from './test-server.ts';

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const PODS = '/api/v1/namespaces/default/pods';
const POD = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'x' }] } };

/** A client that shows no certificate. */
async function ask(
  server: TestServer,
  path: string,
  token?: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const transport = handlerTransport(server.api.handler, { address: '127.0.0.1' });
  const headers: Record<string, string> = {};
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
  const signal = new AbortController().signal;
  const { status, body } = await transport.send({ method: 'GET', path, headers, signal });
  return { status, text: body instanceof Uint8Array ? Buffer.from(body).toString() : '' };
}

async function serverWithAccount(): Promise<TestServer> {
  const server = await TestServer.start({ tokenSigner: createTokenSigner() });
  await server.post(ACCOUNTS, { metadata: { name: 'default' } });
  return server;
}

async function tokenOf(server: TestServer, spec: object = {}): Promise<string> {
  const { body } = await server.post(`${ACCOUNTS}/default/token`, { spec });
  return (body['status'] as { token: string }).token;
}

describe('who says nothing about himself', () => {
  it('learns whether the server lives, and nothing else', async () => {
    const server = await TestServer.start();
    for (const path of ['/healthz', '/livez', '/readyz?verbose', '/version']) {
      expect((await ask(server, path)).status).toBe(200);
    }
    for (const path of ['/api', '/api/v1/pods', '/openapi/v3', '/nothing']) {
      const { status, text } = await ask(server, path);
      expect(status).toBe(401);
      expect(JSON.parse(text)).toMatchObject({ reason: 'Unauthorized', code: 401 });
    }
  });
});

describe('a caller', () => {
  it('is known by a certificate, by a token of a table, and asks who he is', async () => {
    const admin = { username: 'jane', groups: ['dev'] };
    const server = await TestServer.start({ authenticators: [byStaticToken({ secret: admin })] });
    const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const { body } = await server.post(review, {});
    expect(body['status']).toEqual({
      userInfo: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
    });
    expect((await ask(server, '/api/v1/pods', 'secret')).status).toBe(200);
    expect((await ask(server, '/api/v1/pods', 'guess')).status).toBe(401);
  });

  it('may do everything, and reviews say yes', async () => {
    const server = await TestServer.start();
    const review = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const attributes = { verb: 'delete', resource: 'nodes' };
    const asked = await server.post(review, { spec: { resourceAttributes: attributes } });
    expect(asked.body['status']).toMatchObject({ allowed: true });
    expect((await server.post(review, { spec: {} })).status).toBe(422);
  });
});

describe('a token of a service account', () => {
  it('says who it is for, how long, and is good until then', async () => {
    const server = await serverWithAccount();
    const { body } = await server.post(`${ACCOUNTS}/default/token`, {
      spec: { expirationSeconds: 600 },
    });
    expect(body).toMatchObject({
      kind: 'TokenRequest',
      spec: { audiences: ['https://kubernetes.default.svc'] },
      status: { expirationTimestamp: '2026-01-01T00:10:00Z' },
    });
    const token = (body['status'] as { token: string }).token;
    expect((await ask(server, '/api', token)).status).toBe(200);
    await server.clock.advance(600_000);
    expect((await ask(server, '/api', token)).status).toBe(401);
  });

  it('is not good for another audience', async () => {
    const server = await serverWithAccount();
    const token = await tokenOf(server, { audiences: ['hub'] });
    expect((await ask(server, '/api', token)).status).toBe(401);
    const review = await server.post('/apis/authentication.k8s.io/v1/tokenreviews', {
      spec: { token, audiences: ['hub'] },
    });
    expect(review.body['status']).toMatchObject({
      authenticated: true,
      user: { username: 'system:serviceaccount:default:default' },
      audiences: ['hub'],
    });
  });

  it('is worth nothing once its Pod is gone, even if another has its name', async () => {
    const server = await serverWithAccount();
    const { body } = await server.post(PODS, POD);
    const { uid } = body['metadata'] as { uid: string };
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p', uid };
    const token = await tokenOf(server, { boundObjectRef });
    expect((await ask(server, '/api', token)).status).toBe(200);
    await server.delete(`${PODS}/p`);
    await server.post(PODS, POD);
    expect((await ask(server, '/api', token)).status).toBe(401);
    const again = await server.post(`${ACCOUNTS}/default/token`, { spec: { boundObjectRef } });
    expect(again.body).toMatchObject({ code: 409 });
  });

  it('is refused if it was changed or signed with another key', async () => {
    const server = await serverWithAccount();
    const [head = '', body = '', signature = ''] = (await tokenOf(server)).split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'admin' })).toString('base64url');
    const other = await tokenOf(await serverWithAccount());
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const bad = [`${head}.${forged}.${signature}`, other, `${none}.${body}.`, 'a.b.c', '...'];
    for (const token of bad) expect((await ask(server, '/api', token)).status).toBe(401);
  });

  it('can be checked by others with the published key', async () => {
    const server = await serverWithAccount();
    const { body } = await server.get('/.well-known/openid-configuration');
    expect(body).toMatchObject({ issuer: 'https://kubernetes.default.svc' });
    const keys = await server.get('/openid/v1/jwks');
    const [head = ''] = (await tokenOf(server)).split('.');
    const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString());
    expect(keys.body['keys']).toMatchObject([{ kid, kty: 'EC', crv: 'P-256', alg: 'ES256' }]);
  });

  it.each([
    [{ expirationSeconds: 5 }, 422],
    [{ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'nope' } }, 404],
    [{ boundObjectRef: { kind: 'Job', apiVersion: 'batch/v1', name: 'j' } }, 400],
  ])('is not given for %j', async (spec, code) => {
    const server = await serverWithAccount();
    expect((await server.post(`${ACCOUNTS}/default/token`, { spec })).body).toMatchObject({ code });
  });
});

describe('a Pod', () => {
  it('gets its account’s token, unless one of them says no', async () => {
    const server = await serverWithAccount();
    const { body } = await server.post(PODS, POD);
    const [volume] = (body['spec'] as { volumes: { name: string }[] }).volumes;
    expect(volume?.name).toMatch(/^kube-api-access-/);
    expect(body['spec']).toMatchObject({
      serviceAccountName: 'default',
      containers: [
        {
          volumeMounts: [
            { name: volume?.name, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
          ],
        },
      ],
      volumes: [{ projected: { sources: [{ serviceAccountToken: { path: 'token' } }, {}, {}] } }],
    });
    const plain = { ...POD, metadata: { name: 'q' } };
    const spec = { ...POD.spec, automountServiceAccountToken: false };
    const without = await server.post(PODS, { ...plain, spec });
    expect(without.body['spec']).not.toHaveProperty('volumes');
  });

  it('is not created for an account that does not exist', async () => {
    const server = await serverWithAccount();
    const spec = { ...POD.spec, serviceAccountName: 'nope' };
    expect((await server.post(PODS, { ...POD, spec })).body).toMatchObject({
      code: 403,
      message:
        'pods "p" is forbidden: error looking up service account default/nope: serviceaccount "nope" not found',
    });
  });
});

describe('logs', () => {
  const TWO = { ...POD, spec: { nodeName: 'n', containers: [container('a'), container('b')] } };

  it('come from the node agent of the Pod’s node', async () => {
    const asked: string[] = [];
    const server = await logServer(async (request) => {
      asked.push(request.path);
      return { status: 200, headers: {}, body: Buffer.from('hello\n') };
    });
    const path = `${PODS}/p/log?container=b&tailLines=3&follow=true&pretty=x`;
    expect((await server.get(path)).text).toBe('hello\n');
    expect(asked).toEqual(['/containerLogs/default/p/b?follow=true&tailLines=3']);
  });

  it.each([
    ['', 400, 'a container name must be specified for pod p, choose one of: [a b]'],
    ['?container=x', 400, 'container x is not valid for pod p'],
    ['?container=a&tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    [
      '?container=a&limitBytes=0',
      422,
      'PodLogOptions "p" is invalid: limitBytes: Invalid value: 0: must be greater than 0',
    ],
  ])('%s are refused with %i', async (query, code, message) => {
    const server = await logServer(async () => ({ status: 200, headers: {}, body: Buffer.of() }));
    expect((await server.get(`${PODS}/p/log${query}`)).body).toMatchObject({ code, message });
  });

  it('are refused in the words of the node agent', async () => {
    const why = 'container "a" in pod "p" is waiting to start: ContainerCreating';
    const server = await logServer(async () => ({
      status: 400,
      headers: {},
      body: Buffer.from(`${why}\n`),
    }));
    expect((await server.get(`${PODS}/p/log?container=a`)).body).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: why,
    });
  });

  async function logServer(
    kubelet: (request: HttpRequest) => Promise<HttpResponse>,
  ): Promise<TestServer> {
    const transport: Transport = { send: kubelet };
    const server = await TestServer.start({ kubelet: () => transport });
    await server.post('/api/v1/nodes', { metadata: { name: 'n' } });
    expect((await server.post(PODS, TWO)).status).toBe(201);
    return server;
  }

  function container(name: string): object {
    return { name, image: 'x' };
  }
});
