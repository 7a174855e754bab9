/**
 * The agent as a sidecar. Its startup probe is the barrier, because a kubelet starts the regular
 * containers only after the probe has succeeded. The server listens from the start, so an unusable
 * address shows at once. Before the lift it delays each answer for most of the probe's time-out. So a
 * probe under way succeeds as soon as the barrier lifts, which saves the second between two probes.
 */

import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type {
  HttpHandler,
  HttpRequest,
  HttpResponse,
} from '@lockstep/kube/runtime/ports/transport.ts';
import { textResponse } from '@lockstep/kube/runtime/text-response.ts';
import type { Body } from './agent.ts';
import { MemberProgress } from './progress/member-progress.ts';
import { ProgressFeed } from './progress/progress-feed.ts';
import type { ProgressFile, RankFiles } from './progress/progress-files.ts';

export interface Sidecar extends Body {
  readonly handler: HttpHandler;
}

/** Less than the 1 s that a kubelet waits for an answer by default. */
const HOLD_MS = 800;

export interface SidecarProgress {
  /** The file of the workers of this Pod. */
  readonly file: ProgressFile;
  readonly ranks: RankFiles;
  readonly logger: Logger;
}

/** `path` is the path of the startup probe. */
export function createSidecar(clock: Clock, path: string, reports?: SidecarProgress): Sidecar {
  let epoch: number | undefined;
  const progress = new MemberProgress();
  let feed: ProgressFeed | undefined;
  const held = new Set<() => void>();

  const liftedOrTimeUp = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        held.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = clock.setTimer(HOLD_MS, end);
      held.add(end);
      signal.addEventListener('abort', end, { once: true });
    });

  return {
    mode: 'Sidecar',
    progress,
    lift: (lifted) => {
      epoch = lifted;
      if (reports === undefined) progress.begin(clock.monotonic());
      else {
        feed = new ProgressFeed({ watch: progress, clock, logger: reports.logger });
        feed.add(reports.file);
        feed.addRanks(reports.ranks);
      }
      for (const end of held) end();
    },
    // The barrier asks a sidecar to leave instead.
    stopWorker: () => undefined,
    killHung: () => undefined,
    hurry: () => undefined,
    readLast: async () => feed?.end(),
    handler: async (request) => {
      const refused = refusal(request, path);
      if (refused !== undefined) return refused;
      if (epoch === undefined) await liftedOrTimeUp(request.signal);
      return epoch === undefined
        ? textResponse(503, 'waiting for the group\n')
        : textResponse(200, `epoch ${epoch} has begun\n`);
    },
  };
}

function refusal({ method, path }: HttpRequest, barrier: string): HttpResponse | undefined {
  const [pathname] = path.split('?');
  if (pathname !== barrier) return textResponse(404, `only ${barrier} is served here\n`);
  return method === 'GET' || method === 'HEAD'
    ? undefined
    : textResponse(405, 'only GET is allowed\n');
}
