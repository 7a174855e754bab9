/** Makes and reads X.509 certificates and their keys. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import type { Clock } from '../../ports/clock.ts';
import {
  bitString,
  boolean,
  childrenOf,
  explicit,
  implicit,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  time,
  utf8String,
} from './der.ts';

/** A certificate and its private key, both in PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** A key pair that signs others. Its PEM is enough to load it again. */
export interface CertificateAuthority extends KeyPair {
  readonly clock: Clock;
}

/** The contents of a certificate. */
export interface CertificateRequest {
  /** Kubernetes uses it as the user's name. */
  readonly commonName: string;
  /** Kubernetes uses them as the user's groups. */
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  /** Which end of a connection the holder may be. */
  readonly usages: readonly ('server' | 'client')[];
  readonly days: number;
}

/** A new authority with a self-signed certificate, elliptic curve P-256. */
export function createCertificateAuthority(options: {
  readonly commonName: string;
  readonly clock: Clock;
  readonly days?: number;
}): CertificateAuthority {
  const { clock, commonName, days = AUTHORITY_DAYS } = options;
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = distinguishedName(commonName, []);
  const certificate = signedCertificate({
    issuer: name,
    subject: name,
    publicKey,
    signer: { privateKey, keyIdentifier: keyIdentifierOf(publicKey) },
    validity: validity(clock, days),
    extensions: [
      extension(OID.basicConstraints, true, sequence(boolean(true))),
      extension(OID.keyUsage, true, bitString(KEY_USAGE.authority, 1)),
    ],
  });
  return { certificate, key: pemOf(privateKey), clock };
}

/** Loads an authority that `createCertificateAuthority` made. Throws for an invalid text. */
export function loadCertificateAuthority(pair: KeyPair, clock: Clock): CertificateAuthority {
  const certificate = new X509Certificate(pair.certificate);
  if (!certificate.ca) throw new Error(`${certificate.subject} is no certificate authority`);
  if (!certificate.checkPrivateKey(createPrivateKey(pair.key))) {
    throw new Error(`the private key does not belong to the certificate of ${certificate.subject}`);
  }
  return { ...pair, clock };
}

/** A new key pair, signed by the authority. */
export function issueCertificate(
  authority: CertificateAuthority,
  request: CertificateRequest,
): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const names = subjectAlternativeNames(request);
  const purposes = request.usages.map((usage) => objectIdentifier(PURPOSES[usage]));
  const certificate = signedCertificate({
    issuer: subjectOf(authority),
    subject: distinguishedName(request.commonName, request.organizations ?? []),
    publicKey,
    signer: {
      privateKey: createPrivateKey(authority.key),
      keyIdentifier: keyIdentifierOf(createPublicKey(authority.certificate)),
    },
    validity: validity(authority.clock, request.days),
    extensions: [
      extension(OID.basicConstraints, true, sequence()),
      extension(OID.keyUsage, true, bitString(KEY_USAGE.holder, 7)),
      extension(OID.extendedKeyUsage, false, sequence(...purposes)),
      ...(names.length === 0 ? [] : [extension(OID.alternativeNames, false, sequence(...names))]),
    ],
  });
  return { certificate, key: pemOf(privateKey) };
}

/** The facts that decide whether a certificate can still be used. */
export interface CertificateFacts {
  readonly notAfterMs: number;
  readonly isAuthority: boolean;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** Undefined for an invalid text. */
export function certificateFacts(certificate: string): CertificateFacts | undefined {
  const parsed = parsedCertificate(certificate);
  if (parsed === undefined) return undefined;
  const names = (parsed.subjectAltName ?? '').split(', ');
  const having = (prefix: string): readonly string[] =>
    names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  return {
    notAfterMs: Date.parse(parsed.validTo),
    isAuthority: parsed.ca,
    dnsNames: having('DNS:'),
    ipAddresses: having('IP Address:'),
  };
}

/** Whether both are certificates and the second's private key has signed the first. */
export function isSignedBy(certificate: string, authority: string): boolean {
  const [holder, issuer] = [parsedCertificate(certificate), parsedCertificate(authority)];
  if (holder === undefined || issuer === undefined) return false;
  return holder.checkIssued(issuer) && holder.verify(issuer.publicKey);
}

/** Whether the key is a private key, and belongs to the certificate. */
export function isKeyPair({ certificate, key }: KeyPair): boolean {
  try {
    return parsedCertificate(certificate)?.checkPrivateKey(createPrivateKey(key)) ?? false;
  } catch {
    // An invalid key belongs to no certificate.
    return false;
  }
}

/** Whether clients accept the certificate for this host name or address. */
export function isValidFor(certificate: string, host: string): boolean {
  const parsed = parsedCertificate(certificate);
  if (parsed === undefined) return false;
  const isAddress = isIPv4(host) || isIPv6(host);
  return (isAddress ? parsed.checkIP(host) : parsed.checkHost(host)) !== undefined;
}

function parsedCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    // Node offers no other way to check whether a text is a certificate.
    return undefined;
  }
}

const AUTHORITY_DAYS = 3_650;
const DAY_MS = 86_400_000;
/** Clocks of machines differ, so certificates are valid from a little before their creation. */
const BACKDATING_MS = 5 * 60_000;

const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
} as const;

const PURPOSES = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;

/** Bits from the highest on: digitalSignature is 0, keyCertSign 5, cRLSign 6. */
const KEY_USAGE = { holder: Buffer.from([0x80]), authority: Buffer.from([0x86]) } as const;

interface Contents {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly signer: { readonly privateKey: KeyObject; readonly keyIdentifier: Buffer };
  readonly validity: Buffer;
  readonly extensions: readonly Buffer[];
}

/** RFC 5280, section 4.1. Both key identifiers are there because strict clients insist on them. */
function signedCertificate(contents: Contents): string {
  const { issuer, subject, publicKey, signer } = contents;
  const algorithm = sequence(objectIdentifier(OID.ecdsaWithSha256));
  const version3 = explicit(0, integer(Buffer.from([2])));
  const own = octetString(keyIdentifierOf(publicKey));
  const authority = sequence(implicit(0, signer.keyIdentifier));
  const extensions = sequence(
    ...contents.extensions,
    extension(OID.subjectKeyIdentifier, false, own),
    extension(OID.authorityKeyIdentifier, false, authority),
  );
  const toBeSigned = sequence(
    version3,
    integer(serialNumber()),
    algorithm,
    issuer,
    contents.validity,
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, extensions),
  );
  const signature = sign('sha256', toBeSigned, signer.privateKey);
  const der = sequence(toBeSigned, algorithm, bitString(signature));
  return new X509Certificate(der).toString();
}

/** 127 random bits: unique without a register, positive, and always of full length. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}

function validity(clock: Clock, days: number): Buffer {
  const start = clock.now() - BACKDATING_MS;
  return sequence(time(start), time(clock.now() + days * DAY_MS));
}

function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  const attribute = (oid: string, value: string): Buffer =>
    setOf(sequence(objectIdentifier(oid), utf8String(value)));
  return sequence(
    ...organizations.map((organization) => attribute(OID.organization, organization)),
    attribute(OID.commonName, commonName),
  );
}

/** The name of the authority, byte for byte, because chains are matched by it. */
function subjectOf({ certificate }: KeyPair): Buffer {
  const [toBeSigned] = childrenOf(new X509Certificate(certificate).raw);
  // Version, serial number, algorithm, issuer, validity, subject.
  const subject = toBeSigned === undefined ? undefined : childrenOf(toBeSigned)[5];
  if (subject === undefined) throw new Error('the certificate of the authority has no subject');
  return subject;
}

function extension(oid: string, isCritical: boolean, value: Buffer): Buffer {
  const critical = isCritical ? [boolean(true)] : [];
  return sequence(objectIdentifier(oid), ...critical, octetString(value));
}

/** RFC 5280, section 4.2.1.2, method 1. */
function keyIdentifierOf(publicKey: KeyObject): Buffer {
  const [, key] = childrenOf(publicKey.export({ type: 'spki', format: 'der' }));
  // The content of the bit string follows its tag, length and count of unused bits.
  return createHash('sha1')
    .update(key?.subarray(3) ?? '')
    .digest();
}

function subjectAlternativeNames(request: CertificateRequest): readonly Buffer[] {
  const { dnsNames = [], ipAddresses = [] } = request;
  return [
    ...dnsNames.map((name) => implicit(2, Buffer.from(name, 'ascii'))),
    ...ipAddresses.map((address) => implicit(7, addressBytes(address))),
  ];
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  if (!isIPv6(address)) throw new Error(`${JSON.stringify(address)} is no IP address`);
  // A URL normalizes an IPv6 address: lower case, no embedded IPv4, at most one gap.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const words = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const [front, back] = [words(head), words(tail ?? '')];
  const gap = Array<string>(8 - front.length - back.length).fill('0');
  return Buffer.from(
    [...front, ...gap, ...back].map((word) => word.padStart(4, '0')).join(''),
    'hex',
  );
}

function pemOf(privateKey: KeyObject): string {
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
