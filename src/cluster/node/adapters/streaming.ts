import type { StreamingPorts } from '../ports/streaming-ports.ts';
import { createHeaderInflater } from './header-inflater.ts';
import { dialPort } from './port-dialer.ts';
import { acceptWebSocket } from './web-socket-server.ts';

/** What streaming has of this machine. */
export const MACHINE_STREAMING: StreamingPorts = {
  dial: dialPort,
  createInflater: createHeaderInflater,
  acceptWebSocket,
};
