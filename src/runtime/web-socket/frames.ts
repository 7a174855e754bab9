/**
 * Frames of the WebSocket protocol (RFC 6455, section 5) as bytes. Pure, but for the reader's memory
 * of a frame that has arrived in part. No extensions are negotiated, so reserved bits are errors.
 */
export interface Frame {
  readonly isFinal: boolean;
  readonly opcode: number;
  readonly payload: Uint8Array;
}

export const CONTINUATION = 0x0;
export const TEXT = 0x1;
export const BINARY = 0x2;
export const CLOSE = 0x8;
export const PING = 0x9;
export const PONG = 0xa;

/** Codes of a close frame (section 7.4.1). */
export const NORMAL_CLOSURE = 1000;
export const PROTOCOL_ERROR = 1002;
export const MESSAGE_TOO_BIG = 1009;

const FINAL_BIT = 0x80;
const RESERVED_BITS = 0x70;
const OPCODE_BITS = 0x0f;
const MASK_BIT = 0x80;
const LENGTH_BITS = 0x7f;
const LENGTH_16 = 126;
const LENGTH_64 = 127;
const MASK_BYTES = 4;
const MAX_CONTROL_BYTES = 125;
const MAX_LENGTH_16 = 0xffff;
const KNOWN_OPCODES: readonly number[] = [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG];

/** What the other side sent cannot be understood; the connection is to be closed with `code`. */
export class WebSocketError extends Error {
  override readonly name = 'WebSocketError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface FrameReaderOptions {
  readonly maxPayloadBytes: number;
  /** What a client sends is masked, what a server sends is not. */
  readonly from: 'client' | 'server';
}

/** Takes bytes in any pieces and gives the frames that are complete. */
export class FrameReader {
  readonly #options: FrameReaderOptions;
  #pending: Buffer = Buffer.alloc(0);

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  /** Throws `WebSocketError`; the reader is of no use then. */
  push(chunk: Uint8Array): readonly Frame[] {
    this.#pending = this.#pending.length === 0 ? asBuffer(chunk) : joined(this.#pending, chunk);
    const frames: Frame[] = [];
    for (;;) {
      const head = headOf(this.#pending, this.#options);
      if (head === undefined || this.#pending.length < head.end) return frames;
      frames.push(frameAt(this.#pending, head));
      this.#pending = this.#pending.subarray(head.end);
    }
  }
}

/** As a server sends it, or masked as a client does. */
export function encodeFrame(
  opcode: number,
  payload: Uint8Array,
  options: { readonly isFinal?: boolean; readonly mask?: Uint8Array } = {},
): Uint8Array {
  const { isFinal = true, mask } = options;
  const size = payload.byteLength;
  const extra = size < LENGTH_16 ? 0 : size <= MAX_LENGTH_16 ? 2 : 8;
  const start = 2 + extra + (mask === undefined ? 0 : MASK_BYTES);
  const frame = Buffer.alloc(start + size);
  frame[0] = (isFinal ? FINAL_BIT : 0) | opcode;
  frame[1] =
    (mask === undefined ? 0 : MASK_BIT) |
    (extra === 0 ? size : extra === 2 ? LENGTH_16 : LENGTH_64);
  if (extra === 2) frame.writeUInt16BE(size, 2);
  if (extra === 8) frame.writeBigUInt64BE(BigInt(size), 2);
  frame.set(payload, start);
  if (mask !== undefined) {
    frame.set(mask, start - MASK_BYTES);
    unmask(frame.subarray(start), mask);
  }
  return frame;
}

interface Head {
  readonly isFinal: boolean;
  readonly opcode: number;
  readonly maskAt: number | undefined;
  readonly start: number;
  readonly end: number;
}

/** Undefined while the head itself is not complete. */
function headOf(bytes: Buffer, { maxPayloadBytes, from }: FrameReaderOptions): Head | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  const opcode = first & OPCODE_BITS;
  const isFinal = (first & FINAL_BIT) !== 0;
  const isMasked = (second & MASK_BIT) !== 0;
  const short = second & LENGTH_BITS;
  if ((first & RESERVED_BITS) !== 0) throw malformed('reserved bits are set');
  if (!KNOWN_OPCODES.includes(opcode)) throw malformed(`the opcode ${opcode} is unknown`);
  if (isMasked !== (from === 'client')) throw malformed(`a frame of a ${from} has the wrong mask`);
  if (opcode >= CLOSE && (!isFinal || short > MAX_CONTROL_BYTES)) {
    throw malformed('a control frame is fragmented or too long');
  }
  const extra = short === LENGTH_16 ? 2 : short === LENGTH_64 ? 8 : 0;
  if (bytes.length < 2 + extra) return undefined;
  const size =
    extra === 0 ? short : extra === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (size > maxPayloadBytes) {
    throw new WebSocketError(
      MESSAGE_TOO_BIG,
      `${size} bytes in a frame, ${maxPayloadBytes} allowed`,
    );
  }
  const start = 2 + extra + (isMasked ? MASK_BYTES : 0);
  return {
    isFinal,
    opcode,
    maskAt: isMasked ? 2 + extra : undefined,
    start,
    end: start + size,
  };
}

function frameAt(bytes: Buffer, { isFinal, opcode, maskAt, start, end }: Head): Frame {
  // A copy: the piece that it came in may be kept by somebody else.
  const payload = Buffer.from(bytes.subarray(start, end));
  if (maskAt !== undefined) unmask(payload, bytes.subarray(maskAt, maskAt + MASK_BYTES));
  return { isFinal, opcode, payload };
}

function unmask(payload: Uint8Array, mask: Uint8Array): void {
  for (let i = 0; i < payload.length; i++) {
    payload[i] = (payload[i] ?? 0) ^ (mask[i % MASK_BYTES] ?? 0);
  }
}

function malformed(why: string): WebSocketError {
  return new WebSocketError(PROTOCOL_ERROR, why);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function joined(before: Buffer, chunk: Uint8Array): Buffer {
  return Buffer.concat([before, chunk]);
}
