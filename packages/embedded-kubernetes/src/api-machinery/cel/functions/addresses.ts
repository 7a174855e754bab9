/** URLs, IP addresses and ranges of them (`k8s.io/apiserver/pkg/cel/library`). */
import { quote } from '@lockstep/kube/quote.ts';
import { addressText, contains, masked, parseCidr, parseIp } from '../ip-address.ts';
import { CHARACTER_COST } from '../limits.ts';
import { CIDR, IP, type Overload, overload, STRING, URL_VALUE } from '../overload.ts';
import { BOOL_TYPE, INT_TYPE, listOf, mapOf, STRING_TYPE } from '../type.ts';
import { CelError, CelList, CelMap, type CelResult, type CelValue, UrlValue } from '../value.ts';

const PASS = { cost: ([size = 0]: readonly number[]) => 1 + size * CHARACTER_COST };
const TEST = { ...PASS, resultSize: () => 1 };

function parseUrl(text: string): UrlValue | undefined {
  // Go also takes a mere path for a URL; JavaScript needs a base for it.
  const isPath = text.startsWith('/');
  const base = isPath ? 'path://' : undefined;
  return URL.canParse(text, base) ? new UrlValue(new URL(text, base), text) : undefined;
}

const isPathOnly = ({ text }: UrlValue): boolean => text.startsWith('/');

const URLS: readonly Overload[] = [
  overload('isURL', [STRING], BOOL_TYPE, ([text]) => parseUrl(text) !== undefined, TEST),
  overload('url', [STRING], URL_VALUE.type, ([text]) => urlOf(text), PASS),
  overload('.getScheme', [URL_VALUE], STRING_TYPE, ([of]) =>
    isPathOnly(of) ? '' : of.url.protocol.replace(':', ''),
  ),
  overload('.getHost', [URL_VALUE], STRING_TYPE, ([of]) => (isPathOnly(of) ? '' : hostOf(of))),
  overload('.getHostname', [URL_VALUE], STRING_TYPE, ([of]) =>
    isPathOnly(of) ? '' : of.url.hostname.replace(/^\[(.*)\]$/, '$1'),
  ),
  overload('.getPort', [URL_VALUE], STRING_TYPE, ([of]) => portOf(of)),
  overload('.getEscapedPath', [URL_VALUE], STRING_TYPE, ([of]) => pathOf(of)),
  overload('.getQuery', [URL_VALUE], mapOf(STRING_TYPE, listOf(STRING_TYPE)), ([of]) =>
    queryOf(of),
  ),
];

const IPS: readonly Overload[] = [
  overload('isIP', [STRING], BOOL_TYPE, ([text]) => parseIp(text) !== undefined, TEST),
  overload('ip', [STRING], IP.type, ([text]) => ipOf(text), PASS),
  overload('ip.isCanonical', [STRING], BOOL_TYPE, ([text]) => {
    const ip = ipOf(text);
    return ip instanceof CelError ? ip : addressText(ip) === text;
  }),
  overload('.family', [IP], INT_TYPE, ([{ family }]) => BigInt(family)),
  overload('string', [IP], STRING_TYPE, ([ip]) => addressText(ip)),
  ...(
    [
      ['.isUnspecified', ['0.0.0.0/32', '::/128']],
      ['.isLoopback', ['127.0.0.0/8', '::1/128']],
      ['.isLinkLocalMulticast', ['224.0.0.0/24', 'ff02::/16']],
      ['.isLinkLocalUnicast', ['169.254.0.0/16', 'fe80::/10']],
    ] as const
  ).map(([name, ranges]) =>
    overload(name, [IP], BOOL_TYPE, ([ip]) =>
      ranges.some((range) => {
        const cidr = parseCidr(range);
        return cidr !== undefined && contains(cidr, ip);
      }),
    ),
  ),
  overload('.isGlobalUnicast', [IP], BOOL_TYPE, ([ip]) => {
    const others = ['0.0.0.0/32', '::/128', '127.0.0.0/8', '::1/128', '224.0.0.0/4', 'ff00::/8'];
    return ![...others, '169.254.0.0/16', 'fe80::/10', '255.255.255.255/32'].some((range) => {
      const cidr = parseCidr(range);
      return cidr !== undefined && contains(cidr, ip);
    });
  }),
];

const CIDRS: readonly Overload[] = [
  overload('isCIDR', [STRING], BOOL_TYPE, ([text]) => parseCidr(text) !== undefined, TEST),
  overload('cidr', [STRING], CIDR.type, ([text]) => cidrOf(text), PASS),
  overload('.containsIP', [CIDR, IP], BOOL_TYPE, ([range, ip]) => contains(range, ip)),
  overload('.containsIP', [CIDR, STRING], BOOL_TYPE, ([range, text]) => {
    const ip = ipOf(text);
    return ip instanceof CelError ? ip : contains(range, ip);
  }),
  overload(
    '.containsCIDR',
    [CIDR, CIDR],
    BOOL_TYPE,
    ([range, other]) => other.prefixLength >= range.prefixLength && contains(range, other.ip),
  ),
  overload('.containsCIDR', [CIDR, STRING], BOOL_TYPE, ([range, text]) => {
    const other = cidrOf(text);
    if (other instanceof CelError) return other;
    return other.prefixLength >= range.prefixLength && contains(range, other.ip);
  }),
  overload('.ip', [CIDR], IP.type, ([{ ip }]) => ip),
  overload('.masked', [CIDR], CIDR.type, ([range]) => masked(range)),
  overload('.prefixLength', [CIDR], INT_TYPE, ([{ prefixLength }]) => BigInt(prefixLength)),
  overload(
    'string',
    [CIDR],
    STRING_TYPE,
    ([{ ip, prefixLength }]) => `${addressText(ip)}/${prefixLength}`,
  ),
];

export const NETWORK_FUNCTIONS: readonly Overload[] = [...URLS, ...IPS, ...CIDRS];

function urlOf(text: string) {
  return parseUrl(text) ?? new CelError(`URL parse error during conversion from string: ${text}`);
}

function ipOf(text: string) {
  return (
    parseIp(text) ??
    new CelError(`IP Address ${quote(text)} parse error during conversion from string`)
  );
}

function cidrOf(text: string) {
  return (
    parseCidr(text) ??
    new CelError(`network address parse error during conversion from string: ${text}`)
  );
}

/** Reads the port from the text, because JavaScript drops the default port of a scheme. */
function portOf({ text }: UrlValue): string {
  return /^[^/?#]*\/\/[^/?#]*:(\d+)(?:[/?#]|$)/.exec(text)?.[1] ?? '';
}

function hostOf(of: UrlValue): string {
  const port = portOf(of);
  return port === '' ? of.url.hostname : `${of.url.hostname}:${port}`;
}

function pathOf({ url, text }: UrlValue): string {
  const isBare = /^[^/?#]*\/\/[^/?#]*(?:[?#]|$)/.test(text);
  return isBare ? '' : url.pathname;
}

function queryOf({ url }: UrlValue): CelResult {
  const values = new Map<string, string[]>();
  for (const [name, value] of url.searchParams) {
    const list = values.get(name);
    if (list === undefined) values.set(name, [value]);
    else list.push(value);
  }
  const entries = [...values].map(([name, list]): [string, readonly [CelValue, CelValue]] => [
    `s${name}`,
    [name, CelList.of(list)],
  ]);
  return CelMap.of(new Map(entries));
}
