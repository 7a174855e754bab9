/** The Pods of nodes in other processes, for the hosts files of this one, from the API. */

import type { Stored } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { ClientPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import type { HostsFiles, HostsMember } from './hosts.ts';

export interface NeighbourPodsOptions extends ClientPorts {
  /** The node whose Pods are known without the API. */
  readonly node: string;
  readonly hosts: HostsFiles;
}

export class NeighbourPods {
  readonly #pods: Informer<Pod>;
  readonly #hosts: HostsFiles;

  constructor(options: NeighbourPodsOptions) {
    const { node, hosts } = options;
    this.#hosts = hosts;
    const fieldSelector = `spec.nodeName!=${node}`;
    this.#pods = createInformer<Pod>({ ...options, resource: PODS, fieldSelector });
    const touch = ({ metadata }: Stored<Pod>): void => hosts.touch(namespaceOf(metadata));
    this.#pods.subscribe({ added: touch, updated: touch, deleted: touch });
    hosts.join(this.#member);
  }

  async stop(): Promise<void> {
    this.#hosts.leave(this.#member);
    await this.#pods.stop();
  }

  readonly #member: HostsMember = (namespace) =>
    [...this.#pods.store.values()].flatMap((pod) => {
      const { podIP, phase } = pod.status ?? {};
      const hasEnded = phase === 'Succeeded' || phase === 'Failed';
      if (podIP === undefined || hasEnded || pod.metadata.namespace !== namespace) return [];
      return [{ pod, address: podIP, ports: new Map<number, number>() }];
    });
}
