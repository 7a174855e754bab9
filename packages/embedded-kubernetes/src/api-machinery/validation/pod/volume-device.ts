/** Validates volumes that a container uses as block devices. */
import { invalidValue, required, valueNotFound } from '@lockstep/kube/field-error.ts';
import type { Container, Volume, VolumeMount } from '@lockstep/kube/objects/pod.ts';
import type { FieldError } from '@lockstep/kube/status.ts';

/** Problems of a mount at `path` in a container that also has devices. */
export function mountOfDeviceErrors(
  { name, mountPath }: VolumeMount,
  { volumeDevices = [] }: Container,
  path: string,
): FieldError[] {
  const isName = volumeDevices.some((device) => device.name === name);
  const isPath = volumeDevices.some((device) => device.devicePath === mountPath);
  const inTheWay = 'must not already exist as a path in volumeDevices';
  return [
    ...(isName
      ? [invalidValue(`${path}.name`, name, 'must not already exist in volumeDevices')]
      : []),
    ...(isPath ? [invalidValue(`${path}.mountPath`, mountPath, inTheWay)] : []),
  ];
}

/** A container has a claim's volume either as a directory or as a device. */
export function devicesErrors(
  { volumeDevices = [], volumeMounts = [] }: Container,
  volumes: readonly Volume[],
  path: string,
): FieldError[] {
  const byName = new Map(volumes.map((volume) => [volume.name, volume]));
  return volumeDevices.flatMap(({ name, devicePath }, index) => {
    const at = `${path}[${index}]`;
    const volume = byName.get(name);
    const isTwice = volumeDevices.findIndex((device) => device.name === name) < index;
    const isClaim =
      volume?.persistentVolumeClaim !== undefined || Object.hasOwn(volume ?? {}, 'ephemeral');
    const problem = (field: string, value: string, detail: string): FieldError =>
      invalidValue(`${at}.${field}`, value, detail);
    return [
      ...(name === '' ? [required(`${at}.name`)] : []),
      ...(isTwice ? [problem('name', name, 'must be unique')] : []),
      ...(volume !== undefined && !isClaim ? [problem('name', name, DEVICES_OF_CLAIMS)] : []),
      ...(volume === undefined ? [valueNotFound(`${at}.name`, name)] : []),
      ...(devicePath === '' ? [required(`${at}.devicePath`)] : []),
      ...(devicePath.split('/').includes('..')
        ? [problem('devicePath', devicePath, "can not contain backsteps ('..')")]
        : []),
      ...(volumeMounts.some((mount) => mount.name === name)
        ? [problem('name', name, 'must not already exist in volumeMounts')]
        : []),
      ...(volumeMounts.some((mount) => mount.mountPath === devicePath)
        ? [problem('devicePath', devicePath, 'must not already exist as a path in volumeMounts')]
        : []),
    ];
  });
}

const DEVICES_OF_CLAIMS =
  'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
