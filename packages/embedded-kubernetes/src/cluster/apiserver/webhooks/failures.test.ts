import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import { describe, expect, it } from 'vitest';
import { TestServer } from '../test-server.ts';
import {
  CONFIG_MAPS,
  configMap,
  configuration,
  hook,
  MUTATING,
  serverWith,
  TestWebhooks,
  VALIDATING,
} from './test-webhooks.fixture.ts';

const FAILED = 'Internal error occurred: failed calling webhook "v.example.com": ';
const POST = 'failed to call webhook: Post "https://hooks.test/v?timeout=10s": ';
const REVIEW = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' };

describe('a call that fails', () => {
  it.each<[what: string, answer: (uid: string) => { status?: number; body: unknown }, why: string]>(
    [
      ['no JSON', () => ({ body: 'hello' }), "failed to call webhook: couldn't get version/kind"],
      [
        'another code',
        () => ({ status: 404, body: 'no' }),
        'failed to call webhook: the server could not find the requested resource',
      ],
      [
        'an error',
        () => ({ status: 500, body: 'oh' }),
        'failed to call webhook: an error on the server ("oh") has prevented the request from succeeding',
      ],
      [
        'a Status',
        () => ({ status: 400, body: { kind: 'Status', message: 'why' } }),
        'failed to call webhook: why',
      ],
      [
        'no response',
        () => ({ body: REVIEW }),
        'received invalid webhook response: webhook response was absent',
      ],
      [
        'another uid',
        () => ({ body: { ...REVIEW, response: { uid: 'x', allowed: true } } }),
        'received invalid webhook response: expected response.uid="',
      ],
      [
        'another version',
        (uid) => ({
          body: { ...REVIEW, apiVersion: 'admission.k8s.io/v1beta1', response: { uid } },
        }),
        'received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1beta1, Kind=AdmissionReview',
      ],
      [
        'a wrong type',
        (uid) => ({ body: { ...REVIEW, response: { uid, allowed: 'yes' } } }),
        'failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
      ],
      [
        'a patch',
        (uid) => ({
          body: {
            ...REVIEW,
            response: { uid, allowed: true, patch: 'W10=', patchType: 'JSONPatch' },
          },
        }),
        'received invalid webhook response: validating webhook may not return response.patch',
      ],
      [
        'an odd Status',
        (uid) => ({ body: { ...REVIEW, response: { uid, status: { details: { causes: [1] } } } } }),
        'failed to call webhook: json: cannot unmarshal object into Go struct field AdmissionResponse.response.status of type v1.Status',
      ],
    ],
  )('with %s is reported, and ignored where the policy says so', async (_, answer, why) => {
    for (const failurePolicy of ['Fail', 'Ignore']) {
      const hooks = new TestWebhooks();
      hooks.raw('v', answer);
      const webhooks = [hook('v', { failurePolicy })];
      const server = await serverWith(hooks, [VALIDATING, 'c', webhooks]);
      const { status, body } = await server.post(CONFIG_MAPS, configMap('x'));
      if (failurePolicy === 'Ignore') expect(status).toBe(201);
      else {
        expect(body).toMatchObject({ code: 500, reason: 'InternalError' });
        expect(String(body['message']).startsWith(FAILED + why)).toBe(true);
      }
    }
  });

  it.each([
    ['429', 429],
    ['503', 503],
  ])('because it is busy, which is %s, is made again when the webhook says', async (_, status) => {
    const hooks = new TestWebhooks();
    let busy = 2;
    hooks.raw('v', (uid) =>
      busy-- > 0
        ? { status, headers: { 'retry-after': '1' }, body: 'later' }
        : { body: { ...REVIEW, response: { uid, allowed: true } } },
    );
    const server = await serverWith(hooks, [VALIDATING, 'c', [hook('v')]]);
    const answer = server.post(CONFIG_MAPS, configMap('x'));
    await server.clock.advance(1_999);
    expect(hooks.asked).toHaveLength(2);
    await server.clock.advance(1);
    expect((await answer).status).toBe(201);
    expect(hooks.asked).toHaveLength(3);
  });

  it('because it stays busy, ends with the time of the webhook', async () => {
    const hooks = new TestWebhooks();
    hooks.raw('v', () => ({ status: 429, headers: { 'retry-after': '4' }, body: 'later' }));
    const server = await serverWith(hooks, [VALIDATING, 'c', [hook('v')]]);
    const answer = server.post(CONFIG_MAPS, configMap('x'));
    await server.clock.advance(10_000);
    expect((await answer).body['message']).toBe(`${FAILED}${POST}context deadline exceeded`);
    expect(hooks.asked).toHaveLength(3);
  });

  it('because it is busy, is final without a time to wait', async () => {
    const hooks = new TestWebhooks();
    hooks.raw('v', () => ({ status: 429, body: 'later' }));
    const server = await serverWith(hooks, [VALIDATING, 'c', [hook('v')]]);
    expect((await server.post(CONFIG_MAPS, configMap('x'))).status).toBe(500);
    expect(hooks.asked).toHaveLength(1);
  });

  it.each([
    [
      { patch: 'W10=' },
      'received invalid webhook response: webhook returned response.patch but not response.patchType',
    ],
    [
      { patchType: 'JSONPatch' },
      'received invalid webhook response: webhook returned response.patchType but not response.patch',
    ],
    [
      { patch: 'W10=', patchType: '' },
      'received invalid webhook response: webhook returned invalid response.patchType of ""',
    ],
    [
      { patch: '!', patchType: 'JSONPatch' },
      'failed to call webhook: illegal base64 data at input byte 0',
    ],
  ])('of a mutating webhook that answers %j', async (answer, why) => {
    const hooks = new TestWebhooks();
    hooks.on('v', () => answer);
    const server = await serverWith(hooks, [MUTATING, 'c', [hook('v')]]);
    const { body } = await server.post(CONFIG_MAPS, configMap('x'));
    expect(body['message']).toBe(`${FAILED}${why}`);
  });

  it.each([
    ['no JSON', "invalid character 'o' in literal null (expecting 'u')"],
    ['{}', 'a JSON patch must be a list of operations'],
  ])('because its patch is %s', async (patch, why) => {
    for (const failurePolicy of ['Fail', 'Ignore']) {
      const hooks = new TestWebhooks();
      const encoded = Buffer.from(patch).toString('base64');
      hooks.on('v', () => ({ patch: encoded, patchType: 'JSONPatch' }));
      const server = await serverWith(hooks, [MUTATING, 'c', [hook('v', { failurePolicy })]]);
      const { status, body } = await server.post(CONFIG_MAPS, configMap('x'));
      if (failurePolicy === 'Ignore') expect(status).toBe(201);
      else {
        const undecodable = 'received undecodable patch in webhook response: ';
        expect(body['message']).toBe(FAILED + undecodable + why);
      }
    }
  });

  it('because its patch is of another type', async () => {
    const hooks = new TestWebhooks();
    const patch = Buffer.from('[{"op":"add","path":"/data","value":{}}]').toString('base64');
    hooks.on('v', () => ({ patch, patchType: 'Merge' }));
    const server = await serverWith(hooks, [MUTATING, 'c', [hook('v')]]);
    const { body } = await server.post(CONFIG_MAPS, configMap('x'));
    expect(body['message']).toBe(`${FAILED}unsupported patch type "Merge"`);
  });

  it.each([
    ['ECONNREFUSED', 'dial tcp hooks.test:443: connect: connection refused'],
    ['ENOTFOUND', 'dial tcp: lookup hooks.test: no such host'],
    [
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    ],
    ['EODD', 'something odd'],
  ])('because of %s says so', async (code, why) => {
    const broken: Transport = {
      send: () => Promise.reject(new TransportError('something odd', { code })),
    };
    const server = await TestServer.start({ webhookTransport: () => broken });
    await server.post(VALIDATING, configuration(VALIDATING, 'c', [hook('v')]));
    const { body } = await server.post(CONFIG_MAPS, configMap('x'));
    expect(body['message']).toBe(FAILED + POST + why);
  });

  it('because the server has no way to webhooks says so', async () => {
    const server = await TestServer.start();
    await server.post(VALIDATING, configuration(VALIDATING, 'c', [hook('v')]));
    const { body } = await server.post(CONFIG_MAPS, configMap('x'));
    expect(body['message']).toBe(`${FAILED}${POST}this server has no way to webhooks`);
  });

  it('over a connection that broke is tried once more', async () => {
    const hooks = new TestWebhooks();
    hooks.on('v', () => ({}));
    let sent = 0;
    const server = await TestServer.start({
      webhookTransport: (endpoint) => ({
        send: (request) =>
          sent++ === 0
            ? Promise.reject(new TransportError('reset', { code: 'ECONNRESET' }))
            : hooks.transport(endpoint).send(request),
      }),
    });
    await server.post(VALIDATING, configuration(VALIDATING, 'c', [hook('v')]));
    expect((await server.post(CONFIG_MAPS, configMap('x'))).status).toBe(201);
    expect(sent).toBe(2);
  });

  it('for want of an answer ends when its time is up', async () => {
    const hooks = new TestWebhooks();
    let isAborted = false;
    hooks.on('v', (_, signal) => {
      signal.addEventListener('abort', () => {
        isAborted = true;
      });
      return new Promise(() => undefined);
    });
    const webhooks = [hook('v', { timeoutSeconds: 3 })];
    const server = await serverWith(hooks, [VALIDATING, 'c', webhooks]);
    const started = server.clock.monotonic();
    const answer = server.post(CONFIG_MAPS, configMap('x'));
    await server.clock.advance(2_999);
    expect(isAborted).toBe(false);
    await server.clock.advance(1);
    const { body } = await answer;
    expect([isAborted, server.clock.monotonic() - started]).toEqual([true, 3_000]);
    expect(body['message']).toBe(
      `${FAILED}failed to call webhook: Post "https://hooks.test/v?timeout=3s": context deadline exceeded`,
    );
  });

  it('leaves other writes to the same object alone', async () => {
    const hooks = new TestWebhooks();
    hooks.on('v', () => ({}));
    const server = await serverWith(hooks, [VALIDATING, 'c', [hook('v')]]);
    await server.post(CONFIG_MAPS, configMap('x'));
    hooks.on('v', ({ object }) =>
      object?.metadata.labels === undefined ? {} : new Promise(() => undefined),
    );
    const at = `${CONFIG_MAPS}/x`;
    const stuck = server.patch(at, 'merge', { metadata: { labels: { a: 'b' } } });
    const other = await server.patch(at, 'merge', { data: { a: 'b' } });
    expect(other.status).toBe(200);
    await server.clock.advance(10_000);
    expect((await stuck).status).toBe(500);
  });

  it('while its namespace goes away creates nothing there', async () => {
    const hooks = new TestWebhooks();
    const server = await serverWith(hooks, [VALIDATING, 'c', [hook('v')]]);
    await server.post('/api/v1/namespaces', { metadata: { name: 'n' } });
    hooks.on('v', async () => {
      await server.delete('/api/v1/namespaces/n');
      return {};
    });
    const made = await server.post('/api/v1/namespaces/n/configmaps', configMap('x'));
    expect(made).toMatchObject({ status: 403, body: { reason: 'Forbidden' } });
  });
});

describe('a webhook behind a Service', () => {
  const SERVICES = '/api/v1/namespaces/system/services';
  const SLICES = '/apis/discovery.k8s.io/v1/namespaces/system/endpointslices';
  const clientConfig = { service: { namespace: 'system', name: 'hooks', path: '/v' } };
  const URL_OF_SERVICE = 'https://hooks.system.svc:443/v?timeout=10s';

  it('is found by its EndpointSlices, under the name of the Service', async () => {
    const hooks = new TestWebhooks();
    hooks.on('v', () => ({}));
    const webhooks = [hook('v', { clientConfig })];
    const server = await serverWith(hooks, [VALIDATING, 'c', webhooks]);
    await server.post('/api/v1/namespaces', { metadata: { name: 'system' } });
    const refusal = async (): Promise<unknown> => {
      const { body } = await server.post(CONFIG_MAPS, configMap('x'));
      return body['message'];
    };
    const unreachable = `${FAILED}failed to call webhook: Post "${URL_OF_SERVICE}": `;
    expect(await refusal()).toBe(`${unreachable}service "hooks" not found`);
    await server.post(SERVICES, {
      metadata: { name: 'hooks' },
      spec: { ports: [{ name: 'https', port: 443, targetPort: 9443 }] },
    });
    expect(await refusal()).toBe(`${unreachable}no endpoints available for service "hooks"`);
    const labels = { 'kubernetes.io/service-name': 'hooks' };
    await server.post(SLICES, {
      metadata: { name: 'hooks-1', labels },
      addressType: 'IPv4',
      endpoints: [
        { addresses: ['127.0.0.8'], conditions: { ready: false } },
        { addresses: ['127.0.0.9'], conditions: { ready: true } },
      ],
      ports: [{ name: 'https', port: 9443, protocol: 'TCP' }],
    });
    expect((await server.post(CONFIG_MAPS, configMap('x'))).status).toBe(201);
    expect(hooks.take().endpoint).toEqual({
      server: 'https://127.0.0.9:9443',
      serverName: 'hooks.system.svc',
      certificateAuthority: undefined,
    });
  });
});
