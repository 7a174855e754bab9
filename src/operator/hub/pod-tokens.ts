/**
 * Verifies agents' tokens, and finds the Pods to which they are bound. It checks signatures itself,
 * with the keys that the cluster publishes, so thousands of agents cost no request. If the cluster
 * publishes no keys to us, a TokenReview checks each token now and then.
 */

import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { TOKEN_REVIEWS } from '@lockstep/kube/objects/token-review.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { ExpiringMap } from '@lockstep/kube/runtime/expiring-map.ts';
import { type Clock, pause } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { ImportKey, SignatureKey } from '@lockstep/kube/runtime/ports/signature-key.ts';
import { type Rate, TokenBucket } from '@lockstep/kube/runtime/token-bucket.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import { HUB_AUDIENCE } from '../../jobset/names.ts';
import { checkToken, invalid, parseToken, type TokenFinding } from './pod-token.ts';

export interface PodTokensOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly importKey: ImportKey;
}

/** How long withdrawn keys may still be used. */
const KEYS_LIFETIME_MS = 5 * 60_000;
const KEYS_REFRESH_MS = 4 * 60_000;
/** A token with an unknown key makes us read the keys again, at most this often. */
const KEYS_RETRY_MS = 5000;
/** How often a server that does not answer is asked again, however many agents wait. */
const FAILURE_PAUSE_MS = 500;
const REQUEST_TIMEOUT_MS = 5000;
/** A Pod's end is noticed by its watch, so a review may be this old. */
const REVIEW_LIFETIME_MS = 60_000;
/** The most valid tokens, and separately the most others, so that these do not displace them. */
const MAX_REVIEWS = 4096;
/** Leaves room for other requests in a flood of invalid tokens. */
const REVIEWS: Rate = { perSecond: 150, burst: 1000 };
/** Bounds unreviewed tokens in memory, each of 1.5 KiB. */
const MAX_REVIEWS_UNDER_WAY = 64;

interface PublishedKeys {
  readonly issuer: string;
  readonly keys: ReadonlyMap<string, SignatureKey>;
}

export class PodTokens {
  readonly #options: PodTokensOptions;
  #published: PublishedKeys | undefined;
  /** When (monotonic) the keys were last requested. */
  #askedMs = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | undefined;
  /** The cluster does not let us read its keys. */
  #isUnpublished = false;
  /** By token. */
  readonly #reviews: Readonly<Record<TokenFinding['kind'], ExpiringMap<TokenFinding>>>;
  readonly #reviewBudget: TokenBucket;
  #reviewsUnderWay = 0;

  constructor(options: PodTokensOptions) {
    this.#options = options;
    this.#reviewBudget = new TokenBucket(REVIEWS, options.clock);
    this.#reviews = {
      Pod: new ExpiringMap(options.clock, MAX_REVIEWS),
      Invalid: new ExpiringMap(options.clock, MAX_REVIEWS),
    };
  }

  /** Reads the keys before a token needs them, and again in time, until the signal aborts. */
  async keepKeys(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#load();
      await pause(this.#options.clock, KEYS_REFRESH_MS, signal);
    }
  }

  /** What the cluster found on a token; rejects if the cluster does not answer. */
  async podOf(token: string): Promise<TokenFinding> {
    const parsed = parseToken(token);
    if (parsed === undefined) return invalid('it is not a JSON Web Token');
    const ageMs = this.#options.clock.monotonic() - this.#askedMs;
    const isUnknown = this.#published?.keys.has(parsed.keyId) !== true;
    const lifetimeMs =
      this.#published === undefined ? 0 : isUnknown ? KEYS_RETRY_MS : KEYS_LIFETIME_MS;
    if (ageMs >= lifetimeMs || this.#loading !== undefined) await this.#load();
    if (this.#published === undefined) {
      if (this.#isUnpublished) return this.#review(token);
      throw new Error('the keys of the cluster could not be read');
    }
    const { issuer, keys } = this.#published;
    const nowMs = this.#options.clock.now();
    const expected = { issuer, audience: HUB_AUDIENCE, nowMs };
    return checkToken(parsed, keys.get(parsed.keyId), expected);
  }

  #load(): Promise<void> {
    const pauseMs = this.#isUnpublished ? KEYS_LIFETIME_MS : FAILURE_PAUSE_MS;
    const isSoon = this.#published === undefined && this.#sinceAskedMs() < pauseMs;
    if (isSoon && this.#loading === undefined) return Promise.resolve();
    this.#loading ??= this.#readKeys().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  #sinceAskedMs(): number {
    return this.#options.clock.monotonic() - this.#askedMs;
  }

  async #readKeys(): Promise<void> {
    const { client, clock, logger, importKey } = this.#options;
    try {
      const [configuration, set] = await withDeadline(
        clock,
        REQUEST_TIMEOUT_MS,
        undefined,
        (signal) =>
          Promise.all([
            client.getPath('/.well-known/openid-configuration', { signal }),
            client.getPath('/openid/v1/jwks', { signal, accept: 'application/jwk-set+json' }),
          ]),
      );
      const issuer = isJsonObject(configuration) ? configuration['issuer'] : undefined;
      if (typeof issuer !== 'string') throw new Error('the cluster names no issuer of tokens');
      this.#published = { issuer, keys: keysOf(set, importKey) };
      this.#isUnpublished = false;
    } catch (error) {
      // Our keys stay valid for some time: a server that is down withdraws no keys.
      const isRefused = error instanceof ApiStatusError && error.code < 500 && error.code !== 429;
      if (isRefused && !this.#isUnpublished) {
        logger.info('the keys of the cluster are not readable: asks it about each token');
      } else if (!isRefused)
        logger.warn('the keys of the cluster could not be read', { err: error });
      this.#isUnpublished = isRefused;
      if (isRefused) this.#published = undefined;
    } finally {
      this.#askedMs = clock.monotonic();
    }
  }

  async #review(token: string): Promise<TokenFinding> {
    const known = this.#reviews.Pod.get(token) ?? this.#reviews.Invalid.get(token);
    if (known !== undefined) return known;
    if (this.#reviewsUnderWay >= MAX_REVIEWS_UNDER_WAY || !this.#reviewBudget.tryTake()) {
      throw new Error('too many tokens are being reviewed');
    }
    this.#reviewsUnderWay++;
    try {
      const finding = await this.#ask(token);
      this.#reviews[finding.kind].set(token, finding, REVIEW_LIFETIME_MS);
      return finding;
    } finally {
      this.#reviewsUnderWay--;
    }
  }

  async #ask(token: string): Promise<TokenFinding> {
    const { client, clock } = this.#options;
    const answer = await withDeadline(clock, REQUEST_TIMEOUT_MS, undefined, (signal) =>
      client.create(
        TOKEN_REVIEWS,
        {
          apiVersion: 'authentication.k8s.io/v1',
          kind: TOKEN_REVIEWS.kind,
          metadata: {},
          spec: { token, audiences: [HUB_AUDIENCE] },
        },
        { signal },
      ),
    );
    const { authenticated, error, audiences = [], user } = answer.status ?? {};
    if (authenticated !== true) return invalid(error ?? 'the cluster does not know it');
    if (!audiences.includes(HUB_AUDIENCE)) return invalid('it is for another audience');
    const extra = (key: string): string =>
      user?.extra?.[`authentication.kubernetes.io/${key}`]?.[0] ?? '';
    const [, , namespace = '', serviceAccount = ''] = (user?.username ?? '').split(':');
    const claim = {
      namespace,
      serviceAccount,
      podName: extra('pod-name'),
      podUid: extra('pod-uid'),
    };
    if (claim.podName === '' || claim.podUid === '') return invalid('it is bound to no Pod');
    return { kind: 'Pod', claim };
  }
}

function keysOf(set: unknown, importKey: ImportKey): ReadonlyMap<string, SignatureKey> {
  const listed: readonly unknown[] =
    isJsonObject(set) && Array.isArray(set['keys']) ? set['keys'] : [];
  const keys = new Map<string, SignatureKey>();
  for (const one of listed.filter((key): key is JsonObject => isJsonObject(key))) {
    const key = importKey(one);
    const { kid } = one;
    if (key !== undefined && typeof kid === 'string') keys.set(kid, key);
  }
  return keys;
}
