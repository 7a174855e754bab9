/** `lockstep report JOBSET`: a timeline of each recorded restart, and who caused it. */
import type { ConnectionFlags } from '../cluster-connection.ts';
import { type JobSetName, jobSetNameErrors, withJobSet } from '../named-jobset.ts';
import { reportLines, restartReport } from './restart-report.ts';

export interface ReportOptions extends JobSetName {
  readonly output: 'text' | 'json';
}

export interface ReportFlags {
  readonly namespace?: string | undefined;
  readonly output?: string | undefined;
}

/** Where the output is no terminal. */
const DEFAULT_WIDTH = 100;

/** The options, or one line for each wrong argument: its name, its value and what is allowed. */
export function parseReport(
  name: string,
  { namespace, output }: ReportFlags,
): { readonly options: ReportOptions } | { readonly errors: readonly string[] } {
  const errors = [
    ...jobSetNameErrors({ name, namespace }),
    ...(output === undefined || output === 'json'
      ? []
      : [`--output is "${output}", allowed is json`]),
  ];
  if (errors.length > 0) return { errors };
  return { options: { name, namespace, output: output === 'json' ? 'json' : 'text' } };
}

export async function reportJobSet(
  { output, ...named }: ReportOptions,
  flags: ConnectionFlags,
): Promise<number> {
  return withJobSet(named, flags, async ({ jobSet }) => {
    const report = restartReport(jobSet);
    const width = process.stdout.columns ?? DEFAULT_WIDTH;
    const lines =
      output === 'json' ? [JSON.stringify(report, undefined, 2)] : reportLines(report, width);
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    return 0;
  });
}
