/** Which addresses and ports the Pods of a node get. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PodAddresses, PortClaims } from './pod-addresses.ts';

const OWN = { type: 'own-addresses', hostIP: '127.9.0.1', podCIDR: '127.9.0.0/16' } as const;
const sharedAddress = () =>
  ({
    type: 'shared-address',
    hostIP: '127.0.0.1',
    claims: new PortClaims(),
    freePort: async () => 1,
  }) as const;

describe('addresses of Pods', () => {
  it('are kept by a Pod, and given out again last', () => {
    const addresses = new PodAddresses(OWN);
    expect([addresses.allocate('a'), addresses.allocate('a')]).toEqual(['127.9.0.2', '127.9.0.2']);
    addresses.release('a');
    expect(addresses.allocate('b')).toBe('127.9.0.3');
  });

  it('are never given to two Pods, and run out one day', () => {
    const addresses = new PodAddresses(OWN);
    addresses.reserve('old', '127.9.0.5');
    const given = new Set(['127.9.0.5']);
    for (let i = 0; ; i++) {
      const address = addresses.allocate(`pod-${i}`);
      if (address === undefined) break;
      expect(given.has(address)).toBe(false);
      given.add(address);
    }
    expect(given.size).toBe(65_533);
    addresses.release('pod-7');
    expect(addresses.allocate('last')).toBe('127.9.0.10');
  });

  it('differ at any time, as Pods come and go', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(9))), (steps) => {
        const addresses = new PodAddresses(OWN);
        const held = new Map<number, string | undefined>();
        for (const [takes, pod] of steps) {
          if (takes) {
            held.set(pod, addresses.allocate(String(pod)));
          } else {
            addresses.release(String(pod));
            held.delete(pod);
          }
          expect(new Set(held.values()).size).toBe(held.size);
        }
      }),
    );
  });

  it('are one where the system has no more, and then ports are claimed', () => {
    const addresses = new PodAddresses(sharedAddress());
    expect([addresses.allocate('a'), addresses.allocate('b')]).toEqual(['127.0.0.1', '127.0.0.1']);
    expect(addresses.claimPorts('a', [8080, 9090])).toBeUndefined();
    expect(addresses.claimPorts('a', [8080])).toBeUndefined();
    expect(addresses.claimPorts('b', [7070, 9090])).toBe(9090);
    addresses.release('a');
    expect(addresses.claimPorts('b', [7070, 9090])).toBeUndefined();
  });

  it('shared by all nodes leave each port to one Pod of all nodes', () => {
    const network = sharedAddress();
    const [one, other] = [new PodAddresses(network), new PodAddresses(network)];
    expect(one.claimPorts('a', [8080, 9090])).toBeUndefined();
    expect(other.claimPorts('b', [7070, 8080])).toBe(8080);
    expect(one.claimPorts('a', [8080])).toBeUndefined();
    one.release('a');
    expect(other.claimPorts('b', [7070, 8080])).toBeUndefined();
    other.release('b');
  });
});
