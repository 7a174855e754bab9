/** Asks a member's agent for a page of the hub. */
import {
  forwardedExchange,
  PORT_FORWARD_HEADERS,
} from '@lockstep/embedded-kubernetes/port-forward';
import { parsedObject } from '@lockstep/kube/json/parsed-json.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { resourcePath } from '@lockstep/kube/resource.ts';
import type { ClientConnection } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { wholeBody } from '@lockstep/kube/runtime/client/response-body.ts';
import type { ByteChannel, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { MEMBER_PAGE_PORT } from '../../jobset/names.ts';
import {
  BusyHubError,
  type HubPage,
  MAX_REPORT_BYTES,
  reportsIn,
  TOO_MANY_REQUESTS,
} from './direct-members.ts';

/**
 * The API server forwards a port to the agent's Pod, so a user who may forward ports in the
 * namespace can see its groups from anywhere.
 */
export type ForwardedMembersOptions = Pick<ClientConnection, 'transport' | 'credentials'>;

/** The user lacks a right, so asking another Pod would be useless. */
export class MissingRightError extends Error {
  override readonly name = 'MissingRightError';
}

/** Rejects with the reason why the agent was not asked. */
export async function forwardedMembers<Report>(
  options: ForwardedMembersOptions,
  page: HubPage<Report>,
  pod: Stored<Pod>,
  jobSetUid: string,
  signal: AbortSignal,
): Promise<readonly Report[]> {
  const channel = await openPort(options, pod, signal);
  try {
    const lines = [
      `GET ${page.agentPath}/${jobSetUid} HTTP/1.1`,
      'Host: agent',
      'Connection: close',
    ];
    const request = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
    const answer = await forwardedExchange(channel, MEMBER_PAGE_PORT, request, MAX_REPORT_BYTES);
    const { status, body } = answerIn(Buffer.from(answer));
    if (status === TOO_MANY_REQUESTS) throw new BusyHubError(body);
    if (status !== 200) throw new Error(`its agent answered ${status}: ${body.trim()}`);
    return reportsIn(body, page);
  } finally {
    channel.destroy();
  }
}

async function openPort(
  { transport, credentials }: ForwardedMembersOptions,
  { metadata }: Stored<Pod>,
  signal: AbortSignal,
): Promise<ByteChannel> {
  const { namespace = '', name } = metadata;
  const { token, clientCertificate } = (await credentials?.current(signal)) ?? {};
  const response = await transport.send({
    method: 'POST',
    path: `${resourcePath(PODS, { namespace, name })}/portforward`,
    headers: {
      ...PORT_FORWARD_HEADERS,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    clientCertificate,
    signal,
  });
  if (response.channel !== undefined) return response.channel;
  const why = await messageOf(response);
  if (response.status === 403) {
    throw new MissingRightError(
      `you lack the right to create pods/portforward in namespace ${namespace}`,
    );
  }
  throw new Error(`the API server forwards no port of it: ${why}`);
}

const MAX_MESSAGE_BYTES = 64 * 1024;
const MAX_SHOWN_LENGTH = 300;

async function messageOf({ status, body }: HttpResponse): Promise<string> {
  const text = (await wholeBody(body, MAX_MESSAGE_BYTES)).toString();
  // A proxy in between may answer with anything.
  const message = parsedObject(text)?.['message'];
  if (typeof message === 'string') return message.slice(0, MAX_SHOWN_LENGTH);
  return `${status} ${text.slice(0, MAX_SHOWN_LENGTH)}`;
}

/** The answer of our own server, which states the length and closes after it. */
function answerIn(answer: Buffer): { readonly status: number; readonly body: string } {
  const end = answer.indexOf('\r\n\r\n');
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer.toString('latin1', 0, Math.max(end, 0)))?.[1];
  if (status === undefined) throw new Error('its agent gave no answer');
  return { status: Number(status), body: answer.toString('utf8', end + 4) };
}
