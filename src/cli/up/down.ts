/** `lockstep down`: ends the cluster of a state directory. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { sendControl } from '../node-control/control-socket.ts';
import {
  openStateDirectory,
  StateDirectoryInUse,
  StateDirectoryUnusable,
  stateDirectoryOwner,
} from '../state-directory.ts';
import { tell } from '../tell.ts';
import { endLeftovers, leftoversText } from '../watchdog/leftovers.ts';

/** Pods get their grace period, and are killed after that. */
const END_TIMEOUT_MS = 60_000;
const POLL_MS = 100;

/**
 * Ends what runs there, or what a killed `lockstep up` has left. Returns the exit code. Rejects with
 * `ControlError`.
 */
export async function down(stateDirectory: string): Promise<number> {
  const path = resolve(stateDirectory);
  const ended = await endLeftoversIfFree(path);
  if (ended > 0) {
    process.stdout.write(`${leftoversText(ended)} in ${path}\n`);
    return 0;
  }
  await sendControl(path, { action: 'end' });
  const deadlineMs = nodeClock.monotonic() + END_TIMEOUT_MS;
  for (;;) {
    const owner = stateDirectoryOwner(path);
    if (owner === undefined) break;
    if (nodeClock.monotonic() >= deadlineMs) {
      const seconds = END_TIMEOUT_MS / 1000;
      tell(`process ${owner} has not ended the cluster in ${path} after ${seconds} s`);
      return 1;
    }
    await sleep(nodeClock, POLL_MS);
  }
  process.stdout.write(`the cluster in ${path} has ended\n`);
  return 0;
}

/** It holds the directory meanwhile, so that no cluster begins there. */
async function endLeftoversIfFree(path: string): Promise<number> {
  if (!existsSync(path)) return 0;
  try {
    const state = openStateDirectory(path);
    return await endLeftovers(path).finally(() => state.release(false));
  } catch (error) {
    if (error instanceof StateDirectoryInUse || error instanceof StateDirectoryUnusable) return 0;
    throw error;
  }
}
