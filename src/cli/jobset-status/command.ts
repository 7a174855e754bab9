/**
 * `lockstep status JOBSET`: a JobSet and its members. Epochs that were announced over the hub are in the
 * operator's memory alone, so the hub is asked, in the name of one of the members: whoever may make a
 * token for their service account may read of them.
 */
import { homedir } from 'node:os';
import type { MemberReport } from '../../jobset/hub/member-report.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import {
  ENV_HUB_CA,
  ENV_HUB_URL,
  HUB_AUDIENCE,
  HUB_MEMBERS_PATH,
  JOBSET_UID,
} from '../../jobset/names.ts';
import { SERVICE_ACCOUNTS, type TokenRequest } from '../../kube/core.ts';
import type { Stored } from '../../kube/meta.ts';
import { PODS, type Pod } from '../../kube/pod.ts';
import { isReason } from '../../kube/status.ts';
import { createHttpTransport } from '../../runtime/adapters/http-transport.ts';
import { loadKubeconfig } from '../../runtime/adapters/kubeconfig-files.ts';
import { nodeClock } from '../../runtime/adapters/node-clock.ts';
import type { Client } from '../../runtime/client.ts';
import { withDeadline } from '../../runtime/deadline.ts';
import { wholeBody } from '../../runtime/response-body.ts';
import { type ConnectionFlags, connectTo } from '../cluster-connection.ts';
import { memberTable } from './member-table.ts';

const EXIT_FAILURE = 1;
const HUB_TIMEOUT_MS = 3000;
/** Of the list of 30,000 members. */
const MAX_REPORT_BYTES = 16 * 1024 * 1024;

export async function jobSetStatus(
  name: string,
  namespace: string | undefined,
  flags: ConnectionFlags,
): Promise<number> {
  const signal = new AbortController().signal;
  const connection = await connectTo(flags, signal);
  const { client } = connection;
  try {
    const at = { namespace: namespace ?? (await ownNamespace(flags)), name };
    const jobSet = await client.get(JOBSETS, at);
    const { items: pods } = await client.list(PODS, {
      namespace: at.namespace,
      labelSelector: `${JOBSET_UID}=${jobSet.metadata.uid}`,
    });
    const asked = await askHub(client, pods);
    const reports = 'reports' in asked ? asked.reports : undefined;
    process.stdout.write(memberTable(jobSet, pods, reports));
    if ('problem' in asked) {
      process.stderr.write(`lockstep: the hub was not asked: ${asked.problem}\n`);
    }
    return 0;
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
    const where = namespace ?? (await ownNamespace(flags));
    process.stderr.write(`lockstep: there is no JobSet ${where}/${name}\n`);
    return EXIT_FAILURE;
  } finally {
    connection.close();
  }
}

/** As kubectl: that of the kubeconfig's context. */
async function ownNamespace({ kubeconfig: path, context }: ConnectionFlags): Promise<string> {
  const { env } = process;
  const { namespace } = await loadKubeconfig({ path, context, env, homeDirectory: homedir() });
  return namespace;
}

type Asked =
  | { readonly reports: readonly MemberReport[] | undefined }
  | { readonly problem: string };

/** Without reports if no member speaks over a hub. */
async function askHub(client: Client, pods: readonly Stored<Pod>[]): Promise<Asked> {
  const isLive = ({ status }: Pod): boolean =>
    status?.phase !== 'Failed' && status?.phase !== 'Succeeded';
  const member = pods.find((pod) => isLive(pod) && variable(pod, ENV_HUB_URL) !== undefined);
  const server = member === undefined ? undefined : variable(member, ENV_HUB_URL);
  if (member === undefined || server === undefined) return { reports: undefined };
  try {
    const token = await tokenFor(client, member);
    const transport = createHttpTransport({
      server,
      tls: { certificateAuthority: variable(member, ENV_HUB_CA) },
    });
    try {
      return await withDeadline(nodeClock, HUB_TIMEOUT_MS, undefined, async (signal) => {
        const headers = { authorization: `Bearer ${token}` };
        const request = { method: 'GET', path: HUB_MEMBERS_PATH, headers, signal } as const;
        const { status, body } = await transport.send(request);
        const text = Buffer.from(await wholeBody(body, MAX_REPORT_BYTES)).toString();
        if (status !== 200) return { problem: `${server} answered ${status}: ${text}` };
        return { reports: JSON.parse(text) as readonly MemberReport[] };
      });
    } finally {
      transport.close();
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { problem: `${server}: ${why}` };
  }
}

async function tokenFor(client: Client, { metadata, spec }: Stored<Pod>): Promise<string> {
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
  const answer = await client.createSubresource(SERVICE_ACCOUNTS, account, 'token', request);
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
