import { describe, expect, it } from 'vitest';
import { PODS } from '../../objects/pod.ts';
import { conflict } from '../../status-errors.ts';
import { DeadlineError } from '../deadline.ts';
import { TransportError } from '../ports/transport.ts';
import { createPinoLogger } from './pino-logger.ts';

/** Logs with `level` and returns the lines as objects. */
function logged(
  level: 'debug' | 'info' | 'error',
  use: (logger: ReturnType<typeof createPinoLogger>) => void,
): Record<string, unknown>[] {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  use(createPinoLogger({ destination, level }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('createPinoLogger', () => {
  it('writes one JSON object per line with level, time, message and fields', () => {
    const [line] = logged('info', (logger) => logger.info('ready', { pod: 'a/b' }));
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      msg: 'ready',
      pod: 'a/b',
    });
  });

  it('drops what is below its level', () => {
    const lines = logged('error', (logger) => {
      logger.debug('no');
      logger.info('no');
      logger.warn('no');
      logger.error('yes');
    });
    expect(lines.map((line) => line['msg'])).toEqual(['yes']);
  });

  it('adds the fields of `with`, and survives what JSON cannot say', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const [line] = logged('debug', (logger) =>
      logger.with({ jobset: 'x' }).warn('odd', {
        circular,
        big: 10n,
        err: new Error('inner', { cause: new Error('root') }),
      }),
    );
    expect(line).toMatchObject({ level: 'warn', jobset: 'x', msg: 'odd' });
    expect(JSON.stringify(line)).toContain('root');
  });

  it.each([
    [
      'an answer of the API server',
      conflict(PODS, 'a', 'it was changed'),
      {
        type: 'ApiStatusError',
        code: 409,
        message: 'Operation cannot be fulfilled on pods "a": it was changed',
      },
    ],
    [
      'a connection that fails',
      new TransportError('10.0.0.1:443: connect ECONNREFUSED', {
        code: 'ECONNREFUSED',
        cause: new Error('connect ECONNREFUSED'),
      }),
      {
        type: 'TransportError',
        code: 'ECONNREFUSED',
        message: '10.0.0.1:443: connect ECONNREFUSED',
      },
    ],
    [
      'a time that is up',
      new DeadlineError('not done within 8000 ms', {
        cause: new TransportError('no way there', { code: 'EHOSTUNREACH' }),
      }),
      {
        type: 'DeadlineError',
        message: 'not done within 8000 ms',
        cause: { type: 'TransportError', code: 'EHOSTUNREACH', message: 'no way there' },
      },
    ],
  ])('shows of %s what it says, and no stack', (_, err, shown) => {
    const [line] = logged('info', (logger) => {
      logger.warn('not done', { err });
    });
    expect(line?.['err']).toEqual(shown);
  });
});
