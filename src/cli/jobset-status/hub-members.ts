import type { MemberReport } from '../../jobset/hub/member-report.ts';
import { ENV_HUB_CA, ENV_HUB_URL, HUB_AUDIENCE, HUB_MEMBERS_PATH } from '../../jobset/names.ts';
import { SERVICE_ACCOUNTS, type TokenRequest } from '../../kube/core.ts';
import type { Stored } from '../../kube/meta.ts';
import type { Pod } from '../../kube/pod.ts';
import { createHttpTransport, type HttpTransport } from '../../runtime/adapters/http-transport.ts';
import type { Client } from '../../runtime/client.ts';
import { withDeadline } from '../../runtime/deadline.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import { wholeBody } from '../../runtime/response-body.ts';

/**
 * Epochs that were announced over the hub are in the operator's memory alone, so the hub is asked, in
 * the name of one of the members: whoever may make a token for their service account may read of them.
 */
export class HubMembers {
  readonly #client: Client;
  readonly #clock: Clock;
  #contact: Contact | undefined;

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Never rejects, except with the signal's reason. */
  async ask(pods: readonly Stored<Pod>[], signal: AbortSignal): Promise<Asked> {
    const member = this.#speaker(pods);
    const server = member === undefined ? undefined : variable(member, ENV_HUB_URL);
    if (member === undefined || server === undefined) return { reports: undefined };
    // A token that served for long may have expired: then once more with a new one.
    const hasServed = this.#contact !== undefined;
    try {
      return await withDeadline(this.#clock, HUB_TIMEOUT_MS, signal, async (within) => {
        const asked = await this.#read(member, server, within);
        return 'problem' in asked && hasServed ? this.#read(member, server, within) : asked;
      });
    } catch (error) {
      signal.throwIfAborted();
      this.close();
      const why = error instanceof Error ? error.message : String(error);
      return { problem: `the hub was not asked: ${server}: ${why}` };
    }
  }

  close(): void {
    this.#contact?.transport.close();
    this.#contact = undefined;
  }

  /** The one who has spoken before, as long as it lives. */
  #speaker(pods: readonly Stored<Pod>[]): Stored<Pod> | undefined {
    const candidates = pods.filter(
      (pod) => isLive(pod) && variable(pod, ENV_HUB_URL) !== undefined,
    );
    const uid = this.#contact?.podUid;
    return candidates.find(({ metadata }) => metadata.uid === uid) ?? candidates[0];
  }

  async #read(member: Stored<Pod>, server: string, signal: AbortSignal): Promise<Asked> {
    const { transport, token } = await this.#contactOf(member, server, signal);
    const headers = { authorization: `Bearer ${token}` };
    const request = { method: 'GET', path: HUB_MEMBERS_PATH, headers, signal } as const;
    const { status, body } = await transport.send(request);
    const text = Buffer.from(await wholeBody(body, MAX_REPORT_BYTES)).toString();
    if (status === 200) return { reports: JSON.parse(text) as readonly MemberReport[] };
    this.close();
    return { problem: `the hub was not asked: ${server} answered ${status}: ${text}` };
  }

  async #contactOf(member: Stored<Pod>, server: string, signal: AbortSignal): Promise<Contact> {
    const { uid: podUid } = member.metadata;
    if (this.#contact?.podUid === podUid) return this.#contact;
    this.close();
    const token = await tokenFor(this.#client, member, signal);
    const tls = { certificateAuthority: variable(member, ENV_HUB_CA) };
    this.#contact = { podUid, token, transport: createHttpTransport({ server, tls }) };
    return this.#contact;
  }
}

export type Asked =
  /** Without reports if no member speaks over a hub. */
  | { readonly reports: readonly MemberReport[] | undefined }
  /** In a sentence. */
  | { readonly problem: string };

interface Contact {
  readonly podUid: string;
  readonly token: string;
  readonly transport: HttpTransport;
}

const HUB_TIMEOUT_MS = 3000;
/** Of the list of 30,000 members. */
const MAX_REPORT_BYTES = 16 * 1024 * 1024;

function isLive({ status }: Pod): boolean {
  return status?.phase !== 'Failed' && status?.phase !== 'Succeeded';
}

async function tokenFor(
  client: Client,
  { metadata, spec }: Stored<Pod>,
  signal: AbortSignal,
): Promise<string> {
  const { name, uid, namespace = '' } = metadata;
  const request: TokenRequest = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {},
    spec: {
      audiences: [HUB_AUDIENCE],
      boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
    },
  };
  const account = { namespace, name: spec.serviceAccountName ?? 'default' };
  const answer = await client.createSubresource(SERVICE_ACCOUNTS, account, 'token', request, {
    signal,
  });
  return answer.status?.token ?? '';
}

function variable({ spec }: Pod, name: string): string | undefined {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  for (const { env = [] } of containers) {
    const found = env.find((one) => one.name === name)?.value;
    if (found !== undefined) return found;
  }
  return undefined;
}
