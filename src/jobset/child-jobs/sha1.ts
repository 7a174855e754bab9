/**
 * SHA-1 of a text's UTF-8 bytes, as lower-case hex. The API defines the job-key label by it, and the
 * domain may not reach for the platform's digest. It protects nothing: it only makes short keys. Each
 * Job needs one, so all words are kept as signed 32-bit integers, which cost no memory.
 */
export function sha1Hex(text: string): string {
  const bytes = ENCODER.encode(text);
  const padded = paddedMessage(bytes);
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  const schedule = new Int32Array(ROUNDS);
  for (let offset = 0; offset < padded.byteLength; offset += BLOCK_BYTES) {
    for (let i = 0; i < BLOCK_WORDS; i++) schedule[i] = padded.getInt32(offset + i * 4);
    compress(state, schedule);
  }
  let hex = '';
  for (const word of state) hex += (word >>> 0).toString(16).padStart(8, '0');
  return hex;
}

const ENCODER = new TextEncoder();
const BLOCK_WORDS = 16;
const BLOCK_BYTES = 64;
const ROUNDS = 80;

/** The message with its end marker and its length in bits. */
function paddedMessage(bytes: Uint8Array): DataView {
  const blocks = Math.ceil((bytes.length + 9) / BLOCK_BYTES);
  const padded = new Uint8Array(blocks * BLOCK_BYTES);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
  return view;
}

/** Takes one block, the first words of the schedule, into the state. */
function compress(state: Int32Array, schedule: Int32Array): void {
  const at = (i: number): number => schedule[i] ?? 0;
  for (let i = BLOCK_WORDS; i < ROUNDS; i++) {
    schedule[i] = rotate(at(i - 3) ^ at(i - 8) ^ at(i - 14) ^ at(i - 16), 1);
  }
  const [h0 = 0, h1 = 0, h2 = 0, h3 = 0, h4 = 0] = state;
  let a = h0;
  let b = h1;
  let c = h2;
  let d = h3;
  let e = h4;
  for (let i = 0; i < ROUNDS; i++) {
    const next = (rotate(a, 5) + mix(i, b, c, d) + e + at(i)) | 0;
    e = d;
    d = c;
    c = rotate(b, 30);
    b = a;
    a = next;
  }
  state[0] = h0 + a;
  state[1] = h1 + b;
  state[2] = h2 + c;
  state[3] = h3 + d;
  state[4] = h4 + e;
}

function mix(round: number, b: number, c: number, d: number): number {
  if (round < 20) return (((b & c) | (~b & d)) + 0x5a827999) | 0;
  if (round < 40) return ((b ^ c ^ d) + 0x6ed9eba1) | 0;
  if (round < 60) return (((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc) | 0;
  return ((b ^ c ^ d) + 0xca62c1d6) | 0;
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
