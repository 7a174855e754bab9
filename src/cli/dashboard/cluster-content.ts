/** What a page hears of a cluster: streams of all JobSets and of one, logs, and answers to actions. */
import { dns1123LabelErrors, dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import type { ClientConnection } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import type { HttpRequest, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import type { ActionAnswer } from '../../dashboard/messages/action.ts';
import type { OverviewMessage } from '../../dashboard/messages/overview.ts';
import type { ClusterView } from '../../dashboard/messages/paths.ts';
import type { RunMessage } from '../../dashboard/messages/run.ts';
import { isLocalRank } from '../../jobset/reported-number.ts';
import { HubGroups } from '../jobset-list/hub-groups.ts';
import { HubMembers } from '../jobset-status/hub-members.ts';
import { NodeHealth } from '../jobset-status/node-health.ts';
import { parseActionRequest } from './action/action-request.ts';
import { perform } from './action/perform.ts';
import { answer, jsonAnswer, refusal } from './http/answers.ts';
import { streamLog } from './log/log-stream.ts';
import { OverviewSource, type Scope } from './overview/overview-source.ts';
import { RightsCheck } from './run/rights.ts';
import { RunSource } from './run/run-source.ts';
import {
  type Asked,
  type Content,
  type Dashboard,
  type SessionRequest,
  type SiteOptions,
  startSite,
} from './server.ts';
import { ClusterHealth } from './streams/cluster-health.ts';
import { EventStream } from './streams/event-stream.ts';
import { Feed } from './streams/feed.ts';
import type { Surroundings } from './streams/followed.ts';

export interface DashboardOptions extends SiteOptions {
  readonly connection: ClientConnection;
  readonly cluster: ClusterView;
  /** Flags of kubectl and of our own command that lead to it. */
  readonly clusterFlags: readonly string[];
  readonly scope: Scope;
  readonly random: Random;
}

const MAX_STREAMS = 64;
const MAX_STREAMS_OF_SESSION = 16;
/** Each follows a log of the cluster. */
const MAX_LOG_STREAMS = 16;
/** JobSets that are followed at a time, with all their Pods. */
const MAX_RUNS = 16;

/** Rejects with the system's error when it cannot listen. */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  return startSite(options, new ClusterContent(options));
}

class ClusterContent implements Content {
  readonly shows = 'cluster';
  readonly #options: DashboardOptions;
  readonly #surroundings: Surroundings;
  /** With the cookie of its session. */
  readonly #streams = new Map<EventStream, string>();
  #overview: Feed<OverviewMessage> | undefined;
  /** By namespace and name. */
  readonly #runs = new Map<string, Feed<RunMessage>>();
  readonly #rights = new Map<string, RightsCheck>();
  #logStreams = 0;

  constructor(options: DashboardOptions) {
    const { connection, clock, random } = options;
    this.#options = options;
    const health = new ClusterHealth(connection.transport, clock);
    this.#surroundings = { client: connection.client, clock, random, health };
  }

  async answer({ kind, query }: Asked, request: SessionRequest): Promise<HttpResponse> {
    switch (kind) {
      case 'Cluster':
        return jsonAnswer(200, this.#options.cluster);
      case 'Overview':
        return this.#follow(this.#overviewFeed(), request);
      case 'Run':
        return this.#run(query, request);
      case 'Log':
        return this.#log(query, request);
      case 'Action':
        return this.#act(request);
      case 'Trace':
      case 'TraceState':
        return refusal(request, 404, 'This dashboard shows a cluster and no trace.');
    }
  }

  sessionsEnded(isLeft: (session: string) => boolean): void {
    for (const [stream, session] of this.#streams) if (!isLeft(session)) stream.cut();
  }

  async close(): Promise<void> {
    for (const stream of this.#streams.keys()) stream.end();
    const feeds = [this.#overview, ...this.#runs.values()];
    await Promise.all(feeds.map(async (feed) => feed?.close()));
  }

  #overviewFeed(): Feed<OverviewMessage> {
    this.#overview ??= new Feed<OverviewMessage>({
      clock: this.#options.clock,
      open: (publisher) => {
        const { scope, connection, clock } = this.#options;
        const hub = new HubGroups(connection, clock);
        return new OverviewSource({ ...this.#surroundings, scope, hub }, publisher);
      },
      onClosed: () => {
        this.#overview = undefined;
      },
    });
    return this.#overview;
  }

  async #run(query: URLSearchParams, request: SessionRequest): Promise<HttpResponse> {
    const at = jobSetIn(query);
    if (typeof at === 'string') return refusal(request, 400, at);
    const key = `${at.namespace}/${at.name}`;
    const known = this.#runs.get(key);
    if (known !== undefined) return this.#follow(known, request);
    if (this.#runs.size >= MAX_RUNS && !this.#closeUnwatchedRun()) {
      return refusal(request, 429, `Pages of ${MAX_RUNS} JobSets are open: close one.`);
    }
    return this.#follow(this.#openRun(key, at), request);
  }

  #openRun(key: string, at: Named): Feed<RunMessage> {
    const { connection, clock, clusterFlags } = this.#options;
    const rights = new RightsCheck(connection.client, clock, at);
    const feed: Feed<RunMessage> = new Feed<RunMessage>({
      clock,
      open: (publisher) =>
        new RunSource(
          {
            ...this.#surroundings,
            at,
            rights,
            clusterFlags,
            hub: new HubMembers(connection, clock),
            nodes: new NodeHealth(connection.client, clock),
          },
          publisher,
        ),
      onClosed: () => {
        if (this.#runs.get(key) === feed) this.#runs.delete(key);
        this.#rights.delete(key);
      },
    });
    this.#runs.set(key, feed);
    this.#rights.set(key, rights);
    return feed;
  }

  #closeUnwatchedRun(): boolean {
    const feed = [...this.#runs.values()].find(({ isWatched }) => !isWatched);
    void feed?.close();
    return feed !== undefined;
  }

  #follow<Message>(feed: Feed<Message>, request: SessionRequest): HttpResponse {
    const stream = this.#open(request, (ended) => feed.leave(ended));
    if (stream === undefined) return refusal(request, 429, TOO_MANY_STREAMS);
    feed.join(stream);
    return streamAnswer(stream);
  }

  #log(query: URLSearchParams, request: SessionRequest): HttpResponse {
    const at = jobSetIn(query);
    const pod = query.get('pod') ?? '';
    if (typeof at === 'string') return refusal(request, 400, at);
    if (dns1123SubdomainErrors(pod).length > 0)
      return refusal(request, 400, 'pod is no name of a Pod');
    const process = query.has('process') ? Number(query.get('process')) : undefined;
    if (process !== undefined && !isLocalRank(process))
      return refusal(request, 400, 'process is no number from 0 to 63');
    if (this.#logStreams >= MAX_LOG_STREAMS) return refusal(request, 429, TOO_MANY_STREAMS);
    const stopping = new AbortController();
    const stream = this.#open(request, () => {
      this.#logStreams--;
      stopping.abort(new Error('the page shows it no more'));
    });
    if (stream === undefined) return refusal(request, 429, TOO_MANY_STREAMS);
    this.#logStreams++;
    void streamLog(this.#surroundings, { ...at, pod, process }, stream, stopping.signal);
    return streamAnswer(stream);
  }

  #open(
    { session = '', signal }: SessionRequest,
    onEnd: (stream: EventStream) => void,
  ): EventStream | undefined {
    const ofSession = [...this.#streams.values()].filter((each) => each === session).length;
    if (this.#streams.size >= MAX_STREAMS || ofSession >= MAX_STREAMS_OF_SESSION) return undefined;
    const stream: EventStream = new EventStream(() => {
      this.#streams.delete(stream);
      onEnd(stream);
    });
    this.#streams.set(stream, session);
    signal.addEventListener('abort', () => stream.end(), { once: true });
    return stream;
  }

  async #act({ body, signal }: HttpRequest): Promise<HttpResponse> {
    const parsed = parseActionRequest(Buffer.from(body ?? []).toString('utf8'));
    if ('problem' in parsed) return jsonAnswer(400, parsed satisfies ActionAnswer);
    const { request } = parsed;
    const done = await perform(this.#options.connection.client, request, signal);
    if (done.problem !== null) this.#rights.get(`${request.namespace}/${request.name}`)?.forget();
    return jsonAnswer(200, done);
  }
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

const TOO_MANY_STREAMS = 'Too many pages are open: close some.';

/** A text says what is wrong. */
function jobSetIn(query: URLSearchParams): Named | string {
  const namespace = query.get('namespace') ?? '';
  const name = query.get('name') ?? '';
  if (dns1123LabelErrors(namespace).length > 0) return 'namespace is no name of a namespace';
  return dns1123SubdomainErrors(name).length > 0
    ? 'name is no name of a JobSet'
    : { namespace, name };
}

function streamAnswer(stream: EventStream): HttpResponse {
  return answer(200, 'text/event-stream; charset=utf-8', stream);
}
