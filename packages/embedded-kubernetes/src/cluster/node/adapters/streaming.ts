/** What streams to containers have of this machine: connections, SPDY headers and WebSockets. */
import { createConnection } from 'node:net';
import { socketChannel } from '@lockstep/kube/runtime/adapters/socket-channel.ts';
import type { PortDialer, StreamingPorts } from '../ports/streaming-ports.ts';
import { createHeaderInflater } from './header-inflater.ts';
import { acceptWebSocket } from './web-socket-server.ts';

const CONNECT_TIMEOUT_MS = 10_000;

const dialPort: PortDialer = (host, port) =>
  new Promise((resolve, reject) => {
    const socket = createConnection({ host, port, allowHalfOpen: true });
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => {
      socket.destroy(new Error(`connect to ${host}:${port}: timed out`));
    });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.off('error', reject);
      resolve(socketChannel(socket));
    });
  });

export const MACHINE_STREAMING: StreamingPorts = {
  dial: dialPort,
  createInflater: createHeaderInflater,
  acceptWebSocket,
};
