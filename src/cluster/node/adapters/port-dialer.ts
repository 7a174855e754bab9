import { createConnection } from 'node:net';
import { socketChannel } from '../../../runtime/adapters/socket-channel.ts';
import type { PortDialer } from '../ports/streaming-ports.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** Connections of this machine. */
export const dialPort: PortDialer = (host, port) =>
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
