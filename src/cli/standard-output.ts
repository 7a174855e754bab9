/**
 * What a command does when its output cannot be written. It ends at once: what runs beside it, `up`'s
 * nodes and Pods, the watchdog ends.
 */
const EXIT_FAILURE = 1;

/**
 * From here on a reader that has had enough, such as `head`, ends the command quietly, and a disk that
 * is full ends it with a message instead of a stack trace.
 */
export function endWithOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    process.stderr.write(`lockstep: standard output: ${error.message}\n`);
    process.exit(EXIT_FAILURE);
  });
  // Then nobody can be told any more, and the command may still do what it was asked for.
  process.stderr.on('error', () => undefined);
}
