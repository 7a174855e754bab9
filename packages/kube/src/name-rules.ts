/**
 * Validates names, labels and keys. Each function returns what is wrong with a value, in the words
 * of the API server (`k8s.io/apimachinery/pkg/util/validation`), and nothing for a valid one.
 * Lengths are in bytes; the patterns admit only ASCII.
 */
export type Complaints = readonly string[];

/** Names of namespaces, containers, and Services' and Pods' DNS labels. */
export function dns1123LabelErrors(value: string): Complaints {
  const tooLong = lengthErrors(value, LABEL_LIMIT, 'characters');
  if (DNS_1123_LABEL.matches(value)) return tooLong;
  if (DNS_1123_SUBDOMAIN.matches(value)) return [...tooLong, 'must not contain dots'];
  return [...tooLong, DNS_1123_LABEL.complaint];
}

/** Names of most objects. */
export function dns1123SubdomainErrors(value: string): Complaints {
  return [
    ...lengthErrors(value, SUBDOMAIN_LIMIT, 'characters'),
    ...DNS_1123_SUBDOMAIN.errors(value),
  ];
}

/** DNS search domains: like names of objects, but with underscores. */
export function searchDomainErrors(value: string): Complaints {
  return [...lengthErrors(value, SUBDOMAIN_LIMIT, 'characters'), ...SEARCH_DOMAIN.errors(value)];
}

/** Names of Services, and of objects that become one, such as a ReplicatedJob. */
export function dns1035LabelErrors(value: string): Complaints {
  return [...lengthErrors(value, LABEL_LIMIT, 'characters'), ...DNS_1035_LABEL.errors(value)];
}

/** Keys of labels and annotations, names of finalizers: an optional DNS prefix, `/`, a name. */
export function qualifiedNameErrors(value: string): Complaints {
  const parts = value.split('/');
  if (parts.length > 2) {
    const example = "an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    return [`a valid label key ${QUALIFIED_NAME.complaint} with ${example}`];
  }
  const errors: string[] = [];
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? parts[0] : undefined;
  if (prefix === '') errors.push('prefix part must be non-empty');
  else if (prefix !== undefined) {
    const wrong = [
      ...lengthErrors(prefix, SUBDOMAIN_LIMIT, 'bytes'),
      ...DNS_1123_SUBDOMAIN.errors(prefix),
    ];
    errors.push(...wrong.map((error) => `prefix part ${error}`));
  }
  if (name === '') errors.push('name part must be non-empty');
  errors.push(...lengthErrors(name, LABEL_LIMIT, 'bytes').map((error) => `name part ${error}`));
  errors.push(...QUALIFIED_NAME.errors(name).map((error) => `name part ${error}`));
  return errors;
}

export function labelValueErrors(value: string): Complaints {
  return [...lengthErrors(value, LABEL_LIMIT, 'bytes'), ...LABEL_VALUE.errors(value)];
}

/** Names of environment variables: printable ASCII except `=`. */
export function environmentNameErrors(value: string): Complaints {
  if (value === '') return ['environment variable name must be non-empty'];
  if (/^[ -<>-~]+$/.test(value)) return [];
  return [
    "a valid environment variable name must consist only of printable ASCII characters other than '='",
  ];
}

/** Keys of ConfigMaps and Secrets, which become file names. */
export function configMapKeyErrors(value: string): Complaints {
  return [
    ...lengthErrors(value, SUBDOMAIN_LIMIT, 'characters'),
    ...CONFIG_MAP_KEY.errors(value),
    ...parentDirectoryErrors(value),
  ];
}

/** Names of ports in Pods and Services. */
export function portNameErrors(value: string): Complaints {
  const errors = [...lengthErrors(value, PORT_NAME_LIMIT, 'characters')];
  if (!/^[-a-z0-9]+$/.test(value)) {
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(value)) errors.push('must contain at least one letter (a-z)');
  if (value.includes('--')) errors.push('must not contain consecutive hyphens');
  if (/^-|-$/.test(value)) errors.push('must not begin or end with a hyphen');
  return errors;
}

export function portNumberErrors(value: number): Complaints {
  const isValid = Number.isInteger(value) && value >= 1 && value <= 65535;
  return isValid ? [] : ['must be between 1 and 65535, inclusive'];
}

/** Names that stand in a URL path, such as names of Roles and ClusterRoles. */
export function pathSegmentErrors(value: string): Complaints {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return ['/', '%'].filter((part) => value.includes(part)).map((p) => `may not contain '${p}'`);
}

/** A DNS label, and so the limit for each part of a host name. */
const LABEL_LIMIT = 63;
const SUBDOMAIN_LIMIT = 253;
const PORT_NAME_LIMIT = 15;

/**
 * A pattern that means the same in RE2 and JavaScript, and the text by which the API describes it.
 */
class NameFormat {
  readonly complaint: string;
  readonly #pattern: RegExp;

  constructor(rule: string, format: string, examples: readonly string[]) {
    const shown = examples.map((example) => `'${example}', `).join('or ');
    const eg = ` (e.g. ${shown.replaceAll(', or', ',  or')}regex used for validation is '${format}')`;
    this.complaint = rule + eg;
    this.#pattern = new RegExp(`^(?:${format})$`);
  }

  matches(value: string): boolean {
    // Without the `m` flag, JavaScript's `$` is the end of the text, as in RE2.
    return this.#pattern.test(value);
  }

  errors(value: string): Complaints {
    return this.matches(value) ? [] : [this.complaint];
  }
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

const DNS_1123_LABEL = new NameFormat(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  LABEL,
  ['my-name', '123-abc'],
);
const DNS_1123_SUBDOMAIN = new NameFormat(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  `${LABEL}(\\.${LABEL})*`,
  ['example.com'],
);
const SEARCH_LABEL = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SEARCH_DOMAIN = new NameFormat(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  `${SEARCH_LABEL}(\\.${SEARCH_LABEL})*`,
  ['example.com'],
);
const DNS_1035_LABEL = new NameFormat(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  '[a-z]([-a-z0-9]*[a-z0-9])?',
  ['my-name', 'abc-123'],
);
const QUALIFIED_NAME = new NameFormat(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED,
  ['MyName', 'my.name', '123-abc'],
);
const LABEL_VALUE = new NameFormat(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  `(${QUALIFIED})?`,
  ['MyValue', 'my_value', '12345'],
);
const CONFIG_MAP_KEY = new NameFormat(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  '[-._a-zA-Z0-9]+',
  ['key.name', 'KEY_NAME', 'key-name'],
);

/** The server counts bytes, but calls them `characters` for DNS names. */
function lengthErrors(value: string, limit: number, unit: 'characters' | 'bytes'): Complaints {
  const isLonger = value.length > limit || Buffer.byteLength(value) > limit;
  return isLonger ? [`must be no more than ${limit} ${unit}`] : [];
}

function parentDirectoryErrors(value: string): Complaints {
  if (value === '.' || value === '..') return [`must not be '${value}'`];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
}
