/**
 * The volume in which workers report their progress to a sidecar. It has no size limit, because the
 * kubelet evicts a Pod whose volume exceeds one; the agent truncates a file that grows too long.
 */
import { invalidValue } from '@lockstep/kube/field-error.ts';
import type { Container, Volume, VolumeMount } from '@lockstep/kube/objects/pod.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import {
  ENV_PROGRESS_FILE,
  ENV_RANK_FILES,
  PROGRESS_DIRECTORY,
  PROGRESS_VOLUME_NAME,
} from '../names.ts';

export const PROGRESS_VOLUME: Volume = { name: PROGRESS_VOLUME_NAME, emptyDir: {} };
export const PROGRESS_MOUNT: VolumeMount = {
  name: PROGRESS_VOLUME_NAME,
  mountPath: PROGRESS_DIRECTORY,
};

/** A container that sets the variable itself keeps its value. */
export function withProgressFile({ env = [], volumeMounts = [], ...rest }: Container): Container {
  const isSet = env.some(({ name }) => name === ENV_PROGRESS_FILE);
  const file = { name: ENV_PROGRESS_FILE, value: `${PROGRESS_DIRECTORY}/progress` };
  const ranks = { name: ENV_RANK_FILES, value: '1' };
  return {
    ...rest,
    env: isSet ? env : [...env, file, ranks],
    volumeMounts: [...volumeMounts, PROGRESS_MOUNT],
  };
}

/** `path` is the template's path, and ends with a dot unless it is empty. */
export function progressConflicts(
  containers: readonly Container[],
  path: string,
): readonly FieldError[] {
  return containers.flatMap(({ volumeMounts = [] }, index) =>
    volumeMounts.flatMap(({ mountPath }, mount) => {
      if (mountPath.replace(/\/+$/, '') !== PROGRESS_DIRECTORY) return [];
      const field = `${path}spec.containers[${index}].volumeMounts[${mount}].mountPath`;
      return [invalidValue(field, mountPath, 'is where workers report progress to their agent')];
    }),
  );
}
