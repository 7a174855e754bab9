import { type HttpResponse, TransportError } from '../ports/transport.ts';

/** The largest body that is read as a whole: ten times a list of 5,000 large Pods. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

/** The whole body. Rejects as the stream does, or with `TransportError` beyond the limit. */
export async function wholeBody(
  body: HttpResponse['body'],
  limitBytes = MAX_BODY_BYTES,
): Promise<Buffer> {
  if (body instanceof Uint8Array) return asBuffer(body);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > limitBytes) {
      throw new TransportError(`the response is longer than ${limitBytes} bytes`, {
        code: 'EMSGSIZE',
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Views the bytes as a Buffer, without a copy. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
