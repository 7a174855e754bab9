import { expect, it } from 'vitest';
import { errorsIn, lastErrors } from './last-errors.ts';

it.each<[string, string, readonly string[]]>([
  [
    'an error in the words of its message',
    '{"level":"error","err":"TransportError: no way there","msg":"the API server does not answer: no way there"}\n',
    ['the API server does not answer: no way there'],
  ],
  [
    'the error that a message leaves out',
    '{"level":"fatal","err":{"type":"Error","message":"address in use"},"msg":"cannot listen"}\n',
    ['cannot listen: address in use'],
  ],
  [
    'a crash without its stack',
    'file:///b.js:1\nf(\n ^\n\nTypeError: x\u001b\n    at a (b.js:1:1)\n\nNode.js v24.0.0\n',
    ['TypeError: x\\x1b'],
  ],
  [
    'a crash without the members of its error, and what follows it',
    "cjs:1\n  throw err;\n  ^\n\nError: Cannot find module 'x'\n    at a (cjs:1:1) {\n" +
      "  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v24.0.0\n" +
      '{"level":"error","msg":"no 2"}\n',
    ["Error: Cannot find module 'x'", 'no 2'],
  ],
  [
    'nothing of what is no error',
    '{"level":"info","msg":"started"}\n{"level":"warn","msg":"slow"}\n',
    [],
  ],
  [
    'the last ones, each once',
    [1, 2, 3, 3, 4].map((n) => `{"level":"error","msg":"no ${n}"}\n`).join(''),
    ['no 2', 'no 3', 'no 4'],
  ],
])('tells %s', (_what, log, expected) => {
  expect(errorsIn(log)).toEqual(expected);
});

it('tells nothing of a log that is not there', () => {
  expect(lastErrors('/nowhere/cluster.log', 0)).toEqual([]);
});
