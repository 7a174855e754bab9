/**
 * Waits for a state of one object, without polling, over an informer of that object alone, which
 * survives failures. For tests and command lines; controllers react to events instead.
 */
import type { KubeObject, Stored } from '../../meta.ts';
import { groupResourceOf, type Resource } from '../../resource.ts';
import type { Client, ObjectKey } from '../client/client.ts';
import { DeadlineError } from '../deadline.ts';
import type { Clock } from '../ports/clock.ts';
import { SILENT } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';
import { createInformer } from './create-informer.ts';

export interface WaitOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Resolves with the object, or undefined if there is none, in the first state for which `condition`
 * holds. Rejects with `DeadlineError`, which has the last state and, as its cause, the last failure
 * of a request; with the signal's reason; or with what `condition` throws.
 */
export async function waitFor<T extends KubeObject>(
  client: Client,
  of: Resource<T>,
  at: ObjectKey,
  condition: (object: Stored<T> | undefined) => boolean,
  options: WaitOptions,
): Promise<Stored<T> | undefined> {
  options.signal?.throwIfAborted();
  let lastFailure: unknown;
  const informer = createInformer({
    client,
    resource: of,
    namespace: at.namespace,
    fieldSelector: `metadata.name=${at.name}`,
    clock: options.clock,
    random: options.random,
    logger: SILENT,
    onFailure: (error) => {
      lastFailure = error;
    },
  });
  const current = (): Stored<T> | undefined => [...informer.store.values()][0];
  let cleanUp = (): void => undefined;
  try {
    return await new Promise<Stored<T> | undefined>((resolve, reject) => {
      const check = (): void => {
        try {
          if (informer.hasSynced() && condition(current())) resolve(current());
        } catch (error) {
          reject(error);
        }
      };
      const timer = options.clock.setTimer(options.timeoutMs, () => {
        const last = informer.hasSynced() ? stateOf(current()) : 'never read';
        const what = `${groupResourceOf(of)} ${nameOf(at)}`;
        const message = `${what}: not as expected within ${options.timeoutMs} ms; ${last}`;
        reject(new DeadlineError(message, { cause: lastFailure }));
      });
      const abort = (): void => reject(options.signal?.reason);
      options.signal?.addEventListener('abort', abort, { once: true });
      cleanUp = () => {
        timer.cancel();
        options.signal?.removeEventListener('abort', abort);
      };
      informer.subscribe({ added: check, updated: check, deleted: check });
      informer.whenSynced().then(check, reject);
    });
  } finally {
    cleanUp();
    await informer.stop();
  }
}

function nameOf(at: ObjectKey): string {
  return at.namespace === undefined ? at.name : `${at.namespace}/${at.name}`;
}

const MAX_QUOTED_CHARACTERS = 1_000;

function stateOf(object: KubeObject | undefined): string {
  if (object === undefined) return 'it does not exist';
  const status = 'status' in object ? object.status : undefined;
  return `its status is ${(JSON.stringify(status) ?? 'absent').slice(0, MAX_QUOTED_CHARACTERS)}`;
}
