import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { SeededRandom } from '../memory/seeded-random.ts';
import { freePorts } from './free-ports.ts';

it('are distinct, can be listened on, and lie below the ports of outgoing connections', async () => {
  const ports = await freePorts(5, new SeededRandom(1));
  expect(new Set(ports).size).toBe(5);
  expect(Math.max(...ports)).toBeLessThan(30_000);
  const servers = ports.map((port) => createServer().listen(port, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  try {
    const others = await freePorts(5, new SeededRandom(1));
    expect(others.filter((port) => ports.includes(port))).toEqual([]);
  } finally {
    for (const server of servers) server.close();
  }
});

it('are looked for in vain where none can be', async () => {
  await expect(freePorts(1, new SeededRandom(1), '192.0.2.1')).rejects.toThrow('EADDRNOTAVAIL');
});
