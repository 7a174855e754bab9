/** What a command tells people beside its output. */
import { printable } from '@lockstep/kube/quote.ts';

/** One line on standard error. What a file or a server says must reach a terminal only as plain text. */
export function tell(line: string): void {
  process.stderr.write(`lockstep: ${printable(line)}\n`);
}
