/**
 * How a supervising agent reaches the container of a worker, whose image knows nothing of it: an init
 * container of the agent's image copies it there, or that image is mounted as a volume.
 */
import type { Container, PodSpec, Volume, VolumeMount } from '../../kube/objects/pod.ts';
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
 * `Copy` works on every cluster. `ImageVolume` starts faster, and needs nodes that may run what is in a
 * volume of an image (Kubernetes 1.36; before, such volumes are mounted `noexec`). `WorkerImage`: the
 * worker's image, or the embedded node, has the agent on its PATH. `Auto`: the second where all nodes of
 * a JobSet can, otherwise the first.
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

/** What a Pod gets so that the agent can be started in the container of its worker. */
export interface Delivery {
  /** Starts the agent there. */
  readonly command: readonly string[];
  readonly initContainers: readonly Container[];
  readonly volumes: readonly Volume[];
  /** Of the worker's container. */
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

/** With what a delivery adds to it beside its containers. */
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
 * The worker's own, which cost nothing while it does not run yet: so the Pod keeps its quality of
 * service, and meets a quota that asks every container for limits.
 */
function installResources({ resources }: Container): Pick<Container, 'resources'> {
  const shares = (['limits', 'requests'] as const).flatMap((name) => {
    const amounts = Object.entries(resources?.[name] ?? {}).filter(([of]) => SHARED.has(of));
    return amounts.length === 0 ? [] : [[name, Object.fromEntries(amounts)] as const];
  });
  return shares.length === 0 ? {} : { resources: Object.fromEntries(shares) };
}

/** Devices are the worker's alone. */
const SHARED: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
