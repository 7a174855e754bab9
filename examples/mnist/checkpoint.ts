/**
 * A checkpoint file: the step in 8 bytes, then parameters and momentum as 32-bit floats. It is
 * written beside the old one and renamed over it, so a crash leaves either the old or the new.
 */
import { open, readFile, rename } from 'node:fs/promises';
import { PARAMETER_COUNT } from './perceptron.ts';

const HEADER_BYTES = 8;
const BYTES_PER_FLOAT = 4;

export interface Checkpoint {
  /** How many steps were completed when it was written. */
  readonly step: number;
  readonly parameters: Float32Array;
  readonly momentum: Float32Array;
}

export async function writeCheckpoint(directory: string, checkpoint: Checkpoint): Promise<void> {
  const header = new DataView(new ArrayBuffer(HEADER_BYTES));
  header.setFloat64(0, checkpoint.step);
  const temporary = `${directory}/checkpoint.tmp`;
  const file = await open(temporary, 'w');
  try {
    await file.writev([header, checkpoint.parameters, checkpoint.momentum]);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, `${directory}/checkpoint`);
}

/** The last complete checkpoint, or undefined if there is none. */
export async function readCheckpoint(directory: string): Promise<Checkpoint | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(`${directory}/checkpoint`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const expected = HEADER_BYTES + 2 * PARAMETER_COUNT * BYTES_PER_FLOAT;
  if (bytes.length !== expected) {
    throw new Error(`${directory}/checkpoint has ${bytes.length} bytes, expected ${expected}`);
  }
  const copy = new Uint8Array(bytes).buffer;
  return {
    step: new DataView(copy).getFloat64(0),
    parameters: new Float32Array(copy, HEADER_BYTES, PARAMETER_COUNT),
    momentum: new Float32Array(
      copy,
      HEADER_BYTES + PARAMETER_COUNT * BYTES_PER_FLOAT,
      PARAMETER_COUNT,
    ),
  };
}
