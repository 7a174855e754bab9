/**
 * The certificate authorities by which an agent trusts its hub: authorities from its Job's template,
 * and from a mounted ConfigMap, which follows the hub as they change. The template's authorities
 * always stay trusted, so a bad file cannot cut the agent off.
 */
import { X509Certificate } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';

/** The file holds at most eight authorities of some 600 bytes each. */
const MAX_FILE_BYTES = 64 * 1024;
const MAX_AUTHORITIES = 16;

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----/g;

/** Reads the file at each call. Returns PEM, always the same text for the same authorities. */
export function hubAuthorities(told: string, path: string, logger: Logger): () => Promise<string> {
  let problem: string | undefined;
  return async () => {
    const found = await readAuthorities(path);
    if (found.problem !== undefined && found.problem !== problem) {
      logger.warn('the file with the authorities of the hub is not used', {
        path,
        why: found.problem,
      });
    }
    problem = found.problem;
    const others = found.authorities.filter((authority) => !told.includes(authority));
    return [told, ...others].map((pem) => `${pem.trimEnd()}\n`).join('');
  };
}

interface Found {
  readonly authorities: readonly string[];
  readonly problem?: string;
}

async function readAuthorities(path: string): Promise<Found> {
  let text: string;
  try {
    text = await readStart(path, MAX_FILE_BYTES + 1);
  } catch (error) {
    // The operator has not written the file yet, or its version writes none.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return { authorities: [] };
    }
    return { authorities: [], problem: String(error) };
  }
  if (text.length > MAX_FILE_BYTES) {
    return { authorities: [], problem: `it has more than ${MAX_FILE_BYTES} bytes` };
  }
  const blocks = text.match(PEM_CERTIFICATE) ?? [];
  const authorities = blocks.slice(0, MAX_AUTHORITIES).filter(isAuthority);
  return authorities.length > 0
    ? { authorities }
    : { authorities, problem: 'it holds no certificate of an authority' };
}

async function readStart(path: string, length: number): Promise<string> {
  const file = await open(path);
  try {
    const buffer = Buffer.alloc(length);
    let size = 0;
    while (size < length) {
      const { bytesRead } = await file.read(buffer, size, length - size);
      if (bytesRead === 0) break;
      size += bytesRead;
    }
    return buffer.toString('latin1', 0, size);
  } finally {
    await file.close();
  }
}

function isAuthority(pem: string): boolean {
  try {
    return new X509Certificate(pem).ca;
  } catch {
    return false;
  }
}
