/**
 * Which certificates the webhooks use, and when they change. Everything is in one Secret, so that
 * all replicas agree: the trusted authorities, newest first, the key of the newest, and the serving
 * certificate. The published `caBundle` always has all authorities.
 *
 * API servers first only trust a new authority. It signs when all of them have had time to see it,
 * and its predecessor stays trusted until it expires. So at each moment there is a certificate that
 * all API servers accept, even if a replica or an API server is late.
 */
import {
  certificateFacts,
  createCertificateAuthority,
  isKeyPair,
  isSignedBy,
  issueCertificate,
  isValidFor,
  type KeyPair,
  loadCertificateAuthority,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';

export interface WebhookCertificates {
  /** PEM, newest first, at least one. The first signs, all are trusted. */
  readonly authorities: readonly [string, ...string[]];
  /** PEM, of the newest authority. */
  readonly authorityKey: string;
  readonly serving: KeyPair;
}

export interface CertificateNeeds {
  /** DNS names and IP addresses that API servers call. */
  readonly hosts: readonly string[];
  readonly clock: Clock;
  /** Whether every API server can be expected to trust this authority by now. */
  readonly isTrusted: (authority: string) => boolean;
}

export type CertificatePlan =
  | { readonly kind: 'Keep'; readonly certificates: WebhookCertificates }
  | {
      readonly kind: 'Replace';
      readonly certificates: WebhookCertificates;
      /** For the log. */
      readonly why: string;
    };

/** Decides from the contents of the Secret; undefined if it is missing, or has no certificates. */
export function planCertificates(
  held: WebhookCertificates | undefined,
  needs: CertificateNeeds,
): CertificatePlan {
  if (held === undefined) {
    const certificates = withServing(freshAuthority([], needs), needs.hosts, needs);
    return { kind: 'Replace', certificates, why: 'there are none yet' };
  }
  const [newest, ...older] = held.authorities;
  const trusted = older.filter((one) => isLive(one, needs));
  const authorityDue = authorityProblem(held, needs);
  const signing =
    authorityDue === undefined
      ? { ...held, authorities: [newest, ...trusted] as const }
      : freshAuthority(isLive(newest, needs) ? [newest, ...trusted] : trusted, needs);
  const problem = servingProblem(held, needs);
  if (problem !== undefined) {
    // Replicas with other names add their names, so that they do not undo each other's changes.
    const hosts = [...new Set([...needs.hosts, ...hostsOf(held.serving)])];
    return { kind: 'Replace', certificates: withServing(signing, hosts, needs), why: problem };
  }
  if (authorityDue !== undefined) {
    const certificates = { ...signing, serving: held.serving };
    return { kind: 'Replace', certificates, why: authorityDue };
  }
  const renewal = servingRenewal(held, needs);
  if (renewal === undefined) return { kind: 'Keep', certificates: held };
  const certificates = withServing(signing, needs.hosts, needs);
  return { kind: 'Replace', certificates, why: renewal };
}

/** Two years. It is replaced while certificates that it signed may still have to last. */
export const AUTHORITY_DAYS = 730;
export const AUTHORITY_RENEWAL_DAYS = 180;
/**
 * Shorter than the renewal of its authority, so that none outlives the authority that signed it.
 */
export const SERVING_DAYS = 90;
export const SERVING_RENEWAL_DAYS = 30;

/** Earlier authorities only bridge the change; only a fault would make more than these. */
const MAX_AUTHORITIES = 8;

const AUTHORITY_NAME = 'lockstep-webhook-ca';
const SERVER_NAME = 'lockstep-webhook';
const DAY_MS = 86_400_000;

type Authorities = Pick<WebhookCertificates, 'authorities' | 'authorityKey'>;

function freshAuthority(trusted: readonly string[], { clock }: CertificateNeeds): Authorities {
  const made = createCertificateAuthority({
    commonName: AUTHORITY_NAME,
    clock,
    days: AUTHORITY_DAYS,
  });
  const kept = trusted.slice(0, MAX_AUTHORITIES - 1);
  return { authorities: [made.certificate, ...kept], authorityKey: made.key };
}

function withServing(
  signing: Authorities,
  hosts: readonly string[],
  { clock }: CertificateNeeds,
): WebhookCertificates {
  const { authorities, authorityKey } = signing;
  const pair = { certificate: authorities[0], key: authorityKey };
  const serving = issueCertificate(loadCertificateAuthority(pair, clock), {
    commonName: SERVER_NAME,
    dnsNames: hosts.filter((host) => !ADDRESS.test(host)),
    ipAddresses: hosts.filter((host) => ADDRESS.test(host)),
    usages: ['server'],
    days: SERVING_DAYS,
  });
  return { authorities, authorityKey, serving };
}

/** No DNS name has a colon, and no real one has only digits. */
const ADDRESS = /:|^[0-9.]+$/;

function hostsOf({ certificate }: KeyPair): readonly string[] {
  const facts = certificateFacts(certificate);
  return [...(facts?.dnsNames ?? []), ...(facts?.ipAddresses ?? [])];
}

function isLive(authority: string, { clock }: CertificateNeeds): boolean {
  const facts = certificateFacts(authority);
  return facts?.isAuthority === true && facts.notAfterMs > clock.now();
}

/** Why another authority has to sign from now on. */
function authorityProblem(
  { authorities: [newest], authorityKey }: WebhookCertificates,
  needs: CertificateNeeds,
): string | undefined {
  if (!isLive(newest, needs)) return 'the authority is no longer valid';
  if (!isKeyPair({ certificate: newest, key: authorityKey })) {
    return 'the key of the authority is not the one of its certificate';
  }
  const leftMs = (certificateFacts(newest)?.notAfterMs ?? 0) - needs.clock.now();
  return leftMs < AUTHORITY_RENEWAL_DAYS * DAY_MS ? 'the authority expires' : undefined;
}

/** Why the serving certificate cannot be used at all. */
function servingProblem(
  { authorities, serving }: WebhookCertificates,
  needs: CertificateNeeds,
): string | undefined {
  const facts = certificateFacts(serving.certificate);
  if (facts === undefined || !isKeyPair(serving)) {
    return 'the serving certificate and its key cannot be used';
  }
  if (facts.notAfterMs <= needs.clock.now()) return 'the serving certificate has expired';
  const trusted = authorities.filter((one) => isLive(one, needs));
  if (!trusted.some((authority) => isSignedBy(serving.certificate, authority))) {
    return 'no trusted authority signed the serving certificate';
  }
  const missing = needs.hosts.filter((host) => !isValidFor(serving.certificate, host));
  return missing.length === 0
    ? undefined
    : `the serving certificate is not for ${missing.join(', ')}`;
}

/** Why a usable serving certificate is to be replaced now. */
function servingRenewal(
  { authorities: [newest], serving }: WebhookCertificates,
  { clock, isTrusted }: CertificateNeeds,
): string | undefined {
  const isOfNewest = isSignedBy(serving.certificate, newest);
  if (!isOfNewest && isTrusted(newest)) return 'the new authority is trusted everywhere';
  const leftMs = (certificateFacts(serving.certificate)?.notAfterMs ?? 0) - clock.now();
  return isOfNewest && leftMs < SERVING_RENEWAL_DAYS * DAY_MS
    ? 'the serving certificate expires'
    : undefined;
}
