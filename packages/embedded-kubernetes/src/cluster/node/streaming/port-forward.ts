/**
 * `kubectl port-forward`: for each connection that the client accepts, it opens a stream for data
 * and one for errors, both with the port and the number of the request (`portforward.k8s.io`, over
 * SPDY).
 */
import { carryBytes } from '@lockstep/kube/runtime/byte-channel.ts';
import { endsWithin } from '@lockstep/kube/runtime/deadline.ts';
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ByteChannel } from '@lockstep/kube/runtime/ports/transport.ts';
import type { PortDialer } from '../ports/streaming-ports.ts';
import type { SpdyStream } from './spdy/server-session.ts';

export interface PortForwardTarget {
  /** For messages: `namespace_name`. */
  readonly pod: string;
  readonly podIP: string;
  /** From a declared port to the actual one, if Pods share an address. */
  readonly ports: ReadonlyMap<number, number>;
}

/** From the first stream of a connection to the second. */
const PAIR_TIMEOUT_MS = 30_000;

/** The first stream of a connection, while there is no second one. */
interface Waiting {
  readonly type: string;
  readonly stream: SpdyStream;
  readonly timer: Timer;
}

export class PortForwarder {
  readonly #clock: Clock;
  readonly #dial: PortDialer;
  readonly #target: PortForwardTarget;
  readonly #waiting = new Map<string, Waiting>();

  constructor(clock: Clock, dial: PortDialer, target: PortForwardTarget) {
    this.#clock = clock;
    this.#dial = dial;
    this.#target = target;
  }

  add(stream: SpdyStream): void {
    const { streamtype: type = '', requestid: request = '', port: portText = '' } = stream.headers;
    const port = /^\d{1,5}$/.test(portText) ? Number(portText) : 0;
    if ((type !== 'data' && type !== 'error') || port < 1 || port > 0xffff) {
      stream.channel.destroy();
      return;
    }
    const key = `${request} ${port}`;
    const first = this.#waiting.get(key);
    if (first === undefined) {
      this.#waiting.set(key, { type, stream, timer: this.#limit(key) });
      return;
    }
    if (first.type === type) {
      stream.channel.destroy();
      return;
    }
    this.#forget(key, first);
    const [data, error] = type === 'data' ? [stream, first.stream] : [first.stream, stream];
    void this.#forward(port, data.channel, error.channel);
  }

  /** The client is gone, and with it the awaited second streams. */
  end(): void {
    for (const [key, first] of this.#waiting) this.#forget(key, first);
  }

  #limit(key: string): Timer {
    return this.#clock.setTimer(PAIR_TIMEOUT_MS, () => {
      this.#waiting.get(key)?.stream.channel.destroy();
      this.#waiting.delete(key);
    });
  }

  #forget(key: string, { timer }: Waiting): void {
    timer.cancel();
    this.#waiting.delete(key);
  }

  async #forward(port: number, data: ByteChannel, error: ByteChannel): Promise<void> {
    const { pod, podIP, ports } = this.#target;
    try {
      const socket = await this.#dial(podIP, ports.get(port) ?? port);
      const fromPod = carryBytes(socket, data);
      const toPod = carryBytes(data, socket);
      // When the Pod has sent everything, do not wait for the client.
      await fromPod;
      await endsWithin(this.#clock, HALF_OPEN_TIMEOUT_MS, toPod);
      socket.destroy();
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      await error.write(Buffer.from(`error forwarding port ${port} to pod ${pod}: ${why}`));
      data.end();
    }
    error.end();
  }
}

/** kubectl waits as long for the rest of a connection whose other direction has ended. */
const HALF_OPEN_TIMEOUT_MS = 10_000;
