/** `lockstep restart JOBSET`: ends the current epoch, and waits until the next one runs. */

import type { Stored } from '@lockstep/kube/meta.ts';
import { DeadlineError } from '@lockstep/kube/runtime/deadline.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { Arguments, type Parsed } from '../arguments.ts';
import type { ConnectionFlags } from '../cluster-connection.ts';
import {
  type JobSetName,
  jobSetNameErrors,
  type NamedJobSet,
  withJobSet,
} from '../named-jobset.ts';
import { PORTS } from '../ports.ts';
import { askForRestart, nameOf } from './ask-for-restart.ts';
import { restartState } from './restart-state.ts';

export interface RestartOptions extends JobSetName {
  /** 0: do not wait. */
  readonly timeoutSeconds: number;
}

export interface RestartFlags {
  readonly namespace?: string | undefined;
  readonly timeout: string;
  readonly wait: boolean;
}

export function parseRestart(
  name: string,
  { namespace, timeout, wait }: RestartFlags,
): Parsed<RestartOptions> {
  const given = new Arguments(jobSetNameErrors({ name, namespace }));
  const seconds = given.timeout(timeout, 'whole seconds');
  return given.parsed({ name, namespace, timeoutSeconds: wait ? seconds : 0 });
}

const EXIT_FAILURE = 1;

export async function restartJobSet(
  { timeoutSeconds, ...named }: RestartOptions,
  flags: ConnectionFlags,
): Promise<number> {
  return withJobSet(named, flags, async (found) => {
    const epoch = await askForRestart(found);
    if (timeoutSeconds === 0) {
      process.stdout.write(`asked to end epoch ${epoch}\n`);
      return 0;
    }
    const { kind, text } = await whatFollows(found, epoch, timeoutSeconds);
    const isDone = kind === 'Restarted';
    (isDone ? process.stdout : process.stderr).write(isDone ? `${text}\n` : `lockstep: ${text}\n`);
    return isDone ? 0 : EXIT_FAILURE;
  });
}

async function whatFollows(
  { client, at, jobSet, signal }: NamedJobSet,
  epoch: number,
  timeoutSeconds: number,
): Promise<{ readonly kind: string; readonly text: string }> {
  const { uid } = jobSet.metadata;
  let last: Stored<JobSet> | undefined = jobSet;
  const stateNow = (): { readonly kind: string; readonly text: string } =>
    last?.metadata.uid === uid
      ? restartState(last, epoch)
      : { kind: 'Over', text: `${nameOf(at)} was deleted` };
  const wait = { ...PORTS, timeoutMs: timeoutSeconds * 1000, signal };
  try {
    await waitFor(
      client,
      JOBSETS,
      at,
      (now) => {
        last = now;
        return stateNow().kind !== 'Waiting';
      },
      wait,
    );
    return stateNow();
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw error;
    const { kind, text } = stateNow();
    const advice = `see "lockstep status ${at.name}", and "lockstep doctor" for the operator`;
    return { kind, text: `${text} after ${timeoutSeconds} s: ${advice}` };
  }
}
