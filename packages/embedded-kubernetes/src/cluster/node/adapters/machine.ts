/** Describes this machine. */
import { arch, availableParallelism, hostname, platform, release, totalmem } from 'node:os';
import type { Machine } from '../node-registration.ts';

/**
 * The most Pods of a node; processes are cheaper than containers, and ports and addresses are
 * plentiful.
 */
const MAX_PODS = 1_000;

/** This machine, as the Node object describes it. */
export function thisMachine(): Machine {
  return {
    capacity: {
      cpu: String(availableParallelism()),
      memory: `${Math.floor(totalmem() / 1024)}Ki`,
      pods: String(MAX_PODS),
    },
    architecture: ARCHITECTURES[arch()] ?? arch(),
    operatingSystem: platform(),
    kernelVersion: release(),
  };
}

/** The name by which programs find the machine that they run on. */
export function machineName(): string {
  return hostname();
}

/** Go's names, which Kubernetes uses. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };
