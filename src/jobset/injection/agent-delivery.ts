/**
 * How a supervising agent gets into a worker's container, whose image does not have it: an init
 * container with the agent's image copies it there, or that image is mounted as a volume.
 */
import type { Container, PodSpec, Volume, VolumeMount } from '@lockstep/kube/objects/pod.ts';
import {
  AGENT_COMMAND,
  AGENT_DIRECTORY,
  AGENT_FILES_VOLUME_NAME,
  AGENT_INSTALL_CONTAINER_NAME,
  AGENT_INSTALL_FLAG,
} from '../names.ts';
import { agentSecurity } from './agent-security.ts';
import { agentTreeCommand } from './agent-tree.ts';

/**
 * `Copy` works on every cluster. `ImageVolume` starts faster, but needs nodes that may execute
 * programs in a volume of an image (Kubernetes 1.36; before, such volumes are mounted `noexec`).
 * `WorkerImage`: the worker's image, or the embedded node, has the agent on its PATH. `Auto`:
 * `ImageVolume` if all nodes of a JobSet support it, otherwise `Copy`.
 */
export type AgentDelivery = (typeof AGENT_DELIVERIES)[number];

export const AGENT_DELIVERIES = ['Auto', 'Copy', 'ImageVolume', 'WorkerImage'] as const;

export interface AgentFiles {
  /** The agent's image. */
  readonly image: string;
  /** The agent's program, by default `lockstep-agent`. */
  readonly command?: string;
  /** By default `WorkerImage`. */
  readonly delivery?: AgentDelivery;
}

/** Additions to a Pod so that the agent can start in its worker's container. */
export interface Delivery {
  /** Starts the agent there. */
  readonly command: readonly string[];
  readonly initContainers: readonly Container[];
  readonly volumes: readonly Volume[];
  /** For the worker's container. */
  readonly volumeMounts: readonly VolumeMount[];
}

export function deliverAgent(files: AgentFiles, worker: Container): Delivery {
  const { image, command = AGENT_COMMAND, delivery = 'WorkerImage' } = files;
  const mount = { name: AGENT_FILES_VOLUME_NAME, mountPath: AGENT_DIRECTORY };
  const volumeMounts = [{ ...mount, readOnly: true }];
  const fromTree = agentTreeCommand(AGENT_DIRECTORY);
  switch (delivery) {
    case 'WorkerImage':
      return { command: [command], initContainers: [], volumes: [], volumeMounts: [] };
    case 'ImageVolume': {
      const volumes = [{ name: AGENT_FILES_VOLUME_NAME, image: { reference: image } }];
      return { command: fromTree, initContainers: [], volumes, volumeMounts };
    }
    case 'Auto':
    case 'Copy': {
      const install: Container = {
        name: AGENT_INSTALL_CONTAINER_NAME,
        image,
        command: [command, AGENT_INSTALL_FLAG, AGENT_DIRECTORY],
        ...installResources(worker),
        securityContext: agentSecurity(worker),
        volumeMounts: [mount],
      };
      const volumes = [{ name: AGENT_FILES_VOLUME_NAME, emptyDir: {} }];
      return { command: fromTree, initContainers: [install], volumes, volumeMounts };
    }
  }
}

/** The spec with the additions of a delivery outside the worker's container. */
export function withDelivery(spec: PodSpec, { initContainers, volumes }: Delivery): PodSpec {
  return {
    ...spec,
    ...(initContainers.length === 0
      ? {}
      : { initContainers: [...(spec.initContainers ?? []), ...initContainers] }),
    ...(volumes.length === 0 ? {} : { volumes: [...(spec.volumes ?? []), ...volumes] }),
  };
}

/**
 * The init container's resources: the worker's own, which cost nothing before the worker runs. So
 * the Pod keeps its quality of service, and fits a quota that requires limits of every container.
 */
function installResources({ resources }: Container): Pick<Container, 'resources'> {
  const shares = (['limits', 'requests'] as const).flatMap((name) => {
    const amounts = Object.entries(resources?.[name] ?? {}).filter(([of]) => SHARED.has(of));
    return amounts.length === 0 ? [] : [[name, Object.fromEntries(amounts)] as const];
  });
  return shares.length === 0 ? {} : { resources: Object.fromEntries(shares) };
}

/** Devices belong to the worker alone. */
const SHARED: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
