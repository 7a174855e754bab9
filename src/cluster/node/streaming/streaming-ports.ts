import type { HeaderInflater } from '../../../runtime/spdy/header-compression.ts';
import type { PortDialer } from './port-forward.ts';

/** What streaming needs of the machine beside processes. */
export interface StreamingPorts {
  readonly dial: PortDialer;
  readonly createInflater: () => HeaderInflater;
}
