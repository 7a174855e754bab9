/**
 * SHA-1 of a text's UTF-8 bytes, as lower-case hex. The API defines the job-key label by it, and the
 * domain may not reach for the platform's digest. It protects nothing: it only makes short keys.
 */
export function sha1Hex(text: string): string {
  const words = paddedWords(new TextEncoder().encode(text));
  let state: State = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
  for (let block = 0; block < words.length; block += BLOCK_WORDS) {
    state = compress(state, words.subarray(block, block + BLOCK_WORDS));
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

type State = readonly [number, number, number, number, number];

const BLOCK_WORDS = 16;
const ROUNDS = 80;

/** The message with its end marker and its length in bits, as big-endian 32-bit words. */
function paddedWords(bytes: Uint8Array): Uint32Array {
  const blocks = Math.ceil((bytes.length + 9) / 64);
  const view = new DataView(new ArrayBuffer(blocks * 64));
  for (const [i, byte] of bytes.entries()) view.setUint8(i, byte);
  view.setUint8(bytes.length, 0x80);
  view.setBigUint64(blocks * 64 - 8, BigInt(bytes.length) * 8n);
  return Uint32Array.from({ length: blocks * BLOCK_WORDS }, (_, i) => view.getUint32(i * 4));
}

function compress(state: State, block: Uint32Array): State {
  const schedule = new Uint32Array(ROUNDS);
  schedule.set(block);
  const at = (i: number): number => schedule[i] ?? 0;
  for (let i = BLOCK_WORDS; i < ROUNDS; i++) {
    schedule[i] = rotate(at(i - 3) ^ at(i - 8) ^ at(i - 14) ^ at(i - 16), 1);
  }
  let [a, b, c, d, e] = state;
  for (let i = 0; i < ROUNDS; i++) {
    const next = (rotate(a, 5) + mix(i, b, c, d) + e + at(i)) >>> 0;
    [a, b, c, d, e] = [next, a, rotate(b, 30), c, d];
  }
  const [h0, h1, h2, h3, h4] = state;
  return [(h0 + a) | 0, (h1 + b) | 0, (h2 + c) | 0, (h3 + d) | 0, (h4 + e) | 0];
}

function mix(round: number, b: number, c: number, d: number): number {
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

function rotate(word: number, bits: number): number {
  return ((word << bits) | (word >>> (32 - bits))) >>> 0;
}
