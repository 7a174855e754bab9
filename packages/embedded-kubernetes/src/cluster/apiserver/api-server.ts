/**
 * The embedded API server: starts it, authenticates each request, and takes it to its handler. The
 * handlers share the state in `calls/server-state.ts`.
 */

import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import type { Node } from '@lockstep/kube/objects/node.ts';
import { refusalResponse } from '@lockstep/kube/runtime/client/refusal-response.ts';
import type { Metrics } from '@lockstep/kube/runtime/metrics.ts';
import type { RuntimePorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import type {
  HttpHandler,
  HttpRequest,
  HttpResponse,
  Transport,
} from '@lockstep/kube/runtime/ports/transport.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import {
  badRequest,
  internalError,
  methodNotAllowed,
  serviceUnavailable,
  unauthorized,
  unknownResource,
} from '@lockstep/kube/status-errors.ts';
import { WireError } from '../../api-machinery/protobuf/wire.ts';
import type { Storage } from '../ports/storage.ts';
import { openBuiltInKinds } from './built-in-kinds.ts';
import type { ServerState } from './calls/server-state.ts';
import { CustomResourceController } from './custom-resources/custom-resource-controller.ts';
import { discover } from './discovery/discovery.ts';
import { type MoreMetrics, metricsPage } from './discovery/metrics-page.ts';
import { OpenApi } from './discovery/openapi.ts';
import { openApiV2 } from './discovery/openapi-v2.ts';
import { openId } from './discovery/openid.ts';
import { publicInfo, VERSION } from './discovery/server-info.ts';
import { JsonSyntaxError } from './http/json-reader.ts';
import { OpenStreams } from './http/open-streams.ts';
import { type ApiRequest, pathNotFound } from './http/request.ts';
import { parseResourcePath, pathSegments, type ResourcePath } from './http/request-path.ts';
import { withWarnings } from './http/warning-header.ts';
import { type Authenticator, byClientCertificate, type User } from './identity/authentication.ts';
import {
  byServiceAccountToken,
  createTokenVerifier,
  type TokenSigner,
} from './identity/service-account-tokens.ts';
import { handleResource } from './resource-request.ts';
import { CommitSequence } from './resources/commit-sequence.ts';
import { ResourceTable } from './resources/resource-table.ts';
import type { ServedResource } from './resources/served-resource.ts';
import { answerReview, REVIEWS, type Review } from './reviews/reviews.ts';
import { create } from './verbs/create.ts';
import type { WebhookEndpoint } from './webhooks/webhook-endpoint.ts';
import { Webhooks } from './webhooks/webhooks.ts';

export interface ApiServerOptions extends RuntimePorts {
  readonly storage: Storage;
  /** Asked in order, after client certificates and service account tokens. */
  readonly authenticators?: readonly Authenticator[];
  /** Signs the tokens of service accounts. If absent there are none, and Pods have no account. */
  readonly tokenSigner?: TokenSigner;
  /** A transport to the agent of a node, for logs and streams; if absent there are none. */
  readonly kubelet?: (node: Node) => Transport;
  /**
   * A transport to a webhook, kept for as long as its endpoint is the same. If absent every call
   * fails, and the webhook's failure policy decides.
   */
  readonly webhookTransport?: (endpoint: WebhookEndpoint) => Transport;
  /** Served at `/metrics`; all parts of this cluster count here. */
  readonly metrics?: Metrics;
  /** Metrics of a program beside this cluster, which are shown on the same page. */
  readonly moreMetrics?: MoreMetrics | undefined;
}

export interface ApiServer {
  /** Answers once `start` has resolved. */
  readonly handler: HttpHandler;
  /** Loads the storage and creates the system's namespaces if they are missing. */
  start(): Promise<void>;
  /** Ends all watches and refuses later requests. Storage stays open: it belongs to the caller. */
  close(): Promise<void>;
}

/**
 * The embedded Kubernetes API server: discovery, objects, watches and custom resources over a
 * storage. Every authenticated caller may do everything; there is no authorization.
 */
export function createApiServer(options: ApiServerOptions): ApiServer {
  return new EmbeddedApiServer(options);
}

const METRICS_PATH = '/metrics';
const SYSTEM_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

class EmbeddedApiServer implements ApiServer {
  readonly handler: HttpHandler = (request) => this.#answer(request);
  readonly #options: ApiServerOptions;
  readonly #authenticators: readonly Authenticator[];
  readonly #resources = new ResourceTable();
  readonly #state: ServerState;
  readonly #streams = new OpenStreams();
  readonly #openApi = new OpenApi(() => this.#everything(), VERSION.gitVersion);
  #definitions: CustomResourceController | undefined;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    const { clock, random, logger, tokenSigner } = options;
    const resources = this.#resources;
    const byToken =
      tokenSigner === undefined
        ? []
        : [byServiceAccountToken(createTokenVerifier(tokenSigner, resources, clock))];
    this.#authenticators = [byClientCertificate, ...byToken, ...(options.authenticators ?? [])];
    this.#state = {
      clock,
      random,
      logger,
      resources,
      tokenSigner,
      kubelet: options.kubelet,
      streams: this.#streams,
      webhooks: new Webhooks({
        clock,
        random,
        logger,
        resources,
        transport: options.webhookTransport,
      }),
    };
  }

  async start(): Promise<void> {
    this.#resources.onChange(() => this.#openApi.invalidate());
    const { storage } = this.#options;
    const commits = new CommitSequence(storage.revision());
    this.#resources.add(...(await openBuiltInKinds(storage, commits)));
    this.#definitions = new CustomResourceController(this.#state, storage, commits);
    await this.#definitions.start();
    const of = this.#resources.core(NAMESPACES.plural);
    for (const name of SYSTEM_NAMESPACES) {
      if (of.collection.get(name) !== undefined) continue;
      await create(this.#state, {
        of,
        namespace: undefined,
        object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
        isDryRun: false,
        requester: undefined,
      });
    }
  }

  async close(): Promise<void> {
    this.#streams.close();
  }

  async #answer(request: HttpRequest): Promise<HttpResponse> {
    const warnings: string[] = [];
    try {
      return withWarnings(await this.#handle(request, warnings), warnings);
    } catch (error) {
      return withWarnings(this.#failure(request, error), warnings);
    }
  }

  async #handle(request: HttpRequest, warnings: string[]): Promise<HttpResponse> {
    const [path = '', ...search] = request.path.split('?');
    const query = new URLSearchParams(search.join('?'));
    const segments = pathSegments(path);
    if (segments === undefined) throw badRequest(`the path ${path} cannot be decoded`);
    if (this.#streams.isClosed) throw serviceUnavailable('the server is closing');
    if (request.method === 'GET') {
      const info = publicInfo(path, query);
      if (info !== undefined) return info;
    }
    const user = await this.#authenticate(request);
    const call: ApiRequest = {
      method: request.method,
      path,
      segments,
      query,
      headers: request.headers,
      body: request.body,
      signal: request.signal,
      user,
      warnings,
    };
    return this.#route(call);
  }

  async #route(request: ApiRequest): Promise<HttpResponse> {
    const path = parseResourcePath(request.segments);
    const { metrics } = this.#options;
    if (metrics !== undefined && request.path === METRICS_PATH) {
      return metricsPage(metrics, request, this.#options);
    }
    if (path === undefined) {
      const found = this.#document(request) ?? pathNotFound();
      if (request.method !== 'GET' && found.status === 200) throw methodNotAllowed();
      return found;
    }
    const review = REVIEWS.find((of) => isAt(of, path));
    if (review !== undefined) return answerReview(this.#state, review, request);
    if (!this.#everything().some((of) => of.group === path.group)) return pathNotFound();
    const of = this.#resources.get(path.group, path.version, path.plural);
    if (of === undefined) throw unknownResource();
    const response = await handleResource({ server: this.#state, of, path, request });
    // A client that writes a definition finds its resource served when the answer arrives.
    if (of.kind === 'CustomResourceDefinition' && request.method !== 'GET') {
      await this.#definitions?.settled();
    }
    return response;
  }

  /** Documents about the server and its resources. */
  #document(request: ApiRequest): HttpResponse | undefined {
    const { tokenSigner } = this.#options;
    const everything = this.#everything();
    return (
      (tokenSigner === undefined ? undefined : openId(tokenSigner, request)) ??
      this.#openApi.answer(request) ??
      openApiV2(everything, VERSION.gitVersion, request) ??
      discover(everything, request)
    );
  }

  #everything(): readonly (ServedResource | Review)[] {
    return [...this.#resources.all(), ...REVIEWS];
  }

  async #authenticate(request: HttpRequest): Promise<User> {
    for (const authenticator of this.#authenticators) {
      const user = await authenticator(request);
      if (user !== undefined) return user;
    }
    throw unauthorized();
  }

  #failure(request: HttpRequest, error: unknown): HttpResponse {
    if (error instanceof ApiStatusError) return refusalResponse(error);
    if (error instanceof JsonSyntaxError || error instanceof WireError) {
      return refusalResponse(badRequest(error.message, error));
    }
    this.#options.logger.error('request failed', {
      method: request.method,
      path: request.path,
      err: error,
    });
    const why = error instanceof Error ? error.message : String(error);
    return refusalResponse(internalError(why, error));
  }
}

/** Whether the path leads to a review: its collection, without name or subresource. */
function isAt(of: Review, path: ResourcePath): boolean {
  const isSame = of.group === path.group && of.version === path.version;
  return isSame && of.plural === path.plural && path.name === undefined;
}
