/** OpenID discovery for tokens of service accounts. */
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { type ApiRequest, bytesResponse, jsonResponse } from '../http/request.ts';
import { TOKEN_ISSUER, type TokenSigner } from '../identity/service-account-tokens.ts';

/** Publishes the key, so that other parties can check tokens of service accounts themselves. */
export function openId(signer: TokenSigner, request: ApiRequest): HttpResponse | undefined {
  if (request.method !== 'GET') return undefined;
  switch (request.path) {
    case '/.well-known/openid-configuration':
      return jsonResponse(200, {
        issuer: TOKEN_ISSUER,
        jwks_uri: `https://${request.headers['host'] ?? 'kubernetes.default.svc'}/openid/v1/jwks`,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256'],
      });
    case '/openid/v1/jwks': {
      if (!accepts(request, KEY_SET_TYPE)) {
        const text = `406: Not Acceptable\n\nAvailable representations: ${KEY_SET_TYPE}`;
        return bytesResponse(406, 'text/plain; charset=utf-8', Buffer.from(text));
      }
      const key = { use: 'sig', alg: 'ES256', kid: signer.keyId, ...signer.publicKey };
      const keys = Buffer.from(JSON.stringify({ keys: [key] }));
      return bytesResponse(200, KEY_SET_TYPE, keys);
    }
    default:
      return undefined;
  }
}

/** A real server serves the keys under this type only. */
const KEY_SET_TYPE = 'application/jwk-set+json';

function accepts({ headers }: ApiRequest, type: string): boolean {
  const wanted = (headers['accept'] ?? '*/*').split(',').map((one) => one.split(';')[0]?.trim());
  return [type, 'application/*', '*/*'].some((one) => wanted.includes(one));
}
