/** Container statuses in a few letters, for tables of tests. */
import type {
  ContainerStateTerminated,
  ContainerStatus,
  PodSpec,
} from '@lockstep/kube/objects/pod.ts';
import { KILLED_EXIT_CODE, RESTARTING_ALL_REASON } from '../container/container-record.ts';
import { containersOf } from '../pod-containers.ts';
import type { Statuses } from './pod-phase.ts';

const REMOVED: ContainerStateTerminated = {
  exitCode: KILLED_EXIT_CODE,
  reason: RESTARTING_ALL_REASON,
};

/**
 * One word for each container, init containers first: `-` no status, `w` waits, `w7` waits after
 * exit 7, `wR` waits since all restart, `r` runs and is ready, `u` runs and has not started by its
 * probe, `7` ended with that code, `TR` ended because all restart.
 */
export function statusesOf(spec: PodSpec, words: string): Statuses {
  const each = words.split(' ');
  return new Map(
    containersOf(spec).flatMap(({ container, kind }, index) => {
      const word = each[index] ?? '-';
      if (word === '-') return [];
      const state = stateOf(word);
      const isInit = kind === 'init';
      const status: ContainerStatus = {
        name: container.name,
        ready: isInit ? word === '0' : word === 'r',
        started: word === 'r',
        restartCount: 0,
        image: '',
        imageID: '',
        ...state,
      };
      return [[container.name, status] as const];
    }),
  );
}

function stateOf(word: string): Pick<ContainerStatus, 'state' | 'lastState'> {
  if (word === 'r' || word === 'u') return { state: { running: {} } };
  if (word === 'TR') return { state: { terminated: REMOVED } };
  if (/^\d+$/.test(word)) return { state: { terminated: { exitCode: Number(word) } } };
  const waiting = { reason: 'ContainerCreating' };
  if (word === 'w') return { state: { waiting } };
  const terminated = word === 'wR' ? REMOVED : { exitCode: Number(word.slice(1)) };
  return { state: { waiting }, lastState: { terminated } };
}
