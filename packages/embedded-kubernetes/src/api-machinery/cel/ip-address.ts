/**
 * IP addresses and ranges as numbers, in the strict forms that Go's `netip` and Kubernetes accept.
 */
import { CidrValue, IpValue } from './value.ts';

const BITS = { 4: 32, 6: 128 } as const;

/** Undefined for an invalid address, an address with a zone, or an IPv4-mapped IPv6 address. */
export function parseIp(text: string): IpValue | undefined {
  const v4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (v4 === null) return text.includes(':') ? parseIpv6(text) : undefined;
  let address = 0n;
  for (const octet of v4.slice(1)) {
    if (Number(octet) > 255 || (octet.length > 1 && octet.startsWith('0'))) return undefined;
    address = (address << 8n) | BigInt(octet);
  }
  return new IpValue(4, address);
}

/** `192.168.0.0/24`; undefined for anything else. */
export function parseCidr(text: string): CidrValue | undefined {
  const slash = text.indexOf('/');
  const ip = slash < 0 ? undefined : parseIp(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  if (ip === undefined || !/^(?:0|[1-9]\d{0,2})$/.test(bits)) return undefined;
  return Number(bits) > BITS[ip.family] ? undefined : new CidrValue(ip, Number(bits));
}

export function contains({ ip, prefixLength }: CidrValue, other: IpValue): boolean {
  if (ip.family !== other.family) return false;
  const rest = BigInt(BITS[ip.family] - prefixLength);
  return ip.address >> rest === other.address >> rest;
}

/** The range with all bits after its prefix cleared. */
export function masked({ ip, prefixLength }: CidrValue): CidrValue {
  const rest = BigInt(BITS[ip.family] - prefixLength);
  return new CidrValue(new IpValue(ip.family, (ip.address >> rest) << rest), prefixLength);
}

/** The canonical form (RFC 5952): the longest run of zeros is left out. */
export function addressText({ family, address }: IpValue): string {
  if (family === 4) {
    return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 0xffn).join('.');
  }
  const groups = Array.from({ length: GROUPS }, (_, index) =>
    ((address >> BigInt(16 * (GROUPS - 1 - index))) & 0xffffn).toString(16),
  );
  const run = longestZeros(groups);
  if (run.length < 2) return groups.join(':');
  const before = groups.slice(0, run.start).join(':');
  return `${before}::${groups.slice(run.start + run.length).join(':')}`;
}

const GROUPS = 8;

function parseIpv6(text: string): IpValue | undefined {
  const halves = text.split('::');
  const [head = '', tail] = halves;
  if (halves.length > 2) return undefined;
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = GROUPS - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...before, ...Array<string>(missing).fill('0'), ...after];
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  const address = groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
  const isMapped = address >> 32n === 0xffffn;
  return isMapped ? undefined : new IpValue(6, address);
}

function longestZeros(groups: readonly string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === '0') length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}
