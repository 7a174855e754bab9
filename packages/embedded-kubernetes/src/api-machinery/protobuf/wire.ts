/**
 * The wire format of protocol buffers, as far as the Kubernetes API uses it: varints, and bytes with
 * their length. Groups are long gone; fixed-width numbers are skipped, since no message has one.
 */
export type WireField =
  | { readonly number: number; readonly value: bigint }
  | { readonly number: number; readonly value: Uint8Array };

/** The text is no protocol buffer; the message says why. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** The fields of one message, in the order in which they were written. */
export function* readFields(message: Uint8Array): Generator<WireField, void> {
  const reader = new WireReader(message);
  while (!reader.isAtEnd) {
    const key = Number(reader.varint());
    const number = Math.floor(key / 8);
    if (number === 0) throw new WireError('illegal tag 0');
    switch (key % 8) {
      case VARINT:
        yield { number, value: reader.varint() };
        break;
      case LENGTH_DELIMITED:
        yield { number, value: reader.bytes(Number(reader.varint())) };
        break;
      case FIXED_64:
        reader.bytes(8);
        break;
      case FIXED_32:
        reader.bytes(4);
        break;
      default:
        throw new WireError(`wire type ${key % 8} is not supported`);
    }
  }
}

/** The varints of a packed list. */
export function* readVarints(packed: Uint8Array): Generator<bigint, void> {
  const reader = new WireReader(packed);
  while (!reader.isAtEnd) yield reader.varint();
}

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;
/** 64 bits in groups of seven. */
const MAX_VARINT_BYTES = 10;

class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.byteLength;
  }

  varint(): bigint {
    let value = 0n;
    for (let index = 0; index < MAX_VARINT_BYTES; index++) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new WireError('unexpected EOF');
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new WireError('integer overflow');
  }

  bytes(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.byteLength) throw new WireError('unexpected EOF');
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }
}
