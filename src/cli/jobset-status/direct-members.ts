/** Asks the hub for a page, from the user's machine. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod, PodSpec } from '@lockstep/kube/objects/pod.ts';
import {
  createHttpTransport,
  type HttpTransport,
} from '@lockstep/kube/runtime/adapters/http-transport.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { wholeBody } from '@lockstep/kube/runtime/client/response-body.ts';
import { ENV_HUB_CA, ENV_HUB_URL, HUB_AUDIENCE } from '../../jobset/names.ts';
import { accountToken } from '../account-token.ts';

/** A page of the hub, which agents serve as well. */
export interface HubPage<Report> {
  readonly hubPath: string;
  /** Before the UID of the agent's JobSet. */
  readonly agentPath: string;
  /** What it lists. */
  readonly what: string;
  /** Undefined for an invalid text. */
  readonly parse: (text: string) => readonly Report[] | undefined;
}

/**
 * It uses a token of one of the members. A user who may create tokens for their service account may
 * read their page. It needs a route to the hub's address in the cluster network.
 */
export class DirectMembers<Report> {
  readonly #client: Client;
  readonly #page: HubPage<Report>;
  #contact: Contact | undefined;

  constructor(client: Client, page: HubPage<Report>) {
    this.#client = client;
    this.#page = page;
  }

  /** Rejects with the reason why the hub was not asked. */
  async ask(pods: readonly Stored<Pod>[], signal: AbortSignal): Promise<readonly Report[]> {
    const member = this.#speaker(pods);
    // A long-used token may have expired: try once more with a new one.
    const hasServed = this.#contact !== undefined;
    const { status, text } = await this.#read(member, signal);
    if (status === 200) return reportsIn(text, this.#page);
    if (status === TOO_MANY_REQUESTS) throw new BusyHubError(text);
    this.close();
    if (hasServed) return this.ask(pods, signal);
    throw new Error(`it answered ${status}: ${text}`);
  }

  close(): void {
    this.#contact?.transport.close();
    this.#contact = undefined;
  }

  /** The member that was used before, as long as it lives. */
  #speaker(pods: readonly Stored<Pod>[]): Stored<Pod> {
    const uid = this.#contact?.podUid;
    const member = pods.find(({ metadata }) => metadata.uid === uid) ?? pods[0];
    if (member === undefined) throw new Error('no member lives');
    return member;
  }

  async #read(
    member: Stored<Pod>,
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { transport, token } = await this.#contactOf(member, signal);
    const headers = { authorization: `Bearer ${token}` };
    const request = { method: 'GET', path: this.#page.hubPath, headers, signal } as const;
    const { status, body } = await transport.send(request);
    return { status, text: Buffer.from(await wholeBody(body, MAX_REPORT_BYTES)).toString() };
  }

  async #contactOf(member: Stored<Pod>, signal: AbortSignal): Promise<Contact> {
    const { uid: podUid } = member.metadata;
    const server = hubUrlOf(member) ?? '';
    if (this.#contact?.podUid === podUid) return this.#contact;
    this.close();
    const token = await tokenFor(this.#client, member, signal);
    const tls = { certificateAuthority: variableOf(member.spec, ENV_HUB_CA) };
    this.#contact = { podUid, token, transport: createHttpTransport({ server, tls }) };
    return this.#contact;
  }
}

/** The hub gives no more pages to this namespace now, so to ask through another way is useless. */
export class BusyHubError extends Error {
  override readonly name = 'BusyHubError';

  /** With the hub's reason, which the agent may have passed on. */
  constructor(reason: string) {
    super(`it answered ${TOO_MANY_REQUESTS}: ${reason.trim()}; try again in some seconds`);
  }
}

export const TOO_MANY_REQUESTS = 429;

interface Contact {
  readonly podUid: string;
  readonly token: string;
  readonly transport: HttpTransport;
}

/** Throws if the text is not such a list. */
export function reportsIn<Report>(
  text: string,
  { parse, what }: HubPage<Report>,
): readonly Report[] {
  const reports = parse(text);
  if (reports === undefined) throw new Error(`the answer is not a list of ${what}`);
  return reports;
}

/** A list of 30,000 members fits. */
export const MAX_REPORT_BYTES = 16 * 1024 * 1024;

function tokenFor(
  client: Client,
  { metadata, spec }: Stored<Pod>,
  signal: AbortSignal,
): Promise<string> {
  const { name, uid, namespace = '' } = metadata;
  const account = { namespace, name: spec.serviceAccountName ?? 'default' };
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name, uid };
  return accountToken(client, account, { audiences: [HUB_AUDIENCE], boundObjectRef }, signal);
}

/** Undefined for a Pod whose agent has no hub. */
export function hubUrlOf(pod: Pod): string | undefined {
  return variableOf(pod.spec, ENV_HUB_URL);
}

/** The value of the first variable of this name in a Pod's containers. */
export function variableOf(
  { initContainers = [], containers }: PodSpec,
  name: string,
): string | undefined {
  const all = [...initContainers, ...containers].flatMap(({ env = [] }) => env);
  return all.find((one) => one.name === name && one.value !== undefined)?.value;
}
