/** Counts the requests and bytes of a transport. */
import type { Metrics } from '../metrics.ts';
import type { HttpRequest, HttpResponse, Transport } from '../ports/transport.ts';

export interface TransportCounts {
  /** A try and its outcome; undefined: there was no answer. Each retry counts. */
  answered(method: HttpRequest['method'], status: number | undefined): void;
  /** Bytes of a body as they arrive, including bodies of watches. */
  received(bytes: number): void;
}

/** The transport, with its requests and bytes counted. */
export function countedTransport(transport: Transport, counts: TransportCounts): Transport {
  return {
    send: async (request) => {
      let response: HttpResponse;
      try {
        response = await transport.send(request);
      } catch (error) {
        counts.answered(request.method, undefined);
        throw error;
      }
      counts.answered(request.method, response.status);
      const { body } = response;
      if (!(body instanceof Uint8Array)) return { ...response, body: countedBody(body, counts) };
      counts.received(body.byteLength);
      return response;
    },
  };
}

/** Uses client-go's metric family if it has one, so that dashboards for controllers know it. */
export function transportMetrics(metrics: Metrics): TransportCounts {
  const requests = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server, by method and status code; <error>: there was no answer',
    labels: ['method', 'code'],
  });
  const bytes = metrics.counter({
    name: 'lockstep_api_received_bytes_total',
    help: 'Bytes of the answers of the API server, watches included, before encryption',
  });
  return {
    answered: (method, status) => requests.add({ method, code: String(status ?? '<error>') }),
    received: (count) => bytes.add({}, count),
  };
}

async function* countedBody(
  body: AsyncIterable<Uint8Array>,
  counts: TransportCounts,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of body) {
    counts.received(chunk.byteLength);
    yield chunk;
  }
}
