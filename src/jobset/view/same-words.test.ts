/** The list asks the hub for groups, the page of a run for members: both show the same words. */

import type { Stored } from '@lockstep/kube/meta.ts';
import { expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import { CREATED } from '../../../test/fixtures/jobset-objects.ts';
import type { MemberReport } from '../hub/member-report.ts';
import type { JobSet } from '../jobset.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import { FIRST_PROGRESS_TIMEOUT, PROGRESS_TIMEOUT } from '../names.ts';
import { epochsOf } from '../status/epochs.ts';
import { groupReport, parseGroupReports } from './group-report.ts';
import { overviewRow } from './overview.ts';
import { stateWords } from './shown-state.ts';
import { silenceHeard } from './silence.ts';
import { statusView } from './status-view.ts';

const RELEASED_MS = Date.parse(CREATED) + 3_600_000;
const RELEASED = { syncedEpoch: 3, syncedTime: new Date(RELEASED_MS).toISOString() } as const;
const NOW_MS = RELEASED_MS + 60_000;
const LOST = {
  epoch: 2,
  time: new Date(RELEASED_MS - 60_000).toISOString(),
  cause: 'WorkerFailed',
  counted: true,
} as const;
const WORKED = { time: LOST.time, phase: 'Running', productiveMs: 9000, lostMs: 1000 } as const;
const TIMEOUTS = { [FIRST_PROGRESS_TIMEOUT]: '150s', [PROGRESS_TIMEOUT]: '20s' };

function reportOf(silentMs: number | undefined): MemberReport {
  const progress = silentMs === undefined ? {} : { progress: { step: 5, silentMs } };
  return { pod: 'p', epoch: 3, channel: 'Hub', ...progress };
}

it.each<[string, JobSetStatus, readonly MemberReport[]]>([
  ['Running', RELEASED, [reportOf(1000)]],
  ['Running, no step for 60s of 2m30s since the release', RELEASED, [reportOf(undefined)]],
  ['Running, silent 8s of 20s', RELEASED, [reportOf(8000)]],
  ['Hung? silent 15s of 20s', RELEASED, [reportOf(15_000)]],
  ['At barrier 0 of 1', { ...RELEASED, deprecatedEpoch: 3 }, [reportOf(15_000)]],
  ['Failed', { ...RELEASED, terminalState: 'Failed' }, []],
  ['Completed', { ...RELEASED, terminalState: 'Completed' }, []],
])('%s', (words, status, reports) => {
  const group = jobSetWith(2, 3, 7);
  const jobSet: Stored<JobSet> = {
    ...group,
    metadata: { ...group.metadata, annotations: TIMEOUTS },
    status: { ...group.status, ...status, restartHistory: [LOST], goodput: WORKED },
  };
  const told = groupReport(
    {
      jobSet: 'u',
      epoch: epochsOf(jobSet.status ?? {}).deprecated + 1,
      announced: 0,
      silence: silenceHeard(jobSet, reports, NOW_MS),
    },
    NOW_MS,
  );
  const [heard] = parseGroupReports(JSON.stringify([told]), NOW_MS) ?? [];
  const row = overviewRow(jobSet, { ready: 0, succeeded: 0 }, NOW_MS, heard);
  const page = statusView(jobSet, [], reports, new Set(), NOW_MS).jobSet;
  expect([row.shown, page.shown].map((shown) => stateWords(shown, NOW_MS))).toEqual([words, words]);
  expect(page.lastFailure).toEqual(row.lastFailure);
  expect(page.goodput?.share).toBe(row.goodput);
  expect(page.goodput?.share).toBe(0.9);
});
