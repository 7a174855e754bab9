/**
 * The string formats that the API server checks. Any other format is documentation and always
 * holds. Names are compared without dashes (`date-time`), as in the API server.
 */
export function isOfFormat(format: string, value: string): boolean {
  const check = FORMATS.get(format.replaceAll('-', ''));
  return check === undefined || check(value);
}

const BYTE_PATTERN = /^[A-Za-z0-9+/]*={0,2}$/;
const DATE_PATTERN = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME_PATTERN =
  /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;
/** Go's `time.ParseDuration`, and a number with a unit in words, as the API server allows. */
const GO_DURATION_PATTERN = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const WORDY_DURATION_PATTERN =
  /^-?\d+(?:\.\d+)?\s*(?:ns|nano|nanos|nanosecond|nanoseconds|us|µs|micro|micros|microsecond|microseconds|ms|milli|millis|millisecond|milliseconds|s|sec|secs|second|seconds|m|min|mins|minute|minutes|h|hr|hrs|hour|hours|d|day|days|w|wk|wks|week|weeks)$/i;
const MAC_PATTERN = /^(?:[0-9A-Fa-f]{2}[:-]){5}(?:[0-9A-Fa-f]{2})(?:(?:[:-][0-9A-Fa-f]{2}){2})?$/;
const HOST_LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** One label, or several if the last has only letters. */
const HOSTNAME_PATTERN = new RegExp(
  `^(?=.{1,255}$)(?:${HOST_LABEL}|(?:${HOST_LABEL}\\.)+[A-Za-z]{2,63})$`,
);
const SHORT_NAME_PATTERN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const LONG_NAME_PATTERN =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;

const FORMATS: ReadonlyMap<string, (value: string) => boolean> = new Map([
  ['byte', (value) => value.length % 4 === 0 && BYTE_PATTERN.test(value)],
  ['date', (value) => DATE_PATTERN.test(value) && isDay(value)],
  ['datetime', (value) => DATE_TIME_PATTERN.test(value) && isMoment(value)],
  ['duration', (value) => GO_DURATION_PATTERN.test(value) || WORDY_DURATION_PATTERN.test(value)],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['cidr', isCidr],
  ['mac', (value) => MAC_PATTERN.test(value)],
  ['hostname', (value) => HOSTNAME_PATTERN.test(value)],
  ['uri', (value) => value.startsWith('/') || URL.canParse(value)],
  ['email', (value) => /^[^\s@]+@[^\s@]+$/.test(value)],
  ['uuid', uuidOf('[0-9a-f]', '[0-9a-f]')],
  ['uuid3', uuidOf('3', '[0-9a-f]')],
  ['uuid4', uuidOf('4', '[89ab]')],
  ['uuid5', uuidOf('5', '[89ab]')],
  ['k8sshortname', (value) => SHORT_NAME_PATTERN.test(value)],
  ['k8slongname', (value) => LONG_NAME_PATTERN.test(value)],
]);

/** JavaScript takes 30 February for 2 March. */
function isDay(value: string): boolean {
  const time = Date.parse(value);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

const DAY_LENGTH = 'YYYY-MM-DD'.length;

function isMoment(value: string): boolean {
  return isDay(value.slice(0, DAY_LENGTH)) && !Number.isNaN(Date.parse(value));
}

function uuidOf(version: string, variant: string): (value: string) => boolean {
  const pattern = new RegExp(
    `^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`,
    'i',
  );
  return (value) => pattern.test(value);
}

const IPV4_OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4_PATTERN = new RegExp(`^${IPV4_OCTET}(?:\\.${IPV4_OCTET}){3}$`);

function isIpv4(value: string): boolean {
  return IPV4_PATTERN.test(value);
}

const IPV6_GROUPS = 8;

function isIpv6(value: string): boolean {
  const halves = value.split('::');
  if (halves.length > 2) return false;
  let groups = 0;
  for (const [half, text] of halves.entries()) {
    if (text === '') continue;
    const parts = text.split(':');
    for (const [index, part] of parts.entries()) {
      const isLast = half === halves.length - 1 && index === parts.length - 1;
      if (isLast && part.includes('.')) {
        if (!isIpv4(part)) return false;
        groups += 2;
      } else {
        if (!/^[0-9A-Fa-f]{1,4}$/.test(part)) return false;
        groups += 1;
      }
    }
  }
  return halves.length === 2 ? groups < IPV6_GROUPS : groups === IPV6_GROUPS;
}

function isCidr(value: string): boolean {
  const slash = value.lastIndexOf('/');
  const bits = value.slice(slash + 1);
  if (slash < 0 || !/^\d{1,3}$/.test(bits)) return false;
  const address = value.slice(0, slash);
  return (isIpv4(address) && Number(bits) <= 32) || (isIpv6(address) && Number(bits) <= 128);
}
