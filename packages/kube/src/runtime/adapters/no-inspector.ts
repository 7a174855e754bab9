/** Keeps a process from opening a debugger's port. */

/**
 * By default SIGUSR1 makes Node listen on port 9229, where anybody who reaches the port on this
 * machine may run code. Newer versions have a flag for that, but not all that we run on.
 */
export function refuseInspector(): void {
  process.on('SIGUSR1', () => undefined);
}
