import { generateKeyPairSync, sign } from 'node:crypto';
import {
  createTokenSigner,
  issueToken,
  TestServer,
  TOKEN_ISSUER,
  type TokenGrant,
  type TokenSigner,
} from '@lockstep/embedded-kubernetes/in-memory';
import { signatureKey } from '@lockstep/kube/runtime/adapters/tls/json-web-keys.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { failure } from '@lockstep/kube/status.ts';
import { describe, expect, it } from 'vitest';
import { HUB_AUDIENCE } from '../../jobset/names.ts';
import { PodTokens } from './pod-tokens.ts';

const HOUR_MS = 3_600_000;
const CLAIM = {
  namespace: 'ns',
  serviceAccount: 'default',
  podName: 'pod',
  podUid: 'pod-uid',
} as const;

/** A cluster that publishes the keys of these signers. */
class Publisher {
  readonly clock = new VirtualClock();
  signers: readonly TokenSigner[] = [createTokenSigner()];
  asked = 0;
  isDown = false;
  readonly tokens: PodTokens;

  constructor() {
    const getPath = (path: string): Promise<unknown> => {
      if (this.isDown) return Promise.reject(new Error('down'));
      if (path.endsWith('configuration')) return Promise.resolve({ issuer: TOKEN_ISSUER });
      this.asked++;
      const keys = this.signers.map(({ keyId, publicKey }) => ({ kid: keyId, ...publicKey }));
      return Promise.resolve({ keys: [{ kid: 'x', kty: 'oct', k: 'AAAA' }, 'nonsense', ...keys] });
    };
    this.tokens = new PodTokens({
      client: { getPath } as unknown as Client,
      clock: this.clock,
      logger: SILENT,
      importKey: signatureKey,
    });
  }

  token(change: Partial<TokenGrant> = {}, signer = this.signers[0]): string {
    if (signer === undefined) throw new Error('there is no signer');
    const grant: TokenGrant = {
      namespace: 'ns',
      serviceAccount: { name: 'default', uid: 'account-uid' },
      audiences: [HUB_AUDIENCE],
      expiresAtMs: this.clock.now() + HOUR_MS,
      boundTo: { kind: 'Pod', name: 'pod', uid: 'pod-uid' },
      id: 'id',
      ...change,
    };
    return issueToken(signer, grant, this.clock.now());
  }
}

describe('a token that the cluster signed', () => {
  it('tells the Pod, and a hundred of them cost one look at the keys', async () => {
    const cluster = new Publisher();
    for (let i = 0; i < 100; i++) {
      expect(await cluster.tokens.podOf(cluster.token())).toEqual({ kind: 'Pod', claim: CLAIM });
    }
    expect(cluster.asked).toBe(1);
  });

  it.each<[string, (cluster: Publisher) => string, RegExp]>([
    ['another audience', (c) => c.token({ audiences: [TOKEN_ISSUER] }), /another audience/],
    ['no Pod', (c) => c.token({ boundTo: undefined }), /bound to no Pod/],
    ['a node', (c) => c.token({ boundTo: { kind: 'Node', name: 'n', uid: 'u' } }), /no Pod/],
    ['yesterday', (c) => c.token({ expiresAtMs: c.clock.now() }), /expired/],
    ['another cluster', (c) => c.token({}, createTokenSigner()), /key that this cluster/],
    ['nobody', () => 'not a token', /not a JSON Web Token/],
    ['nothing', () => '', /not a JSON Web Token/],
    ['a novelist', () => `${'x'.repeat(20_000)}.y.z`, /not a JSON Web Token/],
  ])('is refused when it is for, of, or from %s', async (_what, tokenOf, problem) => {
    const cluster = new Publisher();
    expect(await cluster.tokens.podOf(tokenOf(cluster))).toEqual({
      kind: 'Invalid',
      problem: expect.stringMatching(problem),
    });
  });

  it('is refused when anything in it was changed, or it says that it is not signed', async () => {
    const cluster = new Publisher();
    const [head = '', body = '', signature = ''] = cluster.token().split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
    const encode = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    const [{ keyId } = { keyId: '' }] = cluster.signers;
    const forged = [
      `${head}.${encode({ ...claims, exp: 9e9 })}.${signature}`,
      `${encode({ alg: 'none', kid: keyId })}.${body}.${signature}`,
      `${encode({ alg: 'RS256', kid: keyId })}.${body}.${signature}`,
      `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`,
    ];
    for (const token of forged) {
      const finding = await cluster.tokens.podOf(token);
      expect(finding).toEqual({ kind: 'Invalid', problem: 'its signature is wrong' });
    }
  });

  it('may be signed with RSA, as tokens of most clusters are', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = signatureKey({ ...publicKey.export({ format: 'jwk' }), alg: 'RS256' });
    const data = Buffer.from('data');
    expect(key?.verify(data, sign('sha256', data, privateKey))).toBe(true);
    expect(key?.verify(Buffer.from('other'), sign('sha256', data, privateKey))).toBe(false);
  });
});

describe('keys of the cluster', () => {
  it('that are new are believed as soon as a token names them', async () => {
    const cluster = new Publisher();
    await cluster.tokens.podOf(cluster.token());
    await cluster.clock.advance(10_000);
    cluster.signers = [...cluster.signers, createTokenSigner()];
    const token = cluster.token({}, cluster.signers[1]);
    expect(await cluster.tokens.podOf(token)).toMatchObject({ kind: 'Pod' });
  });

  it('that are withdrawn are not believed for long', async () => {
    const cluster = new Publisher();
    const token = cluster.token();
    await cluster.tokens.podOf(token);
    cluster.signers = [createTokenSigner()];
    await cluster.clock.advance(6 * 60_000);
    expect(await cluster.tokens.podOf(token)).toMatchObject({ kind: 'Invalid' });
  });

  it('are not asked for by every token of an unknown key', async () => {
    const cluster = new Publisher();
    const stranger = createTokenSigner();
    for (let i = 0; i < 100; i++) await cluster.tokens.podOf(cluster.token({}, stranger));
    expect(cluster.asked).toBe(1);
  });

  it('stay valid while the cluster does not answer; without any, all tokens are refused', async () => {
    const cluster = new Publisher();
    const token = cluster.token();
    cluster.isDown = true;
    await expect(cluster.tokens.podOf(token)).rejects.toThrow('could not be read');
    cluster.isDown = false;
    await cluster.clock.advance(1000);
    await cluster.tokens.podOf(token);
    cluster.isDown = true;
    await cluster.clock.advance(10 * 60_000);
    expect(await cluster.tokens.podOf(cluster.token())).toMatchObject({ kind: 'Pod' });
  });
});

it('are read from an API server, which has a name of its own for their type', async () => {
  const signer = createTokenSigner();
  const { clock, transport } = await TestServer.start({ tokenSigner: signer });
  const client = createClient({ transport, clock, random: new SeededRandom(3), userAgent: 'test' });
  const tokens = new PodTokens({ client, clock, logger: SILENT, importKey: signatureKey });
  const grant: TokenGrant = {
    namespace: 'ns',
    serviceAccount: { name: 'default', uid: 'account-uid' },
    audiences: [HUB_AUDIENCE],
    expiresAtMs: clock.now() + HOUR_MS,
    boundTo: { kind: 'Pod', name: 'pod', uid: 'pod-uid' },
    id: 'id',
  };
  const token = issueToken(signer, grant, clock.now());
  expect(await tokens.podOf(token)).toEqual({ kind: 'Pod', claim: CLAIM });
});

describe('where the keys are not for us to see', () => {
  const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
  const PODS = '/api/v1/namespaces/default/pods';
  const POD = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'x' }] } };

  async function reviewing() {
    const server = await TestServer.start({ tokenSigner: createTokenSigner() });
    await server.post(ACCOUNTS, { metadata: { name: 'default' } });
    const created = await server.post(PODS, POD);
    const { uid } = created.body['metadata'] as { uid: string };
    let reviews = 0;
    const { clock, transport } = server;
    const client = createClient({
      transport: {
        send: (request) => {
          if (request.path.includes('tokenreviews')) reviews++;
          return transport.send(request);
        },
      },
      clock,
      random: new SeededRandom(3),
      userAgent: 'test',
    });
    client.getPath = () => Promise.reject(failure('Forbidden', 'no'));
    const tokens = new PodTokens({ client, clock, logger: SILENT, importKey: signatureKey });
    const tokenFor = async (audience: string): Promise<string> => {
      const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p', uid };
      const spec = { audiences: [audience], boundObjectRef };
      const { body } = await server.post(`${ACCOUNTS}/default/token`, { spec });
      return (body['status'] as { token: string }).token;
    };
    return { tokens, uid, tokenFor, reviews: () => reviews };
  }

  it('each token is reviewed once in a while', async () => {
    const { tokens, uid, tokenFor, reviews } = await reviewing();
    const token = await tokenFor(HUB_AUDIENCE);
    for (let i = 0; i < 20; i++) {
      expect(await tokens.podOf(token)).toEqual({
        kind: 'Pod',
        claim: { namespace: 'default', serviceAccount: 'default', podName: 'p', podUid: uid },
      });
    }
    expect(reviews()).toBe(1);
  });

  it('thousands of forged tokens cost some hundred reviews, and push out no good one', async () => {
    const { tokens, tokenFor, reviews } = await reviewing();
    const token = await tokenFor(HUB_AUDIENCE);
    await tokens.podOf(token);
    const part = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    for (let i = 0; i < 6000; i++) {
      await tokens.podOf(`${part({ alg: 'ES256' })}.${part({ i })}.x`).catch(() => undefined);
    }
    const before = reviews();
    expect(before).toBeLessThan(2000);
    expect(await tokens.podOf(token)).toMatchObject({ kind: 'Pod' });
    expect(reviews()).toBe(before);
  });

  it('a token for somebody else is refused all the same', async () => {
    const { tokens, tokenFor } = await reviewing();
    expect(await tokens.podOf(await tokenFor('somebody'))).toMatchObject({ kind: 'Invalid' });
  });
});
