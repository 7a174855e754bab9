/** Validates `admissionregistration.k8s.io/v1 WebhookClientConfig`: how a webhook is reached. */

import { invalidValue, required } from '@lockstep/kube/field-error.ts';
import { dns1123SubdomainErrors, portNumberErrors } from '@lockstep/kube/name-rules.ts';
import type { WebhookClientConfig } from '@lockstep/kube/objects/admission-webhooks.ts';
import { quote } from '@lockstep/kube/quote.ts';
import type { FieldError } from '@lockstep/kube/status.ts';

export function webhookClientErrors(config: WebhookClientConfig, path: string): FieldError[] {
  const { url, service } = config;
  if (url !== undefined && service === undefined) return urlErrors(url, `${path}.url`);
  if (url === undefined && service !== undefined) return serviceErrors(service, `${path}.service`);
  return [required(path, 'exactly one of url or service is required')];
}

const FORM = '; desired format: https://host[/path]';

/** Scheme, authority, path, query and fragment, RFC 3986, appendix B. */
const URL_PARTS = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;

/** Checks the text itself: a parser of browsers would repair half of the errors. */
function urlErrors(url: string, path: string): FieldError[] {
  const [, scheme = '', authority = '', , query = '', fragment = ''] = URL_PARTS.exec(url) ?? [];
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  const errors: FieldError[] = [];
  if (scheme.toLowerCase() !== 'https') {
    const detail = `'https' is the only allowed URL scheme${FORM}`;
    errors.push(invalidValue(path, scheme, detail));
  }
  if (host === '') errors.push(invalidValue(path, host, `host must be specified${FORM}`));
  if (at >= 0) {
    const detail = 'user information is not permitted in the URL';
    errors.push(invalidValue(path, authority.slice(0, at), detail));
  }
  if (fragment !== '') {
    errors.push(invalidValue(path, fragment, 'fragments are not permitted in the URL'));
  }
  if (query !== '') {
    errors.push(invalidValue(path, query, 'query parameters are not permitted in the URL'));
  }
  const badEscape = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(url)?.[0];
  if (badEscape === undefined && (errors.length > 0 || URL.canParse(url))) return errors;
  const why = badEscape === undefined ? 'invalid URL' : `invalid URL escape ${quote(badEscape)}`;
  return [required(path, `url must be a valid URL: parse ${quote(url)}: ${why}${FORM}`)];
}

function serviceErrors(
  service: NonNullable<WebhookClientConfig['service']>,
  path: string,
): FieldError[] {
  const { name, namespace, port = 443, path: urlPath = '' } = service;
  const badPort = portNumberErrors(port);
  return [
    ...(name === '' ? [required(`${path}.name`)] : []),
    ...(namespace === '' ? [required(`${path}.namespace`)] : []),
    ...(badPort.length === 0
      ? []
      : [invalidValue(`${path}.port`, port, `port is not valid: ${badPort.join(', ')}`)]),
    ...pathProblems(urlPath).map((text) => invalidValue(`${path}.path`, urlPath, text)),
  ];
}

function pathProblems(urlPath: string): readonly string[] {
  if (urlPath === '' || urlPath === '/') return [];
  if (urlPath === '//') return ['segment[0] may not be empty'];
  const start = urlPath.startsWith('/') ? [] : ["must start with a '/'"];
  // Drops the first character without a look at it, as the API server does.
  const segments = urlPath.slice(1).replace(/\/$/, '').split('/');
  return [
    ...start,
    ...segments.flatMap((segment, at) =>
      segment === ''
        ? [`segment[${at}] may not be empty`]
        : dns1123SubdomainErrors(segment).map((text) => `segment[${at}]: ${text}`),
    ),
  ];
}
