/** The findings as text for people, and as JSON for programs. */
import { printable } from '@lockstep/kube/quote.ts';
import { type Finding, isUnknown, type Level } from './finding.ts';

const SHOWN: Readonly<Record<Level, string>> = {
  ok: 'ok',
  note: 'note',
  problem: 'problem',
  'not-checked': 'not checked',
};
const LEVEL_WIDTH = 13;
const LEAST_COLUMNS = 60;
const MOST_COLUMNS = 120;
/** Text of the cluster can have any length; beyond this it helps nobody. */
const MAX_TEXT = 2_000;

/** Lines by topic, in the order of the findings, and a summary. */
export function printedFindings(findings: readonly Finding[], columns: number): readonly string[] {
  const width = Math.min(Math.max(columns, LEAST_COLUMNS), MOST_COLUMNS);
  const topics = [...new Set(findings.map(({ topic }) => topic))];
  const lines = topics.flatMap((topic) => [
    topic,
    ...findings.filter((one) => one.topic === topic).flatMap((one) => linesOf(one, width)),
    '',
  ]);
  return [...lines, ...wrapped(summary(findings), width)];
}

function linesOf({ check, level, text, fix }: Finding, width: number): readonly string[] {
  const indent = ' '.repeat(LEVEL_WIDTH + 2);
  const said = wrapped(`${check}: ${bounded(text)}`, width - indent.length);
  const mend = fix === undefined ? [] : wrapped(`fix: ${bounded(fix)}`, width - indent.length);
  const [first = '', ...rest] = said;
  return [
    `  ${SHOWN[level].padEnd(LEVEL_WIDTH)}${first}`,
    ...[...rest, ...mend].map((line) => `${indent}${line}`),
  ];
}

/** What was not looked at is named: nothing is known of it, so it is not called well. */
function summary(findings: readonly Finding[]): string {
  const all = (level: Level): readonly Finding[] => findings.filter((one) => one.level === level);
  const [problems, notes] = [all('problem').length, all('note').length];
  const unknown = [...new Set(all('not-checked').map(({ check }) => check))];
  const none = findings.some(isUnknown) ? 'no problem in what could be looked at' : 'no problem';
  return [
    problems === 0 ? none : problems === 1 ? '1 problem' : `${problems} problems`,
    ...(notes > 0 ? [notes === 1 ? '1 note' : `${notes} notes`] : []),
    ...(unknown.length > 0 ? [`not checked: ${unknown.join(', ')}`] : []),
  ].join('; ');
}

export function findingsJson(findings: readonly Finding[]): string {
  const bound = findings.map(({ topic, check, level, text, fix }) => ({
    topic,
    check,
    level,
    text: bounded(text),
    ...(fix !== undefined && { fix: bounded(fix) }),
  }));
  return JSON.stringify({ findings: bound }, undefined, 2);
}

function bounded(text: string): string {
  const shown = printable(text.replaceAll(/\s+/g, ' ').trim());
  return shown.length > MAX_TEXT ? `${shown.slice(0, MAX_TEXT)}...` : shown;
}

/** Breaks between words; a longer word has a line of its own, so that a command can be copied. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
