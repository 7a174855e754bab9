/**
 * The embedded API server answers as a real one does, field by field: `recorded/api-server.json` holds
 * what kube-apiserver 1.36.3 says to the script of `api-requests.ts` (`record.ts` records it).
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { TestServer } from '../../src/cluster/apiserver/test-server.ts';
import { playScript, type RecordedAnswer, sendVia } from './api-answers.ts';

const file = new URL('recorded/api-server.json', import.meta.url);
const recorded = JSON.parse(readFileSync(file, 'utf8')) as readonly RecordedAnswer[];

/** Where the two may differ, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

describe('the API server answers as kube-apiserver to', async () => {
  const server = await TestServer.start();
  const answers = await playScript(sendVia(server.transport));
  const byName = new Map(answers.map((answer) => [answer.name, answer]));

  it.each(recorded.map((answer) => [answer.name, answer] as const))('%s', (name, expected) => {
    if (name in EXCEPTIONS) expect(byName.get(name)).not.toEqual(expected);
    else expect(byName.get(name)).toEqual(expected);
  });
});
