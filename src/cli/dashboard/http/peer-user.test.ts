import { describe, expect, it } from 'vitest';
import { type Endpoint, foreignUser } from './peer-user.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid';
const PEER: Endpoint = { address: '127.0.0.1', port: 40_000 };
const SERVER: Endpoint = { address: '127.0.0.1', port: 8475 };
/** 127.0.0.1 and 127.0.0.2, as the kernel writes them. */
const [FIRST, SECOND] = ['0100007F', '0200007F'];
const MAPPED = `0000000000000000FFFF0000${FIRST}`;
const LOOPBACK_6 = '00000000000000000000000001000000';
const [PEER_PORT, SERVER_PORT] = ['9C40', '211B'];

function line(local: string, remote: string, uid: number): string {
  return `   0: ${local} ${remote} 01 00000000:00000000 00:00000000 00000000  ${uid}        0 1 1`;
}

/** A connection of that user from one address to another, with the ports of ours. */
function from(local: string, remote: string, uid: number): string {
  return line(`${local}:${PEER_PORT}`, `${remote}:${SERVER_PORT}`, uid);
}

const ANSWERS = line(`${FIRST}:${SERVER_PORT}`, `${FIRST}:${PEER_PORT}`, 1000);

interface Tables {
  readonly tcp?: readonly string[];
  readonly tcp6?: readonly string[];
}

function seen(tables: Tables, { own = 1000, peer = PEER } = {}): number | undefined {
  const read = (file: string): string => {
    const lines = file === '/proc/net/tcp' ? tables.tcp : tables.tcp6;
    if (lines === undefined) throw new Error('ENOENT');
    return [HEAD, ...lines, ''].join('\n');
  };
  return foreignUser({ peer, server: SERVER }, read, own);
}

describe('the user at the other end of a connection', () => {
  it.each<[string, Tables, number | undefined]>([
    ['ourselves', { tcp: [from(FIRST, FIRST, 1000), ANSWERS] }, undefined],
    ['root, who forwards ports', { tcp: [from(FIRST, FIRST, 0)] }, undefined],
    ['another user', { tcp: [ANSWERS, from(FIRST, FIRST, 1001)] }, 1001],
    [
      'another user with a socket of IPv6',
      { tcp: [ANSWERS], tcp6: [from(MAPPED, MAPPED, 1001)] },
      1001,
    ],
    [
      'ourselves, while another user has the same ports at another address of its own',
      { tcp: [from(SECOND, FIRST, 1001), from(FIRST, FIRST, 1000)] },
      undefined,
    ],
    [
      'ourselves, while another user reaches another server',
      { tcp: [from(FIRST, SECOND, 1001)] },
      undefined,
    ],
    [
      'ourselves, while another user uses IPv6',
      { tcp6: [from(LOOPBACK_6, LOOPBACK_6, 1001)] },
      undefined,
    ],
    [
      'ourselves, while another user has another port',
      { tcp: [line(`${FIRST}:9C41`, `${FIRST}:${SERVER_PORT}`, 1001)] },
      undefined,
    ],
    ['unknown', {}, undefined],
  ])('is %s', (_, tables, expected) => {
    expect(seen(tables)).toBe(expected);
  });

  it('is found by an address of IPv4 that is written as one of IPv6', () => {
    const peer = { ...PEER, address: '::ffff:127.0.0.1' };
    expect(seen({ tcp: [from(FIRST, FIRST, 1001)] }, { peer })).toBe(1001);
  });

  it('is not asked for by root, who serves users that it does not know', () => {
    expect(seen({ tcp: [from(FIRST, FIRST, 1001)] }, { own: 0 })).toBeUndefined();
  });
});
