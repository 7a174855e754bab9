import type { Container } from '@lockstep/kube/objects/pod.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { describe, expect, it } from 'vitest';
import type { ProbeOutcome } from './probe-worker.ts';
import { startProber } from './prober.ts';

/** Runs the probes for `ms` against a container with these answers; returns the results. */
async function probe(
  container: Omit<Container, 'name'>,
  answer: (ms: number) => ProbeOutcome,
  ms: number,
): Promise<{ verdicts: readonly string[]; failures: number; attempts: number }> {
  const clock = new VirtualClock();
  const verdicts: string[] = [];
  let failures = 0;
  let attempts = 0;
  const prober = startProber(
    { name: 'c', ...container },
    {
      clock,
      attempt: async () => {
        attempts++;
        return { outcome: answer(clock.monotonic()), note: '' };
      },
      onVerdict: (kind, verdict) => verdicts.push(`${clock.monotonic()} ${kind} ${verdict}`),
      onFailure: () => {
        failures++;
      },
      onWarning: () => undefined,
    },
  );
  await clock.advance(ms);
  prober.stop();
  await clock.advance(1_000_000);
  expect(clock.pendingTimers).toBe(0);
  return { verdicts, failures, attempts };
}

const http = { httpGet: { port: 80 } };
const exec = { exec: { command: ['true'] } };
const up = (from: number) => (ms: number) => (ms >= from ? 'success' : 'failure') as ProbeOutcome;

describe('probes', () => {
  it('fail after as many failures in a row as the threshold says, ten seconds apart', async () => {
    const { verdicts } = await probe({ livenessProbe: exec }, () => 'failure', 25_000);
    expect(verdicts).toEqual(['20000 Liveness failure']);
  });

  it('begin to count again when the result changes', async () => {
    const flaky = (ms: number): ProbeOutcome => (ms === 20_000 ? 'success' : 'failure');
    const { verdicts } = await probe({ livenessProbe: exec }, flaky, 60_000);
    expect(verdicts).toEqual(['20000 Liveness success', '50000 Liveness failure']);
  });

  it('do not count what says nothing', async () => {
    const { verdicts, failures } = await probe({ livenessProbe: exec }, () => 'error', 100_000);
    expect({ verdicts, failures }).toEqual({ verdicts: [], failures: 0 });
  });

  it('wait for the initial delay', async () => {
    const readinessProbe = { ...http, initialDelaySeconds: 7 };
    const { verdicts } = await probe({ readinessProbe }, () => 'success', 10_000);
    expect(verdicts).toEqual(['7000 Readiness success']);
  });

  it('tell readiness whenever it changes', async () => {
    const readinessProbe = { ...http, periodSeconds: 1, failureThreshold: 2, successThreshold: 2 };
    const answer = (ms: number): ProbeOutcome => (ms >= 3000 && ms < 6000 ? 'failure' : 'success');
    const { verdicts } = await probe({ readinessProbe }, answer, 10_000);
    expect(verdicts).toEqual([
      '1000 Readiness success',
      '4000 Readiness failure',
      '7000 Readiness success',
    ]);
  });

  it('start with the startup probe alone', async () => {
    const container = { startupProbe: { ...exec, periodSeconds: 1 }, livenessProbe: exec };
    const { verdicts } = await probe(container, up(2_000), 4_000);
    expect(verdicts).toEqual(['2000 Startup success', '2000 Liveness success']);
  });

  it('give a container up that does not start in time', async () => {
    const startupProbe = { ...http, periodSeconds: 1, failureThreshold: 3 };
    const { verdicts, failures } = await probe({ startupProbe }, () => 'failure', 10_000);
    expect({ verdicts, failures }).toEqual({ verdicts: ['3000 Startup failure'], failures: 3 });
  });

  it('count a slow attempt that is under way when the next is due', async () => {
    const clock = new VirtualClock();
    let failures = 0;
    const startupProbe = { ...http, periodSeconds: 1 };
    const prober = startProber(
      { name: 'c', startupProbe },
      {
        clock,
        attempt: async () => {
          await sleep(clock, 900);
          return { outcome: 'failure', note: 'too slow' };
        },
        onVerdict: () => prober.stop(),
        onFailure: () => {
          failures++;
        },
        onWarning: () => undefined,
      },
    );
    await clock.advance(4_000);
    expect(failures).toBe(3);
    expect(clock.monotonic()).toBe(4_000);
  });

  it('see a start over the network before the first period is over', async () => {
    const startupProbe = { ...http, periodSeconds: 10 };
    const { verdicts, failures } = await probe({ startupProbe }, up(180), 20_000);
    expect({ verdicts, failures }).toEqual({ verdicts: ['200 Startup success'], failures: 0 });
  });

  it('count from the end of the first period, after the initial delay', async () => {
    const startupProbe = { ...http, initialDelaySeconds: 5, periodSeconds: 2, failureThreshold: 2 };
    const { verdicts, attempts } = await probe({ startupProbe }, () => 'failure', 20_000);
    expect({ verdicts, attempts }).toEqual({ verdicts: ['9000 Startup failure'], attempts: 3 });
  });

  it('run no command more often than its period says', async () => {
    const { attempts } = await probe({ startupProbe: exec }, () => 'failure', 9_000);
    expect(attempts).toBe(1);
  });
});
