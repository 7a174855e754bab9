import { expect, test } from 'vitest';
import type { Finding } from './finding.ts';
import { findingsJson, printedFindings } from './printed-findings.ts';

const FINDINGS: readonly Finding[] = [
  { topic: 'Nodes', check: 'ready', level: 'ok', text: '2 nodes ready' },
  { topic: 'Rights', check: 'may-run', level: 'not-checked', text: 'you may not ask' },
  {
    topic: 'Nodes',
    check: 'kubelet-bugs',
    level: 'problem',
    text: 'a word and another word and a third word and a fourth word and a fifth',
    fix: 'upgrade',
  },
];

test('findings are printed by topic, wrapped, with a summary', () => {
  expect(printedFindings(FINDINGS, 10)).toEqual([
    'Nodes',
    '  ok           ready: 2 nodes ready',
    '  problem      kubelet-bugs: a word and another word and a',
    '               third word and a fourth word and a fifth',
    '               fix: upgrade',
    '',
    'Rights',
    '  not checked  may-run: you may not ask',
    '',
    '1 problem; not checked: may-run',
  ]);
});

test.each<[readonly Finding['level'][], string]>([
  [['ok', 'ok'], 'no problem'],
  [['ok', 'note', 'note'], 'no problem; 2 notes'],
  [['ok', 'not-checked'], 'no problem in what could be looked at; not checked: check-1'],
  [['problem', 'problem', 'note'], '2 problems; 1 note'],
])('of %j it says %j', (levels, summary) => {
  const findings = levels.map(
    (level, i): Finding => ({ topic: 'Nodes', check: `check-${i}`, level, text: '' }),
  );
  expect(printedFindings(findings, 120).at(-1)).toBe(summary);
});

test('text of the cluster is one bounded line without control characters', () => {
  const text = `\u001b[31mred\nline\u202e ${'x'.repeat(5_000)}`;
  const hostile: readonly Finding[] = [{ topic: 'Nodes', check: 'ready', level: 'note', text }];
  const lines = printedFindings(hostile, 200);
  for (const bad of ['\u001b', '\u202e']) expect(lines.join('')).not.toContain(bad);
  expect(lines.every((line) => line.length < 2_100)).toBe(true);
  expect(findingsJson(hostile)).not.toContain('\\u001b');
});

test('JSON has all findings', () => {
  expect(JSON.parse(findingsJson(FINDINGS))).toEqual({ findings: FINDINGS });
});
