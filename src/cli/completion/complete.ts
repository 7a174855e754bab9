/**
 * Answers a shell that completes a line: a line for each candidate, and a number that says whether
 * files are candidates too. This is the protocol of cobra, which kubectl speaks to plugins.
 */

import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Command } from 'commander';
import { type Candidate, type Wanted, wantedAfter } from './wanted.ts';

/** A user waits for it with the finger on the key. */
const TIMEOUT_MS = 2000;
/** Cobra's `ShellCompDirective`: what a shell does when there are no candidates. */
const FILES = 0;
const NO_FILES = 4;

/** Never fails: without an answer there is nothing to complete. */
export async function complete(program: Command, words: readonly string[]): Promise<string> {
  const wanted = wantedAfter(program, words);
  if (wanted.kind === 'Files') return `:${FILES}\n`;
  const candidates =
    wanted.kind === 'Candidates' ? wanted.candidates : await namesWithin(wanted).catch(() => []);
  return [...candidates.map(lineOf), `:${NO_FILES}`].map((line) => `${line}\n`).join('');
}

type WantedNames = Exclude<Wanted, { readonly kind: 'Candidates' | 'Files' }>;

async function namesWithin(wanted: WantedNames): Promise<readonly Candidate[]> {
  const { kind, given, typed, typedPrefix, taken } = wanted;
  const { namesOf } = await import('./names.ts');
  const over = new AbortController();
  const inTime = namesOf(kind, given, over.signal);
  // Logging in may ignore the signal; the process ends with the answer all the same.
  const late = sleep(nodeClock, TIMEOUT_MS, over.signal).then(() => [] as readonly string[]);
  const names = await Promise.race([inTime, late]);
  inTime.catch(() => undefined);
  late.catch(() => undefined);
  over.abort();
  return names
    .filter((name) => name.startsWith(typed) && !taken.includes(name))
    .map((name) => ({ value: `${typedPrefix}${name}` }));
}

function lineOf({ value, description }: Candidate): string {
  return description === undefined ? value : `${value}\t${description}`;
}
