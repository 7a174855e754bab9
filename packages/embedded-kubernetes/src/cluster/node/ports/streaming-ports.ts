/** The ports of streams to containers. Their real ends are in `adapters/`. */
import type { ByteChannel } from '@lockstep/kube/runtime/ports/transport.ts';
import type { WebSocketAcceptor } from './web-socket.ts';

/** What streaming needs of the machine besides processes. */
export interface StreamingPorts {
  readonly dial: PortDialer;
  readonly acceptWebSocket: WebSocketAcceptor;
  readonly createInflater: () => HeaderInflater;
}

/** Connects to a port of this machine. Rejects with the reason if it cannot. */
export type PortDialer = (host: string, port: number) => Promise<ByteChannel>;

/** Unpacks in order what the other side of a SPDY session has packed. */
export interface HeaderInflater {
  /** Rejects for invalid data, or data longer than headers are. */
  inflate(block: Uint8Array): Promise<Uint8Array>;
  close(): void;
}
