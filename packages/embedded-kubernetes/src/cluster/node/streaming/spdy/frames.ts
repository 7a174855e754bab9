/**
 * Frames of SPDY/3.1 as bytes, as far as Kubernetes' streams use them: streams are opened, carry
 * data and end, without push and without flow control. Pure, except for the memory of half a frame.
 */
export type SpdyFrame = SpdyData | SpdyControl;

export interface SpdyData {
  readonly type: 'data';
  readonly stream: number;
  readonly isLast: boolean;
  readonly bytes: Uint8Array;
}

export interface SpdyControl {
  readonly type: 'control';
  readonly kind: number;
  readonly flags: number;
  readonly payload: Uint8Array;
}

export const SYN_STREAM = 1;
export const SYN_REPLY = 2;
export const RST_STREAM = 3;
export const PING = 6;
export const GOAWAY = 7;
export const HEADERS = 8;

export const FIN_FLAG = 0x01;

/** For RST_STREAM. */
export const REFUSED_STREAM = 3;
export const CANCEL = 5;

const VERSION = 3;
const CONTROL_BIT = 0x8000_0000;
const ID_BITS = 0x7fff_ffff;
const HEAD_BYTES = 8;
const LENGTH_BITS = 0xff_ffff;
/** Writers send pieces of 32 KiB; headers are short. */
const MAX_FRAME_BYTES = 1024 * 1024;

/** The other side does not speak SPDY; the session ends. */
export class SpdyError extends Error {
  override readonly name = 'SpdyError';
}

/** Takes bytes in any pieces and returns complete frames. */
export class SpdyReader {
  #pending: Buffer = Buffer.alloc(0);

  /** Throws `SpdyError`; the reader cannot be used after that. */
  push(chunk: Uint8Array): readonly SpdyFrame[] {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    const frames: SpdyFrame[] = [];
    while (this.#pending.length >= HEAD_BYTES) {
      const first = this.#pending.readUInt32BE(0);
      const second = this.#pending.readUInt32BE(4);
      const length = second & LENGTH_BITS;
      if (length > MAX_FRAME_BYTES) {
        throw new SpdyError(`${length} bytes in a frame, ${MAX_FRAME_BYTES} allowed`);
      }
      const end = HEAD_BYTES + length;
      if (this.#pending.length < end) break;
      frames.push(frameOf(first, second >>> 24, this.#pending.subarray(HEAD_BYTES, end)));
      this.#pending = this.#pending.subarray(end);
    }
    return frames;
  }
}

export function encodeData(stream: number, bytes: Uint8Array, isLast: boolean): Uint8Array {
  return frame(stream, isLast ? FIN_FLAG : 0, bytes);
}

export function encodeControl(kind: number, flags: number, payload: Uint8Array): Uint8Array {
  return frame((CONTROL_BIT | (VERSION << 16) | kind) >>> 0, flags, payload);
}

/** Payload of SYN_STREAM, SYN_REPLY, HEADERS and RST_STREAM begins with the stream's number. */
export function streamOf(payload: Uint8Array): number {
  return number(payload, 0) & ID_BITS;
}

/** Four bytes, the unit of payloads. */
export function word(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Where the headers begin in the payload of a frame. */
export function headerBlock(kind: number, payload: Uint8Array): Uint8Array {
  return payload.subarray(kind === SYN_STREAM ? 10 : 4);
}

/** Names in lower case; the first of several values. Throws `SpdyError`. */
export function parseHeaders(block: Uint8Array): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  let at = 4;
  const text = (): string => {
    const length = number(block, at);
    const end = at + 4 + length;
    if (end > block.length) throw new SpdyError('headers are cut off');
    const value = Buffer.from(block.subarray(at + 4, end)).toString();
    at = end;
    return value;
  };
  for (let left = number(block, 0); left > 0; left--) {
    const name = text().toLowerCase();
    headers[name] = text().split('\0')[0] ?? '';
  }
  return headers;
}

/** No headers at all, for a reply; compressed. */
export const NO_HEADERS = word(0);

function frameOf(first: number, flags: number, payload: Buffer): SpdyFrame {
  if ((first & CONTROL_BIT) === 0) {
    const isLast = (flags & FIN_FLAG) !== 0;
    return { type: 'data', stream: first & ID_BITS, isLast, bytes: Buffer.from(payload) };
  }
  const version = (first >>> 16) & 0x7fff;
  if (version !== VERSION) throw new SpdyError(`version ${version} is not SPDY/3`);
  return { type: 'control', kind: first & 0xffff, flags, payload: Buffer.from(payload) };
}

function frame(first: number, flags: number, payload: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(HEAD_BYTES + payload.byteLength);
  bytes.writeUInt32BE(first, 0);
  bytes.writeUInt32BE(((flags << 24) | payload.byteLength) >>> 0, 4);
  bytes.set(payload, HEAD_BYTES);
  return bytes;
}

function number(bytes: Uint8Array, at: number): number {
  if (at + 4 > bytes.byteLength) throw new SpdyError('a frame is cut off');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readUInt32BE(at);
}
