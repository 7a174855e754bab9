/**
 * The tokens with which agents prove to the hub in which Pods they are. The API server signs them, and
 * the hub checks them, as in a cluster, but a signature is a hash: one by ECDSA has chance in it.
 */
import {
  issueToken,
  type MemoryCluster,
  TOKEN_ISSUER,
  type TokenSigner,
} from '@lockstep/embedded-kubernetes/in-memory';
import { namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import { SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { TOKEN_REVIEWS } from '@lockstep/kube/objects/token-review.ts';
import { sha1 } from '@lockstep/kube/runtime/adapters/sha1.ts';
import { refusalResponse } from '@lockstep/kube/runtime/client/refusal-response.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ImportKey } from '@lockstep/kube/runtime/ports/signature-key.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { forbidden, internalError } from '@lockstep/kube/status-errors.ts';
import { HUB_AUDIENCE } from '../../jobset/names.ts';
import type { Scenario } from '../scenario.ts';
import type { InvalidToken } from './network-acts.ts';

/** The shortest that a cluster gives: some are renewed within a run. */
const LIFETIME_MS = 600_000;
/** A node renews a token after this share of its time. */
const RENEWED_AFTER = 0.8;
const ACCOUNT = 'default';
const ALGORITHM = 'ES256';
const KEY_PATHS = ['/.well-known/openid-configuration', '/openid/v1/jwks'];

export const SIGNER: TokenSigner = {
  keyId: 'simulated',
  publicKey: { kty: 'EC', crv: 'P-256', x: '', y: '' },
  sign: (data) => signatureOf(data),
  verify: (data, signature) => signatureOf(data).equals(signature),
};

export const importSimulatedKey: ImportKey = () => ({
  algorithm: ALGORITHM,
  verify: (data, signature) => SIGNER.verify(data, signature),
});

function signatureOf(data: Uint8Array): Buffer {
  return Buffer.from(sha1(`simulated ${Buffer.from(data).toString()}`), 'hex');
}

export class AgentTokens {
  readonly #clock: Clock;
  readonly #kind: NonNullable<Scenario['tokens']>;
  /** By namespace, the UID of the account of its Pods. */
  readonly #accounts = new Map<string, string>();
  /** By UID of the Pod. */
  readonly #files = new Map<string, { readonly token: string; readonly renewMs: number }>();
  readonly #invalid = new Map<string, InvalidToken>();
  /** How many faults keep the API server from checking tokens. */
  #failures = 0;

  constructor(clock: Clock, kind: NonNullable<Scenario['tokens']>) {
    this.#clock = clock;
    this.#kind = kind;
  }

  /** Waits for the accounts of the namespaces' Pods, which a controller makes. */
  async learnAccounts(cluster: MemoryCluster, namespaces: readonly string[]): Promise<void> {
    for (const namespace of namespaces) {
      await cluster.until(async () => {
        const at = { namespace, name: ACCOUNT };
        const account = await unlessGone(cluster.client.get(SERVICE_ACCOUNTS, at));
        if (account !== undefined) this.#accounts.set(namespace, account.metadata.uid);
        return account !== undefined;
      });
    }
  }

  /** What is wrong with the token of a Pod; undefined: nothing. */
  problemOf(podUid: string): InvalidToken | undefined {
    return this.#invalid.get(podUid);
  }

  /** What its agent finds in its file. */
  of(pod: Stored<Pod>): string {
    const { uid } = pod.metadata;
    const nowMs = this.#clock.now();
    switch (this.#invalid.get(uid)) {
      case 'Expired':
        return this.#issue(pod, nowMs - 2 * LIFETIME_MS);
      case 'ForApiServer':
        return this.#issue(pod, nowMs, TOKEN_ISSUER);
      case 'Unsigned':
        return `${this.#issue(pod, nowMs)}x`;
      case undefined:
    }
    const known = this.#files.get(uid);
    if (known !== undefined && nowMs < known.renewMs) return known.token;
    const token = this.#issue(pod, nowMs);
    this.#files.set(uid, { token, renewMs: nowMs + RENEWED_AFTER * LIFETIME_MS });
    return token;
  }

  /** Returns what ends it. */
  spoil(podUid: string, how: InvalidToken): () => void {
    this.#invalid.set(podUid, how);
    return () => this.#invalid.delete(podUid);
  }

  /** The API server checks no token, and publishes no keys. Returns what ends it. */
  fail(): () => void {
    this.#failures++;
    return () => {
      this.#failures--;
    };
  }

  forget(podUid: string): void {
    this.#files.delete(podUid);
    this.#invalid.delete(podUid);
  }

  /** The API server as operators see it. */
  through(server: Transport): Transport {
    return {
      send: async (request) => {
        const isKeys = KEY_PATHS.includes(request.path);
        const isCheck = isKeys || request.path.endsWith(`/${TOKEN_REVIEWS.plural}`);
        if (isCheck && this.#failures > 0) {
          return refusalResponse(internalError('no token is checked now'));
        }
        if (isKeys && this.#kind === 'Reviews') {
          return refusalResponse(forbidden(undefined, '', 'the keys are not published'));
        }
        return server.send(request);
      },
    };
  }

  #issue({ metadata }: Stored<Pod>, atMs: number, audience: string = HUB_AUDIENCE): string {
    const { name, uid } = metadata;
    const namespace = namespaceOf(metadata);
    const grant = {
      namespace,
      serviceAccount: { name: ACCOUNT, uid: this.#accounts.get(namespace) ?? '' },
      audiences: [audience],
      expiresAtMs: atMs + LIFETIME_MS,
      boundTo: { kind: 'Pod', name, uid },
      id: `${uid} ${atMs}`,
    };
    return issueToken(SIGNER, grant, atMs);
  }
}
