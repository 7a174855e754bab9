import { describe, expect, it } from 'vitest';
import { foreignUser } from './peer-user.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid';
const AT = { peerPort: 40_000, serverPort: 8475 };

function line(from: number, to: number, uid: number): string {
  const [local, remote] = [from, to].map(
    (port) => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`,
  );
  return `   0: ${local} ${remote} 01 00000000:00000000 00:00000000 00000000  ${uid}        0 1 1`;
}

function seen(lines: readonly string[], own = 1000): number | undefined {
  const read = (file: string): string => {
    if (file !== '/proc/net/tcp') throw new Error('ENOENT');
    return [HEAD, ...lines, ''].join('\n');
  };
  return foreignUser(AT, read, own);
}

describe('the user at the other end of a connection', () => {
  it.each([
    ['ourselves', [line(40_000, 8475, 1000), line(8475, 40_000, 1000)], undefined],
    ['root, who forwards ports', [line(40_000, 8475, 0)], undefined],
    ['another user', [line(8475, 40_000, 1000), line(40_000, 8475, 1001)], 1001],
    ['another user with another connection', [line(40_001, 8475, 1001)], undefined],
    ['unknown', [], undefined],
  ])('is %s', (_, lines, expected) => {
    expect(seen(lines)).toBe(expected);
  });

  it('is not asked for by root, who serves users that it does not know', () => {
    expect(seen([line(40_000, 8475, 1001)], 0)).toBeUndefined();
  });
});
