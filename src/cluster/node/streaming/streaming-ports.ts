import type { PortDialer } from './port-forward.ts';
import type { HeaderInflater } from './spdy/header-compression.ts';

/** What streaming needs of the machine beside processes. */
export interface StreamingPorts {
  readonly dial: PortDialer;
  readonly createInflater: () => HeaderInflater;
}
