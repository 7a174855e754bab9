/** Scripted admission webhooks for tests, in memory. */
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import type {
  HttpRequest,
  HttpResponse,
  Transport,
} from '@lockstep/kube/runtime/ports/transport.ts';
import { TestServer } from '../test-server.ts';
import type { SentRequest } from './admission-request.ts';
import type { WebhookEndpoint } from './webhook-endpoint.ts';

export interface AskedWebhook {
  readonly name: string;
  readonly path: string;
  readonly endpoint: WebhookEndpoint;
  readonly request: SentRequest;
}

export interface RawAnswer {
  readonly status?: number;
  readonly headers?: HttpResponse['headers'];
  readonly body: unknown;
}

/** Returns members of the response; `allowed` is true by default. */
export type Answer = (
  request: SentRequest,
  signal: AbortSignal,
) => JsonObject | Promise<JsonObject>;

/** Webhooks in memory, each at the path of its name, with the requests that they received. */
export class TestWebhooks {
  readonly asked: AskedWebhook[] = [];
  readonly #answers = new Map<string, (request: HttpRequest) => Promise<HttpResponse>>();

  readonly transport = (endpoint: WebhookEndpoint): Transport =>
    handlerTransport(async (request) => {
      const name = new URL(`${endpoint.server}${request.path}`).pathname.slice(1);
      this.asked.push({ name, path: request.path, endpoint, request: requestIn(request) });
      const answer = this.#answers.get(name);
      if (answer === undefined) throw new Error(`no webhook answers as ${name}`);
      return answer(request);
    });

  /** Sets the answer of the webhook `name`. */
  on(name: string, answer: Answer): void {
    this.#answers.set(name, async ({ body, signal }) => {
      const request = requestIn({ body });
      const response = { uid: request.uid, allowed: true };
      return json(200, {
        kind: 'AdmissionReview',
        apiVersion: 'admission.k8s.io/v1',
        response: { ...response, ...(await answer(request, signal)) },
      });
    });
  }

  /** Sets a raw answer, valid or not. */
  raw(name: string, answer: (uid: string) => RawAnswer): void {
    this.#answers.set(name, async ({ body }) => {
      const { status = 200, headers = {}, body: value } = answer(requestIn({ body }).uid);
      return { ...json(status, value), headers };
    });
  }

  /** The names of the webhooks that were asked since the last call. */
  takeNames(): readonly string[] {
    return this.asked.splice(0).map(({ name }) => name);
  }

  /** The only request since the last call. */
  take(): AskedWebhook {
    const asked = this.asked.splice(0);
    const [only] = asked;
    if (only === undefined || asked.length > 1) throw new Error(`${asked.length} requests`);
    return only;
  }
}

function requestIn({ body }: Pick<HttpRequest, 'body'>): SentRequest {
  return JSON.parse(Buffer.from(body ?? []).toString()).request;
}

function json(status: number, value: unknown): HttpResponse {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { status, headers: {}, body: Buffer.from(text) };
}

/** The members of a response that changes the object. */
export function patching(...operations: readonly object[]): JsonObject {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { patch, patchType: 'JSONPatch' };
}

const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
export const MUTATING = `${REGISTRATION}/mutatingwebhookconfigurations`;
export const VALIDATING = `${REGISTRATION}/validatingwebhookconfigurations`;

export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

/** A webhook configuration that covers every write of a ConfigMap. */
export function hook(name: string, members: object = {}): object {
  return {
    name: `${name}.example.com`,
    clientConfig: { url: `https://hooks.test/${name}` },
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...members,
  };
}

export function configuration(path: string, name: string, webhooks: readonly object[]): object {
  const kind =
    path === MUTATING ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration';
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name },
    webhooks,
  };
}

export async function serverWith(
  hooks: TestWebhooks,
  ...configurations: readonly (readonly [path: string, name: string, webhooks: readonly object[]])[]
): Promise<TestServer> {
  const server = await TestServer.start({ webhookTransport: hooks.transport });
  for (const [path, name, webhooks] of configurations) {
    const { status, text } = await server.post(path, configuration(path, name, webhooks));
    if (status !== 201) throw new Error(text);
  }
  return server;
}

export function configMap(name: string, members: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...members };
}
