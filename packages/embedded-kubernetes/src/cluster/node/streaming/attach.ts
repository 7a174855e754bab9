/** `kubectl attach`: the streams of a container's own process, as long as it runs. */
import { endsWithin } from '@lockstep/kube/runtime/deadline.ts';
import type { ProcessCommand } from '@lockstep/kube/runtime/ports/process-runner.ts';
import type { ContainerProcess } from '../container/container-process.ts';
import { resizeTerminal } from '../container/terminal.ts';
import { besideCommand } from '../namespaces/beside-command.ts';
import type { NodeContext } from '../ports/node-context.ts';
import type { RemoteStreams } from './remote-streams.ts';

/**
 * How far a client may be behind the output; beyond that it is dropped, and the process continues.
 */
const MAX_BEHIND_BYTES = 4 * 1024 * 1024;
/** For the client to read the rest after the end of the container. */
const LAST_OUTPUT_TIMEOUT_MS = 10_000;

/** Resolves when the container's process has ended or the client has gone. Never rejects. */
export async function attach(
  context: NodeContext,
  main: ContainerProcess,
  streams: RemoteStreams,
  options: { readonly closesStdin: boolean; readonly signal: AbortSignal },
): Promise<void> {
  let behindBytes = 0;
  let sent: Promise<void> = Promise.resolve();
  let isOver = false;
  let resizing: Promise<void> = Promise.resolve();
  const { launch } = main;
  const { terminalFile } = launch;
  const resize = (size: { readonly rows: number; readonly columns: number }): void => {
    if (terminalFile === undefined) return;
    const beside = (argv: ProcessCommand['argv']): ProcessCommand =>
      besideCommand(context, launch, argv);
    resizing = resizing.then(() => resizeTerminal(context.processes, beside, terminalFile, size));
  };
  const detach = main.listen((stream, chunk) => {
    if (isOver) return;
    behindBytes += chunk.byteLength;
    if (behindBytes > MAX_BEHIND_BYTES) {
      isOver = true;
      const message = 'the client takes the output too slowly';
      void streams.finish({ type: 'failed', message });
      return;
    }
    sent = sent.then(async () => {
      await streams.send(stream, chunk);
      behindBytes -= chunk.byteLength;
    });
  });
  const leave = (): void => {
    isOver = true;
    detach();
  };
  options.signal.addEventListener('abort', leave, { once: true });
  void main.exited.then(async () => {
    await endsWithin(context.clock, LAST_OUTPUT_TIMEOUT_MS, sent);
    // The container's status has its exit code, so the attachment does not.
    if (!isOver) await streams.finish({ type: 'exited', exitCode: 0 });
  });
  for await (const event of streams.events) {
    if (event.type === 'stdin') await main.input?.write(event.chunk);
    else if (event.type === 'stdin-end') {
      if (options.closesStdin) main.input?.end();
    } else resize(event);
  }
  leave();
  await resizing;
  if (options.closesStdin) main.input?.end();
}
