/** The arguments of `lockstep logs JOBSET`. */

import { parseDuration } from '@lockstep/kube/duration.ts';
import { defined } from '@lockstep/kube/json/defined.ts';
import { Arguments, type Parsed } from '../arguments.ts';
import { type JobSetName, jobSetNameErrors } from '../named-jobset.ts';
import type { WantedRank } from './log-members.ts';

export interface LogsOptions extends JobSetName {
  readonly rank?: WantedRank;
  /** The rank of one process. */
  readonly process?: number;
  readonly epoch?: number;
  readonly onlyFailed: boolean;
  readonly isFollowed: boolean;
  readonly sinceSeconds?: number;
  readonly container?: string;
  readonly tailLines?: number;
  readonly withTimestamps: boolean;
  readonly withAgent: boolean;
}

export interface LogsFlags {
  readonly namespace?: string;
  readonly rank?: string;
  readonly process?: string;
  readonly epoch?: string;
  readonly failed?: boolean;
  readonly follow?: boolean;
  readonly since?: string;
  readonly container?: string;
  readonly tail?: string;
  readonly timestamps?: boolean;
  readonly agent?: boolean;
}

export function parseLogs(name: string, flags: LogsFlags): Parsed<LogsOptions> {
  const { namespace, container } = flags;
  const given = new Arguments(jobSetNameErrors({ name, namespace }));
  const count = (flag: 'epoch' | 'process' | 'tail', least: number): number | undefined => {
    const text = flags[flag];
    const numbers = [least, Number.POSITIVE_INFINITY] as const;
    return text === undefined
      ? undefined
      : given.whole(`--${flag}`, text, numbers, `are whole numbers from ${least}`);
  };
  const epoch = count('epoch', 1);
  const tailLines = count('tail', 0);
  const process = count('process', 0);
  if (process !== undefined && flags.rank !== undefined) {
    given.refuse('--process and --rank cannot be used together');
  }
  const [, replicatedJob, rankText] =
    /^(?:([a-z0-9-]{1,63})\/)?(\d{1,9})$/.exec(flags.rank ?? '') ?? [];
  const rank = rankText === undefined ? undefined : { replicatedJob, rank: Number(rankText) };
  if (flags.rank !== undefined && rank === undefined) {
    given.refuse(`--rank is "${flags.rank}", allowed is a number such as 5, or workers/5`);
  }
  const sinceMs = parseDuration(flags.since ?? '') ?? 0;
  if (flags.since !== undefined && sinceMs <= 0) {
    given.refuse(`--since is "${flags.since}", allowed is a duration such as 30s, 5m or 1h`);
  }
  for (const other of ['follow', 'since', 'tail'] as const) {
    if (flags.epoch === undefined || flags[other] === undefined) continue;
    given.refuse(`--epoch and --${other} cannot be used together`);
  }
  return given.parsed({
    name,
    namespace,
    onlyFailed: flags.failed === true,
    isFollowed: flags.follow === true,
    withTimestamps: flags.timestamps === true,
    withAgent: flags.agent === true,
    ...defined({ rank, process, epoch, tailLines, container }),
    // API servers count in whole seconds.
    ...(flags.since === undefined ? {} : { sinceSeconds: Math.ceil(sinceMs / 1000) }),
  });
}
