/** `lockstep report JOBSET`: where its time went, and each recorded restart with who caused it. */

import { PODS } from '@lockstep/kube/objects/pod.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import { claims } from '../../jobset/membership.ts';
import { type GroupProgress, groupProgress } from '../../jobset/progress/group-progress.ts';
import { Arguments, type Parsed } from '../arguments.ts';
import type { ConnectionFlags } from '../cluster-connection.ts';
import { HubMembers } from '../jobset-status/hub-members.ts';
import {
  allLabelled,
  type JobSetName,
  jobSetNameErrors,
  type NamedJobSet,
  withJobSet,
} from '../named-jobset.ts';
import { documentOf } from '../output-form.ts';
import { wrapped } from '../printed-text.ts';
import { reportLines, restartReport } from './restart-report.ts';

export interface ReportOptions extends JobSetName {
  readonly output: 'table' | 'json' | 'yaml';
}

export interface ReportFlags {
  readonly namespace?: string | undefined;
  readonly output?: string | undefined;
}

/** Where the output is no terminal. */
const DEFAULT_WIDTH = 100;

export function parseReport(
  name: string,
  { namespace, output }: ReportFlags,
): Parsed<ReportOptions> {
  const given = new Arguments(jobSetNameErrors({ name, namespace }));
  const form = given.oneOf('--output', output, ['json', 'yaml']) ?? 'table';
  return given.parsed({ name, namespace, output: form });
}

export async function reportJobSet(
  { output, ...named }: ReportOptions,
  flags: ConnectionFlags,
): Promise<number> {
  return withJobSet(named, flags, async (found) => {
    const reported = await liveProgress(found);
    const report = restartReport(found.jobSet, nodeClock.now(), reported);
    const { isTTY } = process.stdout;
    const columns = isTTY ? process.stdout.columns : DEFAULT_WIDTH;
    const lines = (): readonly string[] =>
      reportLines(report, columns)
        .flatMap((line) => (isTTY ? wrapped(line, columns) : [line]))
        .map((line) => `${line}\n`);
    process.stdout.write(output === 'table' ? lines().join('') : documentOf(report, output));
    return 0;
  });
}

/**
 * What members of a running epoch tell of themselves, as far as they can be asked: it says what
 * became of the time since the last status write. Everything else stands in the status.
 */
async function liveProgress(named: NamedJobSet): Promise<GroupProgress | undefined> {
  const { connection, jobSet, signal } = named;
  if (jobSet.status?.goodput?.phase !== 'Running') return undefined;
  const hub = new HubMembers(connection, nodeClock);
  try {
    const members = (await allLabelled(PODS, named)).filter((pod) => claims(pod, jobSet));
    const asked = await hub.ask(jobSet.metadata.uid, members, signal);
    const reports = 'reports' in asked ? asked.reports : undefined;
    return reports && groupProgress(reports.flatMap(({ progress }) => progress ?? []));
  } catch (error) {
    // Whether Pods may be listed does not matter here.
    if (error instanceof ApiStatusError) return undefined;
    throw error;
  } finally {
    hub.close();
  }
}
