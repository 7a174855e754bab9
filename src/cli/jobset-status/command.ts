/** `lockstep status JOBSET`: a JobSet and its members, once or live. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { claims } from '../../jobset/membership.ts';
import { type StatusView, statusView } from '../../jobset/view/status-view.ts';
import { Arguments, type Parsed } from '../arguments.ts';
import type { ConnectionFlags } from '../cluster-connection.ts';
import {
  allLabelled,
  findJobSet,
  type JobSetName,
  jobSetNameErrors,
  labelledBy,
  type NamedJobSet,
  unlessInterrupted,
  withJobSet,
} from '../named-jobset.ts';
import { NAMES_DO_NOT_CHANGE, OUTPUT_FORMS, type OutputForm } from '../output-form.ts';
import { PORTS } from '../ports.ts';
import { tell } from '../tell.ts';
import { HubMembers } from './hub-members.ts';
import { followStatus } from './live-status.ts';
import { NodeHealth } from './node-health.ts';
import { PodRefusals } from './pod-refusals.ts';
import { livePrinter, printStatus, STANDARD_OUTPUT } from './status-printer.ts';

export interface JobSetStatusOptions extends JobSetName {
  readonly output: OutputForm;
  readonly isLive: boolean;
}

export interface JobSetStatusFlags {
  readonly namespace?: string | undefined;
  readonly output?: string | undefined;
  readonly watch?: boolean | undefined;
}

export function parseJobSetStatus(
  name: string,
  { namespace, output, watch }: JobSetStatusFlags,
): Parsed<JobSetStatusOptions> {
  const given = new Arguments(jobSetNameErrors({ name, namespace }));
  const form = given.oneOf('--output', output, OUTPUT_FORMS) ?? 'table';
  if (watch === true && form === 'name') given.refuse(NAMES_DO_NOT_CHANGE);
  return given.parsed({ name, namespace, output: form, isLive: watch === true });
}

export async function jobSetStatus(
  { output, isLive, ...named }: JobSetStatusOptions,
  flags: ConnectionFlags,
): Promise<number> {
  const code = await withJobSet(named, flags, async ({ connection, ...found }) => {
    const hub = new HubMembers(connection, PORTS.clock);
    try {
      const nodes = new NodeHealth(found.client, PORTS.clock);
      const refusals = new PodRefusals(found.client, PORTS.clock);
      const run = isLive ? showLive : showOnce;
      await run({ ...found, hub, nodes, refusals, output });
      return 0;
    } finally {
      hub.close();
    }
  });
  return isLive ? unlessInterrupted(code) : code;
}

interface Shown extends Omit<NamedJobSet, 'connection'> {
  readonly hub: HubMembers;
  readonly nodes: NodeHealth;
  readonly refusals: PodRefusals;
  readonly output: OutputForm;
}

async function showOnce(shown: Shown): Promise<void> {
  const { jobSet, output, signal } = shown;
  const view = await viewOf(jobSet, await allLabelled(PODS, shown), shown, signal);
  printStatus(view, output, STANDARD_OUTPUT, PORTS.clock.now());
  if (view.problem !== undefined) tell(view.problem);
}

async function showLive(shown: Shown): Promise<void> {
  const { client, jobSet, at, output, signal } = shown;
  const pods: Informer<Pod> = createInformer({
    client,
    resource: PODS,
    ...labelledBy(jobSet, at),
    ...PORTS,
  });
  try {
    const isGone = await followStatus({
      clock: PORTS.clock,
      signal,
      look: async (within) => {
        await pods.whenSynced(within);
        const now = await findJobSet(client, at, within);
        if (now === undefined || now.metadata.uid !== jobSet.metadata.uid) return undefined;
        return viewOf(now, [...pods.store.values()], shown, within);
      },
      show: livePrinter(output, STANDARD_OUTPUT, () => new Date(PORTS.clock.now())),
    });
    if (isGone) tell(`JobSet ${at.namespace}/${at.name} was deleted`);
  } finally {
    await pods.stop();
  }
}

async function viewOf(
  jobSet: Stored<JobSet>,
  labelled: readonly Stored<Pod>[],
  { hub, nodes, refusals }: Pick<Shown, 'hub' | 'nodes' | 'refusals'>,
  signal: AbortSignal,
): Promise<StatusView> {
  const pods = labelled.filter((pod) => claims(pod, jobSet));
  const names = pods.flatMap(({ spec: { nodeName } }) => nodeName ?? []);
  const [asked, notReady, [refusal]] = await Promise.all([
    hub.ask(jobSet.metadata.uid, pods, signal),
    nodes.notReady(new Set(names), signal),
    refusals.ofJobSet(jobSet, signal),
  ]);
  const reports = 'reports' in asked ? asked.reports : undefined;
  const view = statusView(jobSet, pods, reports, notReady, PORTS.clock.now());
  const problem = 'problem' in asked ? asked.problem : undefined;
  return { ...view, ...defined({ refusal, problem }) };
}
