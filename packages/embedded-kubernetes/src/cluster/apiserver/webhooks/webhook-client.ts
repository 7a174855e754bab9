/** Sends one admission request to one webhook, and reports failures in the API server's words. */
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { quote } from '@lockstep/kube/quote.ts';
import { wholeBody } from '@lockstep/kube/runtime/client/response-body.ts';
import { DeadlineError, withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { type Clock, sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import {
  type HttpRequest,
  type HttpResponse,
  type Transport,
  TransportError,
} from '@lockstep/kube/runtime/ports/transport.ts';
import { timedOut } from '@lockstep/kube/status-errors.ts';
import { JsonSyntaxError, readJson } from '../http/json-reader.ts';
import { goTypeOf } from '../http/request-body.ts';
import type { ResourceTable } from '../resources/resource-table.ts';
import type { SentRequest } from './admission-request.ts';
import {
  InvalidAnswerError,
  MistypedAnswerError,
  readVerdict,
  type WebhookAnswer,
} from './admission-response.ts';
import type { CompiledWebhook } from './compiled-webhook.ts';
import { transportFailureText } from './transport-failure.ts';
import {
  addressOf,
  resolved,
  UnreachableError,
  type WebhookAddress,
  type WebhookEndpoint,
} from './webhook-endpoint.ts';

/** The webhook could not be asked, or its answer makes no sense: its failure policy decides. */
export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError';

  constructor(webhook: string, why: string, cause: unknown) {
    super(`failed calling webhook ${quote(webhook)}: ${why}`, { cause });
  }
}

export interface WebhookClientOptions {
  readonly clock: Clock;
  readonly resources: ResourceTable;
  /** Without a transport every webhook is unreachable. */
  readonly transport: ((endpoint: WebhookEndpoint) => Transport) | undefined;
}

const DEFAULT_TIMEOUT_SECONDS = 10;

/** Asks webhooks, one request each, within the time that their configuration allows. */
export class WebhookClient {
  readonly #options: WebhookClientOptions;

  constructor(options: WebhookClientOptions) {
    this.#options = options;
  }

  /**
   * Throws `WebhookCallError` if the call fails, and 504 `Timeout` if the client, which owns
   * `signal`, has gone.
   */
  async ask(
    { webhook }: CompiledWebhook,
    request: SentRequest,
    mayPatch: boolean,
    signal: AbortSignal,
  ): Promise<WebhookAnswer> {
    const seconds = webhook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS;
    const address = addressOf(webhook.clientConfig);
    const { uid } = request;
    try {
      const answer = await withDeadline(this.#options.clock, seconds * 1000, signal, (limited) =>
        this.#post(webhook.clientConfig, address, { request, seconds }, limited),
      );
      return readVerdict(answer, uid, mayPatch);
    } catch (error) {
      if (signal.aborted) {
        throw timedOut('request did not complete within requested timeout - context canceled');
      }
      const why = failureText(error, `${address.url}?timeout=${seconds}s`, address);
      if (why === undefined) throw error;
      throw new WebhookCallError(webhook.name, why, error);
    }
  }

  async #post(
    config: CompiledWebhook['webhook']['clientConfig'],
    address: WebhookAddress,
    { request, seconds }: { readonly request: SentRequest; readonly seconds: number },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const { transport, resources } = this.#options;
    if (transport === undefined) throw new UnreachableError('this server has no way to webhooks');
    const endpoint = resolved(config, address, resources);
    if (endpoint.certificateAuthority?.includes(PEM_BLOCK) === false) {
      throw new TypeError('unable to load root certificates: unable to parse bytes as PEM block');
    }
    const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request };
    const response = await this.#sent(transport(endpoint), {
      method: 'POST',
      path: `${address.path}?timeout=${seconds}s`,
      headers: HEADERS,
      body: Buffer.from(JSON.stringify(review)),
      signal,
    });
    const body = (await wholeBody(response.body, MAX_ANSWER_BYTES)).toString();
    return objectIn(response.status, body);
  }

  /** Asks a webhook that is busy again when it says, as long as the call may last. */
  async #sent(transport: Transport, request: HttpRequest): Promise<HttpResponse> {
    for (let retries = 0; ; retries++) {
      const response = await sendTwice(transport, request);
      const seconds = retryAfterSeconds(response);
      if (seconds === undefined || retries === MAX_RETRIES) return response;
      await wholeBody(response.body, MAX_ANSWER_BYTES);
      await sleep(this.#options.clock, seconds * 1000, request.signal);
    }
  }
}

/** Asked again after so many seconds, as clients in Go do; undefined: the answer is final. */
function retryAfterSeconds({ status, headers }: HttpResponse): number | undefined {
  if (status !== 429 && status < 500) return undefined;
  const text = headers['retry-after'] ?? '';
  return /^[0-9]{1,4}$/.test(text) ? Number(text) : undefined;
}

const MAX_RETRIES = 10;

/**
 * Sends the request again if a kept connection was closed at the other end meanwhile. That is safe,
 * because webhooks have no side effects.
 */
async function sendTwice(transport: Transport, request: HttpRequest): Promise<HttpResponse> {
  try {
    return await transport.send(request);
  } catch (error) {
    const isBroken = error instanceof TransportError && BROKEN.includes(error.code ?? '');
    if (!isBroken || request.signal.aborted) throw error;
    return transport.send(request);
  }
}

const BROKEN: readonly string[] = ['ECONNRESET', 'EPIPE'];

const PEM_BLOCK = '-----BEGIN CERTIFICATE-----';
const JSON_TYPE = 'application/json';

const HEADERS = {
  'content-type': JSON_TYPE,
  accept: `${JSON_TYPE}, */*`,
  'user-agent': 'kube-apiserver-admission',
};

/** A patch may hold a whole object, and base64 and JSON enlarge it. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

function objectIn(code: number, body: string): JsonObject {
  if (!isSuccess(code)) throw new MistypedAnswerError(refusalText(code, body));
  if (body === '') {
    const why = `0-length response with status code: ${code} and content type: ${JSON_TYPE}`;
    throw new MistypedAnswerError(why);
  }
  const unreadable = "couldn't get version/kind; json parse error: ";
  let value: unknown;
  try {
    ({ value } = readJson(body));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new MistypedAnswerError(unreadable + error.message, { cause: error });
  }
  if (value === null) return {};
  if (isJsonObject(value)) return value;
  const why = `json: cannot unmarshal ${goTypeOf(value)} into an object`;
  throw new MistypedAnswerError(unreadable + why);
}

/** The refusal text for an HTTP error in place of a review. */
function refusalText(code: number, body: string): string {
  try {
    const { value } = readJson(body);
    const status = isJsonObject(value) && value['kind'] === 'Status' ? value : {};
    const { message } = status;
    if (typeof message === 'string') return message;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
  }
  return codeText(code, body);
}

function isSuccess(code: number): boolean {
  return code >= 200 && code < 300;
}

/** How much of a text that is not a Status is shown. */
const MAX_QUOTED_CHARACTERS = 500;

/** The text that clients of Kubernetes make of a status code alone. */
function codeText(code: number, body: string): string {
  const text = body.trim().slice(0, MAX_QUOTED_CHARACTERS);
  switch (code) {
    case 401:
      return 'the server has asked for the client to provide credentials';
    case 403:
      return text === '' ? 'unknown' : text;
    case 404:
      return 'the server could not find the requested resource';
    case 503:
      return 'the server is currently unable to handle the request';
    case 504:
      return 'the server was unable to return a response in the time allotted, but may still be processing the request';
    default:
      if (code >= 500) {
        return `an error on the server (${quote(text)}) has prevented the request from succeeding`;
      }
      return code >= 400
        ? 'the server rejected our request for an unknown reason'
        : `the server responded with the status code ${code} but did not return more information`;
  }
}

/** Why a call failed; undefined for an error of our own. */
function failureText(
  error: unknown,
  url: string,
  { endpoint }: WebhookAddress,
): string | undefined {
  const failed = 'failed to call webhook';
  if (error instanceof InvalidAnswerError) {
    return `received invalid webhook response: ${error.message}`;
  }
  if (error instanceof MistypedAnswerError) return `${failed}: ${error.message}`;
  const post = `${failed}: Post ${quote(url)}`;
  if (error instanceof UnreachableError) return `${post}: ${error.message}`;
  if (error instanceof DeadlineError) return `${post}: context deadline exceeded`;
  if (error instanceof TransportError) return `${post}: ${transportFailureText(error, endpoint)}`;
  // Thrown here and by the transport for unreadable certificates.
  return error instanceof TypeError ? `could not get REST client: ${error.message}` : undefined;
}
