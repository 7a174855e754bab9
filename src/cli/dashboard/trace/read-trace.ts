/** Reads the file of a trace into memory, if it is one. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { quote } from '@lockstep/kube/quote.ts';
import { parseTrace, type Trace, TraceProblem } from './parse-trace.ts';

/** A run of an hour with eight members has a few MiB. In memory, a trace takes several times that. */
const MAX_BYTES = 128 * 1024 * 1024;
const MAX_MIB = MAX_BYTES / 1024 / 1024;

/** Throws a `TraceProblem` whose message names the file. */
export function readTrace(path: string): Trace {
  try {
    return parseTrace(textOf(path));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TraceProblem(`--trace ${quote(path)}: ${why}`, { cause: error });
  }
}

function textOf(path: string): string {
  // A pipe without a writer would hold up the command for ever.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw new TraceProblem('it is no file, expected the file of a trace');
    if (found.size > MAX_BYTES) {
      const mib = Math.ceil(found.size / 1024 / 1024);
      throw new TraceProblem(`it has ${mib} MiB, expected at most ${MAX_MIB}`);
    }
    return decoded(contentOf(file, found.size));
  } finally {
    closeSync(file);
  }
}

/** As many bytes as the file had when it was looked at: another process may still write to it. */
function contentOf(file: number, size: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const read = readSync(file, bytes, length, size - length, null);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new TraceProblem('it is no text in UTF-8, expected lines of JSON');
  }
}
