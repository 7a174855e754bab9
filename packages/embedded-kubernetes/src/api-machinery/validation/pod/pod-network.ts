/** Validates how a Pod resolves names: host aliases and its own DNS configuration. */

import { invalidValue, required } from '@lockstep/kube/field-error.ts';
import { dns1123SubdomainErrors, searchDomainErrors } from '@lockstep/kube/name-rules.ts';
import type { PodSpec } from '@lockstep/kube/objects/pod.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { parseIp } from '../../cel/ip-address.ts';

interface DnsConfig {
  readonly nameservers?: readonly string[];
  readonly searches?: readonly string[];
  readonly options?: readonly { readonly name?: string }[];
}

/** Limits of the resolver in the C library. */
const MAX_NAME_SERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2_048;

export function dnsConfigErrors(
  { dnsPolicy, dnsConfig }: PodSpec & { readonly dnsConfig?: DnsConfig },
  path: string,
): FieldError[] {
  if (dnsConfig === undefined) {
    const detail = 'must provide `dnsConfig` when `dnsPolicy` is None';
    return dnsPolicy === 'None' ? [required(path, detail)] : [];
  }
  const { nameservers = [], searches = [], options = [] } = dnsConfig;
  if (dnsPolicy === 'None' && nameservers.length === 0) {
    const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
    return [required(`${path}.nameservers`, detail)];
  }
  const tooMany = (list: string, values: readonly string[], max: string): FieldError =>
    invalidValue(`${path}.${list}`, values, `must not have more than ${max}`);
  return [
    ...(nameservers.length > MAX_NAME_SERVERS
      ? [tooMany('nameservers', nameservers, `${MAX_NAME_SERVERS} nameservers`)]
      : []),
    ...nameservers.flatMap((ip, index) => ipErrors(ip, `${path}.nameservers[${index}]`)),
    ...(searches.length > MAX_SEARCHES
      ? [tooMany('searches', searches, `${MAX_SEARCHES} search paths`)]
      : []),
    ...(searches.join(' ').length > MAX_SEARCH_CHARACTERS
      ? [
          tooMany(
            'searches',
            searches,
            `${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`,
          ),
        ]
      : []),
    ...searches.flatMap((search, index) => {
      if (search === '.') return [];
      const domain = search.replace(/\.$/, '');
      return searchDomainErrors(domain).map((text) =>
        invalidValue(`${path}.searches[${index}]`, domain, text),
      );
    }),
    ...options.flatMap(({ name = '' }, index) =>
      name === '' ? [required(`${path}.options[${index}]`, 'must not be empty')] : [],
    ),
  ];
}

export function hostAliasErrors({ hostAliases = [] }: PodSpec, path: string): FieldError[] {
  return hostAliases.flatMap(({ ip, hostnames = [] }, index) => [
    ...ipErrors(ip, `${path}[${index}].ip`),
    ...hostnames.flatMap((name, at) =>
      dns1123SubdomainErrors(name).map((text) =>
        invalidValue(`${path}[${index}].hostnames[${at}]`, name, text),
      ),
    ),
  ]);
}

function ipErrors(ip: string, path: string): FieldError[] {
  if (parseIp(ip) !== undefined) return [];
  const detail = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
  return [invalidValue(path, ip, detail)];
}
