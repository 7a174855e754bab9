/** A Pod's port that an API server forwards. */
import {
  createHeaderInflater,
  ServerSession,
  type SpdyStream,
} from '@lockstep/embedded-kubernetes/port-forward';
import { channelPair } from '@lockstep/kube/runtime/byte-channel.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';

/** An API server that forwards to an agent with this answer. */
export function forwarding(answer: string): HttpResponse {
  const [near, far] = channelPair();
  const streams: SpdyStream[] = [];
  const session = new ServerSession(far, {
    inflater: createHeaderInflater(),
    maxStreams: 2,
    onStream: (stream) => {
      streams.push(stream);
      const [error, data] = streams;
      if (error === undefined || data === undefined) return;
      void data.channel.write(Buffer.from(answer)).then(() => {
        data.channel.end();
        error.channel.end();
      });
    },
  });
  void session.run();
  return { status: 101, headers: {}, body: new Uint8Array(), channel: near };
}
