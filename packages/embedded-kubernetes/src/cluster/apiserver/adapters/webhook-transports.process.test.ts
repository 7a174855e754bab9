import { type HttpServer, startHttpServer } from '@lockstep/kube/runtime/adapters/http-server.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import {
  createCertificateAuthority,
  issueCertificate,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { TestServer } from '../test-server.ts';
import { createWebhookTransports } from './webhook-transports.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const authority = createCertificateAuthority({ commonName: 'the-ca', clock: nodeClock });
const stranger = createCertificateAuthority({ commonName: 'another', clock: nodeClock });

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A webhook that labels the objects it sees. */
async function startWebhook(): Promise<HttpServer> {
  const pair = issueCertificate(authority, {
    commonName: 'webhook',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    tls: pair,
    handler: async ({ body }) => {
      const { request } = JSON.parse(Buffer.from(body ?? []).toString());
      const patch = [{ op: 'add', path: '/metadata/labels', value: { seen: request.operation } }];
      const response = {
        uid: request.uid,
        allowed: request.name !== 'bad',
        warnings: ['over TLS'],
        patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
        patchType: 'JSONPatch',
      };
      const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response };
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(review)) };
    },
  });
  cleanups.push(() => server.close());
  return server;
}

async function startApi(url: string, caBundle: string): Promise<TestServer> {
  const transports = createWebhookTransports();
  cleanups.push(() => transports.close());
  const api = await TestServer.start({ webhookTransport: transports.to });
  const configured = await api.post(
    '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    {
      metadata: { name: 'c' },
      webhooks: [
        {
          name: 'm.example.com',
          clientConfig: { url, caBundle },
          rules: [
            { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
          ],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    },
  );
  expect(configured.status).toBe(201);
  return api;
}

function base64(pem: string): string {
  return Buffer.from(pem).toString('base64');
}

describe('a webhook over TLS', () => {
  it('is believed if the bundle names its authority', async () => {
    const server = await startWebhook();
    const api = await startApi(`${server.url}/label`, base64(authority.certificate));
    const made = await api.post(CONFIG_MAPS, { metadata: { name: 'good' } });
    expect(made).toMatchObject({ status: 201, body: { metadata: { labels: { seen: 'CREATE' } } } });
    expect(made.headers['warning']).toBe('299 - "over TLS"');
    const refused = await api.post(CONFIG_MAPS, { metadata: { name: 'bad' } });
    expect(refused).toMatchObject({
      status: 400,
      body: { message: 'admission webhook "m.example.com" denied the request without explanation' },
    });
  });

  it('is not believed on the word of another authority, nor under another name', async () => {
    const server = await startWebhook();
    const { port } = server;
    const cases = [
      [server.url, stranger.certificate, 'x509: certificate signed by unknown authority'],
      [
        `https://localhost:${port}`,
        authority.certificate,
        'x509: certificate is not valid for localhost',
      ],
    ] as const;
    for (const [url, pem, why] of cases) {
      const api = await startApi(`${url}/label`, base64(pem));
      const { status, body } = await api.post(CONFIG_MAPS, { metadata: { name: 'x' } });
      expect([status, body['reason']]).toEqual([500, 'InternalError']);
      expect(body['message']).toContain(
        `Internal error occurred: failed calling webhook "m.example.com": failed to call webhook: Post "${url}/label?timeout=10s": tls: failed to verify certificate: ${why}`,
      );
    }
  });

  it('is named as the reason if it is gone or its bundle is invalid', async () => {
    const server = await startWebhook();
    const url = `${server.url}/label`;
    const unreadable = await startApi(url, base64('no certificate'));
    const { body } = await unreadable.post(CONFIG_MAPS, { metadata: { name: 'x' } });
    expect(body['message']).toContain(
      'could not get REST client: unable to load root certificates: unable to parse bytes as PEM block',
    );
    await server.close();
    const api = await startApi(url, base64(authority.certificate));
    const refused = await api.post(CONFIG_MAPS, { metadata: { name: 'x' } });
    expect(refused.body['message']).toContain(
      `dial tcp 127.0.0.1:${server.port}: connect: connection refused`,
    );
  });
});
