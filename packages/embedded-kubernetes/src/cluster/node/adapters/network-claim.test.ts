import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { describe, expect, it } from 'vitest';
import { claimNetwork, KUBELET_PORT } from './network-claim.ts';

/** A system where binding fails as `codeOf` says. */
function system(codeOf: (address: string) => string | undefined) {
  return async (address: string, port: number): Promise<string> => {
    const code = codeOf(address);
    const cause = Object.assign(new Error(code), { code });
    // As an adapter reports it.
    if (code !== undefined) throw new Error('could not listen', { cause });
    return `${address}:${port}`;
  };
}

describe('a network', () => {
  it('is the first without a listener', async () => {
    const taken = new Set<string>();
    const listen = system((address) => (taken.has(address) ? 'EADDRINUSE' : undefined));
    for (let i = 0; i < 254; i++) {
      const { network, listener } = await claimNetwork(new SeededRandom(5), listen);
      expect(listener).toBe(`${network.hostIP}:${KUBELET_PORT}`);
      expect(taken.has(network.hostIP)).toBe(false);
      taken.add(network.hostIP);
    }
    await expect(claimNetwork(new SeededRandom(5), listen)).rejects.toThrow(/all 254 networks/);
  });

  it('is shared where the system has one address only', async () => {
    const listen = system((address) => (address === '127.0.0.1' ? undefined : 'EADDRNOTAVAIL'));
    const { network, listener } = await claimNetwork(new SeededRandom(5), listen);
    expect(network).toMatchObject({ type: 'shared-address', hostIP: '127.0.0.1' });
    expect(listener).toBe('127.0.0.1:0');
  });

  it('is not looked for when something else is wrong', async () => {
    const listen = system(() => 'EACCES');
    await expect(claimNetwork(new SeededRandom(5), listen)).rejects.toThrow('could not listen');
  });
});
