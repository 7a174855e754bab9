/**
 * Processes from an earlier life of this node that no Pod of this one will take over: their Pod was
 * deleted or has ended meanwhile, or their end was recorded and not yet forgotten.
 */
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Store } from '@lockstep/kube/runtime/informer/informer.ts';
import type { ProcessKeeper } from '../../ports/process-keeper.ts';
import { MARKER_VARIABLE, markerOf } from '../container/container-launch.ts';
import { isAlive } from '../container/container-record.ts';
import type { NodeContext } from '../ports/node-context.ts';
import { checkpointDirectory } from './pod-checkpoint.ts';
import type { PodState } from './pod-life.ts';
import { holderMarker } from './shared-processes.ts';

/** Ends them, and removes files of Pods that are gone. Resolves when none is left. */
export async function endStrangers(
  { files, rootDirectory }: NodeContext,
  keeper: ProcessKeeper,
  states: ReadonlyMap<string, PodState>,
  pods: Store<Pod>,
): Promise<void> {
  const living = new Set(
    [...pods.values()].filter((pod) => !hasEnded(pod)).map(({ metadata }) => metadata.uid),
  );
  const expected = new Set<string>();
  for (const [uid, { records }] of states) {
    if (!living.has(uid)) {
      await files.remove(`${checkpointDirectory(rootDirectory)}/${uid}.json`);
      await files.remove(`${rootDirectory}/pods/${uid}`);
      continue;
    }
    expected.add(holderMarker(uid));
    for (const record of records) {
      if (isAlive(record)) expected.add(markerOf(uid, record.name, record.restartCount));
    }
  }
  const known = new Set([...pods.values()].map(({ metadata }) => metadata.uid));
  for (const name of files.logNames(`${rootDirectory}/logs`)) {
    const uid = name.slice(name.lastIndexOf('_') + 1);
    if (!known.has(uid)) await files.remove(`${rootDirectory}/logs/${name}`);
  }
  const strangers = (await keeper.keys()).filter((key) => !expected.has(key));
  await Promise.all(strangers.map((key) => end(keeper, key)));
}

async function end(keeper: ProcessKeeper, key: string): Promise<void> {
  const kept = await keeper.adopt(key, () => undefined);
  kept?.child.signalGroup('SIGKILL');
  await kept?.child.exited;
  await keeper.killByEnvironment(MARKER_VARIABLE, key);
  keeper.forget(key);
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
