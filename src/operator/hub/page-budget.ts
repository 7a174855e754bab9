/**
 * How many pages of members may be requested and be under way. Each JobSet and each namespace has a
 * share, so that a tenant who asks without end, or reads slowly, takes none from others.
 */
import { KeyedBudget } from '@lockstep/kube/runtime/keyed-budget.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { PageAnswer, StreamRefusal } from '@lockstep/kube/runtime/ports/stream.ts';
import { type Rate, TokenBucket } from '@lockstep/kube/runtime/token-bucket.ts';
import type { HubMember } from './agent-stream.ts';

/** Users ask through members; a group's budget suffices for a few watching users. */
const JOBSET_PAGES: Rate = { perSecond: 5, burst: 20 };
/** Some twenty open dashboards ask less often. */
const NAMESPACE_PAGES: Rate = { perSecond: 25, burst: 50 };
const ALL_PAGES: Rate = { perSecond: 100, burst: 200 };
/** Pages of one namespace that are being written, or that their readers have not taken yet. */
const MAX_UNDER_WAY_OF_NAMESPACE = 16;
/** Bytes of these pages; one page alone may have more. 30,000 members take 6 MB. */
const MAX_BYTES_UNDER_WAY_OF_NAMESPACE = 32 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 1;

export class PageBudget {
  readonly #ofJobSets: KeyedBudget;
  readonly #ofNamespaces: KeyedBudget;
  readonly #ofAll: TokenBucket;
  /** By namespace, without namespaces that have no page under way. */
  readonly #underWay = new Map<string, { pages: number; bytes: number }>();

  constructor(clock: Clock) {
    this.#ofJobSets = new KeyedBudget(JOBSET_PAGES, clock);
    this.#ofNamespaces = new KeyedBudget(NAMESPACE_PAGES, clock);
    this.#ofAll = new TokenBucket(ALL_PAGES, clock);
  }

  /** The answer to a member's request for its page. */
  async answer(
    { namespace, jobSetUid }: Pick<HubMember, 'namespace' | 'jobSetUid'>,
    write: () => Promise<Uint8Array>,
  ): Promise<PageAnswer> {
    if (!this.#ofJobSets.of(jobSetUid).tryTake()) return busy('the members of the JobSet ask');
    const who = `members in namespace ${namespace} ask`;
    const held = this.#underWay.get(namespace) ?? { pages: 0, bytes: 0 };
    if (held.pages >= MAX_UNDER_WAY_OF_NAMESPACE) return busy(who);
    if (!this.#ofNamespaces.of(namespace).tryTake()) return busy(who);
    if (!this.#ofAll.tryTake()) return busy('members of all JobSets ask');
    this.#underWay.set(namespace, held);
    held.pages++;
    let bytes = 0;
    let isOver = false;
    const over = (): void => {
      if (isOver) return;
      isOver = true;
      held.bytes -= bytes;
      held.pages--;
      if (held.pages === 0) this.#underWay.delete(namespace);
    };
    try {
      const json = await write();
      const isTooMuch = held.bytes + json.byteLength > MAX_BYTES_UNDER_WAY_OF_NAMESPACE;
      if (held.bytes > 0 && isTooMuch) {
        over();
        return busy(who);
      }
      bytes = json.byteLength;
      held.bytes += bytes;
      return { kind: 'Page', json, over };
    } catch (error) {
      over();
      throw error;
    }
  }
}

function busy(who: string): StreamRefusal {
  const retryAfterSeconds = RETRY_AFTER_SECONDS;
  return { kind: 'Refuse', status: 429, reason: `${who} too often`, retryAfterSeconds };
}
