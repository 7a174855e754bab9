/** Serves with a certificate from files that are replaced while the process runs. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import { isKeyPair, type KeyPair } from './certificates.ts';

/** Kubernetes updates a mounted Secret within a minute or two of its change. */
const REVIEW_INTERVAL_MS = 10_000;

/**
 * Follows `tls.crt` and `tls.key` in a directory, such as a mounted Secret that a certificate
 * manager renews. Calls `onChange` for each matching pair. Unusable files are logged and read again
 * later.
 */
export function followCertificateFiles(options: {
  readonly directory: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onChange: (pair: KeyPair) => void;
}): { stop(): void } {
  const { directory, clock, logger, onChange } = options;
  let timer: { cancel(): void } | undefined;
  let isStopped = false;
  let known = '';
  const look = async (): Promise<void> => {
    try {
      const pair = await readPair(directory);
      if (isStopped || known === pair.certificate + pair.key) return;
      onChange(pair);
      known = pair.certificate + pair.key;
      const { subject, validTo } = new X509Certificate(pair.certificate);
      logger.info('took a certificate from files', { directory, subject, validTo });
    } catch (error) {
      logger.warn('no certificate could be taken from files', { directory, err: String(error) });
    }
  };
  const follow = async (): Promise<void> => {
    await look();
    if (!isStopped) timer = clock.setTimer(REVIEW_INTERVAL_MS, () => void follow());
  };
  void follow();
  return {
    stop: () => {
      isStopped = true;
      timer?.cancel();
    },
  };
}

async function readPair(directory: string): Promise<KeyPair> {
  const [certificate, key] = await Promise.all([
    readFile(join(directory, 'tls.crt'), 'utf8'),
    readFile(join(directory, 'tls.key'), 'utf8'),
  ]);
  // During a rotation one file may be new and the other still old.
  if (!isKeyPair({ certificate, key })) throw new Error('tls.key is not the key of tls.crt');
  return { certificate, key };
}
