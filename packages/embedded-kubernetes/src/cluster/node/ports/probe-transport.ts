/**
 * The port through which probes and hooks reach a container over the network. Implementation:
 * `adapters/probe-transport.ts`.
 */
export interface ProbeTransport {
  /** Resolves with the answer after any redirects. Rejects if there was none in time. */
  get(request: ProbeRequest): Promise<ProbeAnswer>;
  /** Resolves once the connection is established; rejects otherwise. */
  connect(host: string, port: number, timeoutMs: number): Promise<void>;
  /**
   * Asks over gRPC for the health of a service (`grpc.health.v1`). Rejects if there is no valid
   * answer in time.
   */
  health(question: HealthQuestion): Promise<ServingStatus>;
}

export interface HealthQuestion {
  readonly host: string;
  readonly port: number;
  /** Empty: the server as a whole. */
  readonly service: string;
  readonly timeoutMs: number;
}

/** By their numbers in the protocol. */
export const SERVING_STATUSES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const;
export type ServingStatus = (typeof SERVING_STATUSES)[number];

/** The User-Agent of a kubelet's probes. */
export const PROBE_USER_AGENT = 'kube-probe/1.36';

export interface ProbeRequest {
  readonly scheme: 'HTTP' | 'HTTPS';
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface ProbeAnswer {
  readonly status: number;
  /** Set for a redirect elsewhere, which counts as success with a warning. */
  readonly redirectedTo: string | undefined;
}

/** How many redirects are followed, all to the same host. */
export const MAX_PROBE_REDIRECTS = 10;
