/**
 * The server's side of HTTP exchanges: turns what arrives into an HttpRequest, within limits, and
 * aborts its signal if the peer goes before the answer is complete.
 */
import type http from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type ApiStatusError, failure } from '../../status.ts';
import { carryBytes } from '../byte-channel.ts';
import { refusalResponse } from '../client/refusal-response.ts';
import type { Logger } from '../ports/logger.ts';
import type { HttpHandler, HttpRequest, HttpResponse, Peer } from '../ports/transport.ts';
import type { HttpConnections } from './http-connections.ts';
import { plainHeaders } from './http-headers.ts';
import { isComplete, sendResponse } from './http-response.ts';
import { refuseUpgrade, upgradeHead } from './http-upgrade.ts';
import { type BodyLimits, receiveBody } from './request-body.ts';
import { socketChannel } from './socket-channel.ts';

interface ExchangesOptions {
  readonly handler: HttpHandler;
  readonly bodies: BodyLimits;
  readonly connections: HttpConnections;
  readonly logger: Logger;
}

/** The exchanges that are under way. */
export class Exchanges {
  readonly #handler: HttpHandler;
  readonly #bodies: BodyLimits;
  readonly #connections: HttpConnections;
  readonly #logger: Logger;
  readonly #open = new Set<AbortController>();
  readonly #peers = new WeakMap<Socket, Peer>();
  #isEnding = false;

  constructor(options: ExchangesOptions) {
    this.#handler = options.handler;
    this.#bodies = options.bodies;
    this.#connections = options.connections;
    this.#logger = options.logger;
  }

  /** Aborts the signals of all requests, and lets connections end with their answers. */
  end(): void {
    this.#isEnding = true;
    for (const controller of this.#open) controller.abort(new Error('the server is closing'));
  }

  async serve(incoming: http.IncomingMessage, outgoing: http.ServerResponse): Promise<void> {
    const controller = new AbortController();
    this.#open.add(controller);
    outgoing.once('close', () => {
      this.#open.delete(controller);
      if (!isComplete(outgoing)) controller.abort(new Error('the client closed the connection'));
      else if (this.#isEnding) incoming.socket.destroySoon();
    });
    // A reset connection also emits `close`, which is handled.
    incoming.on('error', () => undefined);
    outgoing.on('error', () => undefined);
    try {
      const request = await this.#requestOf(incoming, outgoing, controller.signal);
      if (request === undefined) return;
      outgoing.once('close', this.#connections.answering(incoming.socket));
      const response = await this.#answerTo(request);
      await sendResponse(outgoing, response, {
        isHead: incoming.method === 'HEAD',
        closeConnection: this.#isEnding || !incoming.complete,
      });
    } catch (error) {
      // The body failed after its head was sent: only a broken connection can tell the client.
      this.#logger.warn('a response broke off', { path: incoming.url, err: error });
      outgoing.destroy();
    }
  }

  /**
   * A request to leave HTTP. The handler either agrees (101 with a channel), or answers as usual
   * and the connection ends. `head`: bytes that came after the request.
   */
  async upgrade(incoming: http.IncomingMessage, socket: Socket, head: Uint8Array): Promise<void> {
    const controller = new AbortController();
    this.#open.add(controller);
    socket.once('close', () => {
      this.#open.delete(controller);
      controller.abort(new Error('the client closed the connection'));
    });
    socket.once('close', this.#connections.answering(socket));
    const channel = socketChannel(socket, head);
    try {
      const request = this.#headOf(incoming, controller.signal);
      const response = await this.#answerTo(request);
      if (response.channel === undefined) {
        await refuseUpgrade(incoming, socket, response);
        return;
      }
      controller.signal.addEventListener('abort', () => response.channel?.destroy());
      socket.write(upgradeHead(response));
      // No protocol here closes one direction only, so the end of one is the end of both.
      await Promise.race([
        carryBytes(channel, response.channel),
        carryBytes(response.channel, channel),
      ]);
    } catch (error) {
      this.#logger.warn('a connection that left HTTP broke off', {
        path: incoming.url,
        err: error,
      });
    } finally {
      socket.destroySoon();
    }
  }

  async #answerTo(request: HttpRequest | ApiStatusError): Promise<HttpResponse> {
    if (request instanceof Error) return refusalResponse(request);
    try {
      return await this.#handler(request);
    } catch (error) {
      this.#logger.error('a handler failed', { path: request.path, err: error });
      return refusalResponse(
        failure('InternalError', 'Internal error occurred: the handler failed'),
      );
    }
  }

  /**
   * The request with its whole body, the reason why it is refused, or undefined if the peer has
   * gone.
   */
  async #requestOf(
    incoming: http.IncomingMessage,
    outgoing: http.ServerResponse,
    signal: AbortSignal,
  ): Promise<HttpRequest | ApiStatusError | undefined> {
    const head = this.#headOf(incoming, signal);
    if (head instanceof Error) return head;
    const body = await receiveBody(incoming, this.#bodies);
    switch (body.kind) {
      case 'Gone':
        return undefined;
      case 'Refused':
        return body.error;
      case 'Body':
        outgoing.once('close', body.release);
        if (outgoing.closed) body.release();
        return body.bytes.byteLength === 0 ? head : { ...head, body: body.bytes };
    }
  }

  /** The request without its body, or the reason why it is refused. */
  #headOf(incoming: http.IncomingMessage, signal: AbortSignal): HttpRequest | ApiStatusError {
    const method = METHODS.find((known) => known === incoming.method);
    if (method === undefined) {
      return failure('MethodNotAllowed', `the server does not know the method ${incoming.method}`);
    }
    const path = pathOf(incoming.url ?? '');
    if (path === undefined) {
      return failure(
        'BadRequest',
        `the request target ${incoming.url} is neither a path nor a URL`,
      );
    }
    return {
      method,
      path,
      headers: plainHeaders(incoming.headers),
      signal,
      peer: this.#peerOf(incoming.socket),
    };
  }

  /**
   * Kept per connection, because reading a certificate takes longer than answering many requests.
   */
  #peerOf(socket: Socket): Peer {
    const known = this.#peers.get(socket);
    if (known !== undefined) return known;
    const { remoteAddress: address = '', remotePort: port } = socket;
    const peer = { address, port, ...certificateOf(socket) };
    this.#peers.set(socket, peer);
    return peer;
  }
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

/** Path and query of either form of a request target (RFC 9112, 3.2). */
function pathOf(target: string): string | undefined {
  if (target.startsWith('/')) return target;
  if (!URL.canParse(target)) return undefined;
  const url = new URL(target);
  return url.pathname + url.search;
}

function certificateOf(socket: Socket): Pick<Peer, 'certificate'> {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return {};
  const { subject } = socket.getPeerCertificate();
  // Node returns a list if a name part occurs more than once, although its types deny it.
  const { CN, O } = (subject ?? {}) as Readonly<Record<string, string | string[] | undefined>>;
  const commonName = [CN ?? []].flat().at(-1);
  if (commonName === undefined) return {};
  return { certificate: { commonName, organizations: [O ?? []].flat() } };
}
