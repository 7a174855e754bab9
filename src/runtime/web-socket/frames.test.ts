import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BINARY,
  CLOSE,
  CONTINUATION,
  encodeFrame,
  type Frame,
  FrameReader,
  MESSAGE_TOO_BIG,
  PING,
  PROTOCOL_ERROR,
  TEXT,
  WebSocketError,
} from './frames.ts';

const MASK = Uint8Array.of(1, 2, 3, 4);
const OPTIONS = { maxPayloadBytes: 100_000, from: 'client' } as const;

describe('frames', () => {
  it('are read as they were written, however the bytes are cut', () => {
    const frame = fc.record({
      opcode: fc.constantFrom(CONTINUATION, TEXT, BINARY),
      isFinal: fc.boolean(),
      payload: fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom(125, 126, 65_535, 65_536).map((size) => new Uint8Array(size).fill(7)),
      ),
      mask: fc.uint8Array({ minLength: 4, maxLength: 4 }),
    });
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1 }),
        (frames, cuts) => {
          const bytes = Buffer.concat(
            frames.map(({ opcode, payload, isFinal, mask }) =>
              encodeFrame(opcode, payload, { isFinal, mask }),
            ),
          );
          const reader = new FrameReader(OPTIONS);
          const read: Frame[] = [];
          for (let at = 0, i = 0; at < bytes.length; i++) {
            const size = cuts[i % cuts.length] ?? 1;
            read.push(...reader.push(bytes.subarray(at, at + size)));
            at += size;
          }
          expect(read.map(plain)).toEqual(frames.map(plain));
        },
      ),
      { numRuns: 50 },
    );
  });

  it.each([
    ['an unmasked frame of a client', encodeFrame(BINARY, MASK), PROTOCOL_ERROR],
    ['reserved bits', Uint8Array.of(0xc2, 0x80), PROTOCOL_ERROR],
    ['an unknown opcode', Uint8Array.of(0x83, 0x80), PROTOCOL_ERROR],
    ['a fragmented ping', encodeFrame(PING, MASK, { isFinal: false, mask: MASK }), PROTOCOL_ERROR],
    ['a long close', encodeFrame(CLOSE, Buffer.alloc(126), { mask: MASK }), PROTOCOL_ERROR],
    [
      'more than is allowed',
      encodeFrame(BINARY, Buffer.alloc(100_001), { mask: MASK }),
      MESSAGE_TOO_BIG,
    ],
    [
      'a length beyond all numbers',
      Uint8Array.of(0x82, 0xff, 255, 255, 255, 255, 255, 255, 255, 255),
      MESSAGE_TOO_BIG,
    ],
  ])('refuse %s', (_, bytes, code) => {
    try {
      new FrameReader(OPTIONS).push(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(WebSocketError);
      expect((error as WebSocketError).code).toBe(code);
      return;
    }
    expect.fail('it was accepted');
  });
});

function plain({ opcode, isFinal, payload }: Frame) {
  return { opcode, isFinal, payload: Buffer.from(payload).toString('hex') };
}
