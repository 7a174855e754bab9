/** Which streams of a client become a connection, and what happens to the others. */

import { channelPair } from '@lockstep/kube/runtime/byte-channel.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { PortForwarder } from './port-forward.ts';
import type { SpdyStream } from './spdy/server-session.ts';

const TARGET = { pod: 'default_a', podIP: '10.0.0.1', ports: new Map([[80, 4080]]) };

let clock: VirtualClock;
let dialled: string[];
let forwarder: PortForwarder;

beforeEach(() => {
  clock = new VirtualClock();
  dialled = [];
  forwarder = new PortForwarder(
    clock,
    (host, port) => {
      dialled.push(`${host}:${port}`);
      return Promise.reject(new Error('refused'));
    },
    TARGET,
  );
});

/** A stream of the client, and what its end of it reads. */
function open(type: string, request = '0', port = '80') {
  const [near, far] = channelPair();
  const stream: SpdyStream = {
    headers: { streamtype: type, requestid: request, port },
    channel: near,
  };
  forwarder.add(stream);
  return far;
}

describe('connections of port-forward', () => {
  it('are dialled when both streams are there, and wait for nothing any more', async () => {
    open('data');
    expect(dialled).toEqual([]);
    const errors = open('error');
    expect(dialled).toEqual(['10.0.0.1:4080']);
    expect(clock.pendingTimers).toBe(0);
    const chunks: Uint8Array[] = [];
    for await (const chunk of errors.incoming) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe(
      'error forwarding port 80 to pod default_a: refused',
    );
  });

  it('are distinguished by the number of the request and the port', () => {
    open('data', '0');
    open('error', '1');
    open('error', '0', '81');
    expect(dialled).toEqual([]);
    open('data', '1');
    expect(dialled).toHaveLength(1);
  });

  it.each([
    ['of another type', ['stdin', '0', '80']],
    ['to no port', ['data', '0', 'http']],
    ['to a port out of range', ['data', '0', '65536']],
  ])('are closed at once: a stream %s', (_, [type = '', request, port]) => {
    open(type, request, port);
    expect(clock.pendingTimers).toBe(0);
  });

  it('do not wait for a second stream once the client is gone', () => {
    open('data');
    expect(clock.pendingTimers).toBe(1);
    forwarder.end();
    expect(clock.pendingTimers).toBe(0);
  });
});
