/**
 * The node's network: every Pod has an address of its own in 127.0.0.0/8 if the system binds those
 * (Linux), or all share 127.0.0.1 and get ports of their own instead (macOS).
 */
export type NodeNetwork = OwnAddresses | SharedAddress;

export interface OwnAddresses {
  readonly type: 'own-addresses';
  /** `127.N.0.1` */
  readonly hostIP: string;
  /** `127.N.0.0/16`, from which the Pods' addresses are taken. */
  readonly podCIDR: string;
}

export interface SharedAddress {
  readonly type: 'shared-address';
  readonly hostIP: string;
  /** The owners of ports; all nodes with this address share it. */
  readonly claims: PortClaims;
  /** A port of `hostIP` without a listener. */
  freePort(): Promise<number>;
}

/** Hands out Pod addresses; a returned one is reused last. */
export class PodAddresses {
  readonly #network: NodeNetwork;
  readonly #used = new Map<string, string>();
  readonly #released: string[] = [];
  /** Taken out of order, so the count may still reach them. */
  readonly #reserved = new Set<string>();
  /**
   * The next address that was never given out, as an offset into the network; .0 and .1 are taken.
   */
  #next = 2;

  constructor(network: NodeNetwork) {
    this.#network = network;
  }

  /** The address of the Pod with this UID, the same for every call. Undefined if none is left. */
  allocate(podUid: string): string | undefined {
    if (this.#network.type === 'shared-address') return this.#network.hostIP;
    const known = this.#used.get(podUid);
    if (known !== undefined) return known;
    const address = this.#fresh(this.#network.podCIDR) ?? this.#released.shift();
    if (address !== undefined) this.#used.set(podUid, address);
    return address;
  }

  /** A Pod that this node ran before has this address already. */
  reserve(podUid: string, address: string): void {
    if (this.#network.type === 'shared-address') return;
    this.#used.set(podUid, address);
    this.#reserved.add(address);
  }

  /**
   * Takes ports that the Pod will listen on at a shared address; with an address of its own it has
   * them all. Returns the first that another Pod has, and takes none then.
   */
  claimPorts(podUid: string, ports: readonly number[]): number | undefined {
    if (this.#network.type === 'own-addresses') return undefined;
    return this.#network.claims.claim(podUid, ports);
  }

  release(podUid: string): void {
    if (this.#network.type === 'shared-address') this.#network.claims.release(podUid);
    const address = this.#used.get(podUid);
    if (address === undefined) return;
    this.#used.delete(podUid);
    this.#released.push(address);
  }

  #fresh(podCIDR: string): string | undefined {
    const [first, second] = podCIDR.split('.');
    while (this.#next < LAST_OFFSET) {
      const offset = this.#next++;
      const address = `${first}.${second}.${offset >> 8}.${offset & 0xff}`;
      if (!this.#reserved.has(address)) return address;
    }
    return undefined;
  }
}

/** The ports of one address, each of one Pod. */
export class PortClaims {
  readonly #holders = new Map<number, string>();

  /** Takes all of `ports`, or returns the first that another Pod has and takes none. */
  claim(podUid: string, ports: readonly number[]): number | undefined {
    const taken = ports.find((port) => (this.#holders.get(port) ?? podUid) !== podUid);
    if (taken === undefined) for (const port of ports) this.#holders.set(port, podUid);
    return taken;
  }

  release(podUid: string): void {
    for (const [port, holder] of this.#holders) {
      if (holder === podUid) this.#holders.delete(port);
    }
  }
}

/** The last address of a /16 is its broadcast address. */
const LAST_OFFSET = 0xffff;
