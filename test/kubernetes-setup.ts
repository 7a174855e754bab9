/**
 * After each suite on a real Kubernetes, removes what a failed test may have left there, so that
 * the next suite does not fail too.
 */

import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { afterAll } from 'vitest';
import { removeWorkloads } from './fixtures/workloads.ts';
import { startApi } from './integration/api-server.fixture.ts';

/** The namespace of nodes' Leases, by which they hold their names. */
const NODE_LEASES = 'kube-node-lease';

afterAll(async () => {
  const { client, stop } = await startApi();
  try {
    const left = await removeWorkloads(client, 0);
    const leases = await client.list(LEASES, { namespace: NODE_LEASES });
    for (const { metadata } of leases.items) {
      await client.delete(LEASES, { namespace: NODE_LEASES, name: metadata.name });
    }
    const names = [...left, ...leases.items.map(({ metadata }) => `leases/${metadata.name}`)];
    if (names.length > 0) process.stderr.write(`removed what was left: ${names.join(', ')}\n`);
  } finally {
    await stop();
  }
});
