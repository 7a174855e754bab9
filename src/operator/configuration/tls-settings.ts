/** TLS versions and cipher suites of the operator's servers. */
/** With OpenSSL's names, as Node expects them. */
export interface TlsSettings {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** Absent: Node's defaults. */
  readonly ciphers?: string;
}

/** `minVersion` in Go's words, and cipher suites by their IANA names, as Kubernetes writes them. */
export const TLS_VERSIONS = { VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' } as const;

export type TlsVersion = keyof typeof TLS_VERSIONS;

const AES_128 = 'AES128-GCM-SHA256';
const AES_256 = 'AES256-GCM-SHA384';

/** Suites up to TLS 1.2 that both Go and OpenSSL know; those without forward secrecy come last. */
const CIPHER_SUITES: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: `ECDHE-ECDSA-${AES_128}`,
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: `ECDHE-ECDSA-${AES_256}`,
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: `ECDHE-RSA-${AES_128}`,
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: `ECDHE-RSA-${AES_256}`,
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_RSA_WITH_AES_128_GCM_SHA256: AES_128,
  TLS_RSA_WITH_AES_256_GCM_SHA384: AES_256,
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
};

/** Always offered with TLS 1.3, as in Go; a configured list is about TLS 1.2. */
const TLS13_SUITES = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
];

export function tlsSettings(minVersion: TlsVersion, suites: readonly string[]): TlsSettings {
  const version = TLS_VERSIONS[minVersion];
  if (suites.length === 0) return { minVersion: version };
  const named = suites.flatMap((suite) => CIPHER_SUITES[suite] ?? []);
  return { minVersion: version, ciphers: [...TLS13_SUITES, ...named].join(':') };
}

/** All suites that a file may name. */
export const CIPHER_SUITE_NAMES: readonly string[] = [
  ...Object.keys(CIPHER_SUITES),
  ...TLS13_SUITES,
];
