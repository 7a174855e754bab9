/**
 * SHA-1 of a text's UTF-8 bytes, as lower-case hex. The API defines the job-key label by it, and the
 * domain may not reach for the platform's digest. It protects nothing: it only makes short keys. Each
 * Job needs one, so it works in place on signed 32-bit words, and looks two hex digits up at a time.
 */
export function sha1Hex(text: string): string {
  const words = paddedWords(byteText(text));
  let state: State = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476, 0xc3d2e1f0 | 0];
  for (let block = 0; block < words.length; block += BLOCK_WORDS) {
    state = compress(state, words, block);
  }
  const [h0, h1, h2, h3, h4] = state;
  return hexOf(h0) + hexOf(h1) + hexOf(h2) + hexOf(h3) + hexOf(h4);
}

type State = readonly [number, number, number, number, number];

const BLOCK_WORDS = 16;
const BLOCK_BYTES = 64;
const ENCODER = new TextEncoder();
const BEYOND_ASCII = /[^ -~]/;

/** One character for each byte. Names are printable ASCII and need no encoder. */
function byteText(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text;
  return Array.from(ENCODER.encode(text), (byte) => String.fromCharCode(byte)).join('');
}

/** The message with its end marker and its length in bits, of which the upper word is always 0. */
function paddedWords(bytes: string): Int32Array {
  const { length } = bytes;
  const words = new Int32Array(Math.ceil((length + 9) / BLOCK_BYTES) * BLOCK_WORDS);
  for (let i = 0; i < length; i++) putByte(words, i, bytes.charCodeAt(i));
  putByte(words, length, 0x80);
  words[words.length - 1] = length * 8;
  return words;
}

function putByte(words: Int32Array, at: number, byte: number): void {
  const word = at >> 2;
  words[word] = (words[word] ?? 0) | (byte << (24 - 8 * (at & 3)));
}

/** The state after one block, whose words are used up by it. */
function compress([h0, h1, h2, h3, h4]: State, words: Int32Array, block: number): State {
  let a = h0;
  let b = h1;
  let c = h2;
  let d = h3;
  let e = h4;
  for (let round = 0; round < 80; round++) {
    const word = scheduled(words, block, round);
    const next = (rotate(a, 5) + mix(round, b, c, d) + e + word) | 0;
    e = d;
    d = c;
    c = rotate(b, 30);
    b = a;
    a = next;
  }
  return [(h0 + a) | 0, (h1 + b) | 0, (h2 + c) | 0, (h3 + d) | 0, (h4 + e) | 0];
}

/** Only the last 16 words of the schedule are ever needed, so each takes the place of the 17th last. */
function scheduled(words: Int32Array, block: number, round: number): number {
  const at = block + (round & 15);
  const word = words[at] ?? 0;
  if (round < BLOCK_WORDS) return word;
  const third = words[block + ((round + 13) & 15)] ?? 0;
  const eighth = words[block + ((round + 8) & 15)] ?? 0;
  const fourteenth = words[block + ((round + 2) & 15)] ?? 0;
  const next = rotate(third ^ eighth ^ fourteenth ^ word, 1);
  words[at] = next;
  return next;
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

const HEX_BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hexOf(word: number): string {
  return hexByte(word >>> 24) + hexByte(word >>> 16) + hexByte(word >>> 8) + hexByte(word);
}

function hexByte(bits: number): string {
  return HEX_BYTES[bits & 0xff] ?? '';
}
