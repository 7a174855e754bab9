import { describe, expect, it } from 'vitest';
import { createJsonLinesLogger } from './json-lines-logger.ts';

describe('the log of an agent', () => {
  it('has one JSON object per line, with bound fields and plain errors', () => {
    const lines: string[] = [];
    const logger = createJsonLinesLogger((line) => lines.push(line));
    logger.with({ pod: 'p' }).info('an epoch begins', { epoch: 3 });
    logger.error('broken', { err: new Error('line\nbreak') });
    logger.debug('not shown');
    expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      { level: 'info', time: expect.any(String), pod: 'p', epoch: 3, msg: 'an epoch begins' },
      { level: 'error', time: expect.any(String), err: 'line\nbreak', msg: 'broken' },
    ]);
  });
});
