/** The server of a page: sessions, files, and what its content answers, on loopback only. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type HttpServer, startHttpServer } from '@lockstep/kube/runtime/adapters/http-server.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { HttpRequest, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import type { ServerStart } from '../../dashboard/messages/session.ts';
import type { AccessKey } from './http/access-key.ts';
import { answer, jsonAnswer, refusal } from './http/answers.ts';
import { type Judgement, judge, type Permitted } from './http/guard.ts';
import { logIn, renewSession } from './http/log-in.ts';
import { Sessions } from './http/sessions.ts';

export interface SiteOptions {
  readonly accessKey: AccessKey;
  /** The address was used, and this one takes its place. */
  readonly onNewAddress?: (address: string) => void;
  /** 0: any that is free. */
  readonly port: number;
  readonly clock: Clock;
  /** Where the built page is. */
  readonly pageDirectory?: string;
}

/** What a page asks for beyond its files and its session. */
export type Asked = Exclude<Permitted, { readonly kind: 'File' | 'Pass' | 'Start' | 'Renew' }>;

export type SessionRequest = HttpRequest &
  Pick<Extract<Judgement, { kind: 'Permitted' }>, 'session'>;

/** What the pages of a site are about. */
export interface Content {
  /** The page shows this from its first moment. */
  readonly shows: 'cluster' | 'trace';
  answer(asked: Asked, request: SessionRequest): Promise<HttpResponse>;
  /** What is open for other sessions has to end. */
  sessionsEnded?(isLeft: (session: string) => boolean): void;
  close(): Promise<void>;
}

export interface Dashboard {
  /** For the user, with a token that works once: another one takes its place. */
  readonly address: string;
  /** For the arguments of a program: it works once, and soon no more. */
  openedAddress(): string;
  readonly port: number;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
/** A browser has six for one server, and a user some tabs and browsers. */
const MAX_CONNECTIONS = 256;
const MAX_BODY_BYTES = 8 * 1024;
const MAX_HEAD_BYTES = 16 * 1024;
const BODY_TIMEOUT_MS = 5000;

/** `dist/dashboard`, even if this runs from the sources. */
const PAGE = fileURLToPath(
  new URL(
    import.meta.url.includes('/dist/') ? './dashboard/' : '../../../dist/dashboard/',
    import.meta.url,
  ),
);

/** Rejects with the system's error when it cannot listen. */
export async function startSite(options: SiteOptions, content: Content): Promise<Dashboard> {
  const site = new Site(options, content);
  const server = await startHttpServer({
    handler: async (request) => site.answer(request, server.port),
    host: HOST,
    port: options.port,
    bodies: { maxBytes: MAX_BODY_BYTES, timeoutMs: BODY_TIMEOUT_MS },
    maxHeadBytes: MAX_HEAD_BYTES,
    maxConnections: MAX_CONNECTIONS,
  });
  site.sessions.onNewToken = (token) => options.onNewAddress?.(addressOf(server.port, token));
  return dashboardOf(site, server);
}

function dashboardOf(site: Site, server: HttpServer): Dashboard {
  const { port } = server;
  return {
    get address() {
      return addressOf(port, site.sessions.printedToken);
    },
    openedAddress: () => addressOf(port, site.sessions.openedToken()),
    port,
    close: async () => {
      await site.close();
      await server.close();
    },
  };
}

function addressOf(port: number, token: string): string {
  return `http://${HOST}:${port}/?token=${token}`;
}

class Site {
  readonly sessions: Sessions;
  readonly #content: Content;
  readonly #pageDirectory: string;
  #isClosed = false;

  constructor({ accessKey, clock, pageDirectory = PAGE }: SiteOptions, content: Content) {
    this.#content = content;
    this.#pageDirectory = pageDirectory;
    this.sessions = new Sessions({ key: accessKey, clock });
    this.sessions.onEnded = () => content.sessionsEnded?.((cookie) => this.sessions.has(cookie));
  }

  async answer(request: HttpRequest, port: number): Promise<HttpResponse> {
    // A page comes back as soon as its stream ends, and a new stream would outlive the server.
    if (this.#isClosed) return refusal(request, 503, 'lockstep dashboard ends.');
    const hasSession = (cookie: string): boolean => this.sessions.has(cookie);
    const judgement = judge(request, { port, hasSession });
    switch (judgement.kind) {
      case 'Refused': {
        const { status, why, allow } = judgement;
        return refusal(request, status, why, allow === undefined ? {} : { allow });
      }
      case 'LogIn':
        return logIn(this.sessions, judgement, request, { address: HOST, port });
      case 'Permitted':
        return this.#permitted(judgement.request, { ...request, session: judgement.session }, port);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#content.close();
  }

  async #permitted(asked: Permitted, request: SessionRequest, port: number): Promise<HttpResponse> {
    switch (asked.kind) {
      case 'Pass':
        return jsonAnswer(200, this.sessions.newPass(`${HOST}:${port}`));
      case 'Start':
        return jsonAnswer(200, { start: this.sessions.start } satisfies ServerStart);
      case 'Renew':
        return renewSession(this.sessions, request, `${HOST}:${port}`, port);
      case 'File':
        return this.#file(asked.name, asked.contentType, request);
      case 'Action':
      case 'Cluster':
      case 'Log':
      case 'Overview':
      case 'Run':
      case 'Trace':
      case 'TraceState':
        return this.#content.answer(asked, request);
    }
  }

  async #file(name: string, contentType: string, request: HttpRequest): Promise<HttpResponse> {
    try {
      const content = await readFile(join(this.#pageDirectory, name));
      return answer(200, contentType, name === 'index.html' ? this.#told(content) : content);
    } catch {
      return refusal(
        request,
        404,
        `The file ${name} of the page is missing: install this package again.`,
      );
    }
  }

  /** A page that has to ask first would begin with the wrong view. */
  #told(page: Buffer): Buffer {
    const { shows } = this.#content;
    return Buffer.from(page.toString('utf8').replace(SHOWS_CLUSTER, `data-shows="${shows}"`));
  }
}

/** As the built page has it. */
const SHOWS_CLUSTER = 'data-shows="cluster"';
