import {
  certificateFacts,
  isSignedBy,
  isValidFor,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { describe, expect, it } from 'vitest';
import { certificatesIn, secretOf } from './certificate-secret.ts';
import {
  AUTHORITY_DAYS,
  AUTHORITY_RENEWAL_DAYS,
  type CertificatePlan,
  planCertificates,
  SERVING_DAYS,
  SERVING_RENEWAL_DAYS,
  type WebhookCertificates,
} from './certificates.ts';

const DAY_MS = 86_400_000;
const HOST = 'hooks.lockstep-system.svc';

class Certificates {
  readonly clock = new VirtualClock();
  held: WebhookCertificates | undefined;
  isTrusted = true;

  plan(hosts: readonly string[] = [HOST]): CertificatePlan {
    const { clock } = this;
    return planCertificates(this.held, { hosts, clock, isTrusted: () => this.isTrusted });
  }

  /** Does what the plan says; returns the reason, or undefined if there was nothing to do. */
  review(hosts?: readonly string[]): string | undefined {
    const plan = this.plan(hosts);
    this.held = plan.certificates;
    return plan.kind === 'Keep' ? undefined : plan.why;
  }

  pass(days: number): Promise<void> {
    return this.clock.advance(days * DAY_MS);
  }

  get now(): WebhookCertificates {
    if (this.held === undefined) throw new Error('there are no certificates');
    return this.held;
  }

  /** Whether a client with this bundle would accept the serving certificate. */
  isAccepted(bundle: readonly string[]): boolean {
    const { certificate } = this.now.serving;
    const isCurrent = (pem: string): boolean =>
      (certificateFacts(pem)?.notAfterMs ?? 0) > this.clock.now();
    const authorities = bundle.filter((authority) => isSignedBy(certificate, authority));
    return isCurrent(certificate) && authorities.some(isCurrent) && isValidFor(certificate, HOST);
  }
}

async function made(): Promise<Certificates> {
  const certificates = new Certificates();
  certificates.review();
  return certificates;
}

describe('certificates of webhooks', () => {
  it('are made once, and kept while they are good', async () => {
    const certificates = new Certificates();
    expect(certificates.review()).toBe('there are none yet');
    expect(certificates.isAccepted(certificates.now.authorities)).toBe(true);
    await certificates.pass(SERVING_DAYS - SERVING_RENEWAL_DAYS - 1);
    expect(certificates.review()).toBeUndefined();
  });

  it('are renewed by the same authority before they expire', async () => {
    const certificates = await made();
    const { authorities } = certificates.now;
    await certificates.pass(SERVING_DAYS - SERVING_RENEWAL_DAYS + 1);
    expect(certificates.review()).toBe('the serving certificate expires');
    expect(certificates.now.authorities).toEqual(authorities);
    expect(certificates.review()).toBeUndefined();
  });

  it('change their authority only when the new one is trusted everywhere', async () => {
    const certificates = await made();
    const before = certificates.now;
    for (let day = 0; day < AUTHORITY_DAYS; day += 20) {
      if (certificates.now.authorities.length > 1) break;
      await certificates.pass(20);
      certificates.review();
    }
    const between = certificates.now;
    expect(between.authorities.slice(1)).toEqual(before.authorities);
    // Clients with the old bundle and clients with the new one both accept the serving certificate.
    expect(certificates.isAccepted(before.authorities)).toBe(true);
    expect(certificates.isAccepted(between.authorities)).toBe(true);

    certificates.isTrusted = false;
    expect(certificates.review()).toBeUndefined();
    certificates.isTrusted = true;
    expect(certificates.review()).toBe('the new authority is trusted everywhere');
    expect(certificates.now.authorities).toEqual(between.authorities);
    expect(certificates.isAccepted(between.authorities.slice(0, 1))).toBe(true);
  });

  it('always serve what the last bundle and this one trust, for three years', async () => {
    const certificates = await made();
    let reasons = 0;
    for (let day = 0; day < 1_095; day += 25) {
      const { authorities } = certificates.now;
      await certificates.pass(25);
      if (certificates.review() !== undefined) reasons++;
      expect(certificates.isAccepted(authorities)).toBe(true);
      expect(certificates.isAccepted(certificates.now.authorities)).toBe(true);
      expect(certificates.now.authorities.length).toBeLessThanOrEqual(2);
    }
    const servingChanges = 1_095 / (SERVING_DAYS - SERVING_RENEWAL_DAYS);
    const authorityChanges = 1_095 / (AUTHORITY_DAYS - AUTHORITY_RENEWAL_DAYS);
    expect(reasons).toBeLessThanOrEqual(servingChanges + 2 * authorityChanges + 1);
  });

  it('come to rest when replicas are called by different names', async () => {
    const certificates = await made();
    expect(certificates.review(['other.svc', '10.0.0.1', '::1'])).toBe(
      'the serving certificate is not for other.svc, 10.0.0.1, ::1',
    );
    for (const host of [HOST, 'other.svc', '10.0.0.1', '::1']) {
      expect(certificates.review([host])).toBeUndefined();
    }
  });

  it.each<[string, (held: WebhookCertificates) => WebhookCertificates, string, number]>([
    [
      'a serving key of another certificate',
      (held) => ({ ...held, serving: { ...held.serving, key: held.authorityKey } }),
      'the serving certificate and its key cannot be used',
      1,
    ],
    [
      'no serving certificate',
      (held) => ({ ...held, serving: { certificate: '', key: '' } }),
      'the serving certificate and its key cannot be used',
      1,
    ],
    [
      'a key that is not the authority’s',
      (held) => ({ ...held, authorityKey: held.serving.key }),
      'the key of the authority is not the one of its certificate',
      2,
    ],
    [
      'an authority that is none',
      (held) => ({ ...held, authorities: [held.serving.certificate] }),
      'no trusted authority signed the serving certificate',
      1,
    ],
    [
      'an authority that is no certificate',
      (held) => ({
        ...held,
        authorities: ['-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n'],
      }),
      'no trusted authority signed the serving certificate',
      1,
    ],
  ])('are repaired where the Secret holds %s', async (_what, spoil, why, authorities) => {
    const certificates = await made();
    certificates.held = spoil(certificates.now);
    expect(certificates.review()).toBe(why);
    expect(certificates.now.authorities).toHaveLength(authorities);
    const reviews = Array.from({ length: 5 }, () => certificates.review());
    expect(reviews.at(-1)).toBeUndefined();
    expect(certificates.isAccepted(certificates.now.authorities)).toBe(true);
  });

  it('are replaced at once when they have expired unseen', async () => {
    const certificates = await made();
    await certificates.pass(AUTHORITY_DAYS + 1);
    certificates.isTrusted = false;
    expect(certificates.review()).toBe('the serving certificate has expired');
    expect(certificates.now.authorities).toHaveLength(1);
    expect(certificates.isAccepted(certificates.now.authorities)).toBe(true);
    expect(certificates.review()).toBeUndefined();
  });

  it('survive their Secret, beside what others keep there', async () => {
    const { now } = await made();
    const at = { namespace: 'lockstep-system', name: 'certificates' };
    const twice = { ...now, authorities: [now.authorities[0], now.authorities[0]] } as const;
    const secret = secretOf(at, twice, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...at, resourceVersion: '7' },
      type: 'kubernetes.io/tls',
      data: { other: 'eA==' },
    });
    expect(secret).toMatchObject({
      metadata: { resourceVersion: '7' },
      type: 'kubernetes.io/tls',
      data: { other: 'eA==' },
    });
    expect(certificatesIn(secret)).toEqual(twice);
    expect(certificatesIn({ ...secret, data: { 'ca.crt': 'not base64, no PEM' } })).toBeUndefined();
  });
});
