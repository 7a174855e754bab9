/**
 * What a Pod has before and after any of its containers: an address, a directory with its volumes,
 * and ports if the address is shared. It outlives restarts in place and goes at the Pod's end.
 */
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Sandbox } from '../container/container-launch.ts';
import type { PodFields } from '../field-reference.ts';
import { hostnameOf } from '../network/pod-hostname.ts';
import { containersOf } from '../pod-containers.ts';
import { type NodeContext, podDirectory, podLogDirectory } from '../ports/node-context.ts';
import { PodVolumes } from '../volume/pod-volumes.ts';
import { SharedProcesses } from './shared-processes.ts';

export class PodSandbox {
  readonly logDirectory: string;
  readonly #context: NodeContext;
  readonly #pod: Pod;
  readonly #uid: string;
  readonly #directory: string;
  readonly #volumes: PodVolumes;
  /** If its containers see each other's processes and no others. */
  readonly #processes: SharedProcesses | undefined;
  readonly #ports = new Map<number, number>();
  #isGone = false;

  constructor(context: NodeContext, pod: Pod) {
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    this.#context = context;
    this.#pod = pod;
    this.#uid = uid;
    this.#directory = podDirectory(context, uid);
    this.logDirectory = podLogDirectory(context, { namespace, name, uid });
    this.#volumes = new PodVolumes(context, pod, `${this.#directory}/volumes`);
    const isShared = pod.spec.shareProcessNamespace === true;
    if (isShared && context.namespaces?.type === 'available') {
      this.#processes = new SharedProcesses(context, uid, this.#directory);
    }
  }

  get ports(): ReadonlyMap<number, number> {
    return this.#ports;
  }

  /** Takes over the address that the Pod had in an earlier life of the node. */
  reserve(podIP: string): void {
    this.#context.addresses.reserve(this.#uid, podIP);
  }

  /**
   * Makes what is missing, and returns the address. Rejects with the problem; call it again then.
   */
  async prepare(): Promise<string> {
    const { addresses, network } = this.#context;
    const podIP = addresses.allocate(this.#uid);
    if (podIP === undefined) throw new Error('all addresses of the node are in use');
    // A name that is not allowed keeps the Pod from starting.
    hostnameOf(this.#pod);
    this.#claimProbedPorts();
    if (network.type === 'shared-address') {
      for (const port of declaredPorts(this.#pod)) {
        if (!this.#ports.has(port)) this.#ports.set(port, await network.freePort());
      }
    }
    await this.#context.files.makeDirectory(this.#directory);
    await this.#volumes.prepare(this.#facts(podIP, this.#pod));
    return podIP;
  }

  /** Files of ConfigMaps and Secrets are to be as these are now. */
  refreshFiles(pod: Pod, podIP: string): void {
    this.#volumes.refresh(this.#facts(podIP, pod));
  }

  /** For the containers, with the Pod's present metadata. */
  forContainers(pod: Pod, podIP: string): Sandbox {
    const processes = this.#processes;
    return {
      holder: processes && (() => processes.holder()),
      directory: this.#directory,
      logDirectory: this.logDirectory,
      facts: this.#facts(podIP, pod),
      volumes: this.#volumes.mounted,
      ports: this.#ports,
    };
  }

  /** The Pod gets another address; its volumes and ports stay. */
  renewAddress(): string | undefined {
    const { addresses } = this.#context;
    addresses.release(this.#uid);
    return addresses.allocate(this.#uid);
  }

  /** Ends what is under way here: a preparation, the renewal of tokens. */
  close(): void {
    this.#volumes.stop();
  }

  /** Removes everything but the logs. Nothing of the Pod may run any more. */
  async remove(): Promise<void> {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#context.addresses.release(this.#uid);
    await this.#processes?.end();
    await this.#context.files.remove(this.#directory);
  }

  /**
   * A port that is probed but not declared cannot be replaced through `LOCKSTEP_PORT_...`, so only
   * one Pod of a shared address can have it: the others wait and report it.
   */
  #claimProbedPorts(): void {
    const declared = new Set(declaredPorts(this.#pod));
    const undeclared = probedPorts(this.#pod).filter((port) => !declared.has(port));
    const taken = this.#context.addresses.claimPorts(this.#uid, undeclared);
    if (taken === undefined) return;
    const { hostIP } = this.#context.network;
    throw new Error(
      `port ${taken} is in use: all Pods of this node share the address ${hostIP}, and this Pod ` +
        `needs that port; it needs a node with an address for each Pod (Linux), or to declare the ` +
        `port as a containerPort and listen on LOCKSTEP_PORT_${taken} instead`,
    );
  }

  #facts(podIP: string, pod: Pod): PodFields {
    const { nodeName, network, allocatable } = this.#context;
    return { pod, podIP, hostIP: network.hostIP, nodeName, allocatable };
  }
}

function declaredPorts(pod: Pod): readonly number[] {
  return containersOf(pod.spec).flatMap(({ container }) =>
    (container.ports ?? []).map(({ containerPort }) => containerPort),
  );
}

function probedPorts(pod: Pod): readonly number[] {
  return containersOf(pod.spec).flatMap(({ container }) =>
    [container.startupProbe, container.livenessProbe, container.readinessProbe].flatMap((probe) => {
      const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port ?? probe?.grpc?.port;
      return typeof port === 'number' ? [port] : [];
    }),
  );
}
