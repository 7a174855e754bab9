/** The compression of SPDY's headers: one zlib stream in each direction of a session. */

/** A zlib stream without a dictionary of its own. */
const ZLIB_HEAD = Uint8Array.of(0x78, 0x01);
/** An empty block, which makes readers hand over what came before it. */
const FLUSH = Uint8Array.of(0, 0, 0, 0xff, 0xff);

/** Packs without compression (RFC 1951, 3.2.4), because our headers have only a few bytes. */
export class HeaderPacker {
  #hasBegun = false;

  pack(block: Uint8Array): Uint8Array {
    const head = Buffer.alloc(5);
    head.writeUInt16LE(block.byteLength, 1);
    head.writeUInt16LE(~block.byteLength & 0xffff, 3);
    const begin = this.#hasBegun ? [] : [ZLIB_HEAD];
    this.#hasBegun = true;
    return Buffer.concat([...begin, head, block, FLUSH]);
  }
}
