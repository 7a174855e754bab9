import { expect, test } from 'vitest';
import { parseListeners, sharedPorts } from './listeners.ts';

const HEADING =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';

function line(address: string, port: number, inode: number, state = '0A'): string {
  const at = `${address}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return `   0: ${at} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0000000000000000 100 0 0 10 0\n`;
}

const ANY = '00000000';
const ANY6 = '0'.repeat(32);
const ONE = '0100007F';
const TWO = '0200007F';

test.each<readonly [string, string, readonly (readonly [number, readonly string[]])[]]>([
  ['two on all addresses', line(ANY, 8476, 1) + line(ANY, 8476, 2), [[8476, ['1', '2']]]],
  ['of both families', line(ANY6, 8476, 1) + line(ANY, 8476, 2), [[8476, ['1', '2']]]],
  ['one address and all', line(ONE, 80, 1) + line(ANY, 80, 2), [[80, ['1', '2']]]],
  ['the same address twice', line(ONE, 80, 1) + line(ONE, 80, 2), [[80, ['1', '2']]]],
  ['two addresses of their own', line(ONE, 80, 1) + line(TWO, 80, 2), []],
  ['different ports', line(ANY, 80, 1) + line(ANY, 81, 2), []],
  ['one that is only connected', line(ANY, 80, 1) + line(ANY, 80, 2, '01'), []],
  ['one socket that is listed twice', line(ANY, 80, 1) + line(ANY, 80, 1), []],
  ['lines of something else', 'x\n\n 0: zz:1 y 0A\n', []],
])('sockets share a port: %s', (_what, lines, expected) => {
  expect([...sharedPorts(parseListeners(HEADING + lines))]).toEqual(expected);
});
