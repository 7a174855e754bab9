import { describe, expect, test } from 'vitest';
import { findProbeReport, type ProbeReport, probeLine } from './probe-report.ts';

const REPORT: ProbeReport = {
  version: '1.2.3',
  hub: { error: 'refused', code: 'ECONNREFUSED' },
  apiServer: { status: 200, aheadMs: 3, errorMs: 501 },
};

describe('the report of a probe', () => {
  test('is found among other lines', () => {
    expect(findProbeReport(`noise\n${probeLine(REPORT)}\nmore`)).toEqual(REPORT);
    const { hub: _hub, ...without } = REPORT;
    expect(findProbeReport(probeLine(without))).toEqual(without);
  });

  test.each([
    ['nothing', ''],
    ['an error of an older agent', 'lockstep-agent: "--probe": expected -- COMMAND'],
    ['broken JSON', '{"lockstepProbe":{'],
    ['another type', '{"lockstepProbe":[]}'],
    ['no version', '{"lockstepProbe":{"apiServer":{"status":200}}}'],
    ['a version that is none', '{"lockstepProbe":{"version":1,"apiServer":{"status":200}}}'],
    ['a status that is none', '{"lockstepProbe":{"version":"1","apiServer":{"status":"200"}}}'],
    ['no API server', '{"lockstepProbe":{"version":"1"}}'],
    ['a hub that is none', '{"lockstepProbe":{"version":"1","apiServer":{"status":1},"hub":7}}'],
  ])('is absent from %s', (_what, output) => {
    expect(findProbeReport(output)).toBeUndefined();
  });

  test('is bounded', () => {
    const long = 'x'.repeat(100_000);
    const found = findProbeReport(probeLine({ version: long, apiServer: { error: long } }));
    expect(JSON.stringify(found).length).toBeLessThan(1_200);
  });
});
