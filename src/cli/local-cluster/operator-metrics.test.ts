import { ChildProcess } from 'node:child_process';
import { expect, test } from 'vitest';
import type { PageQuestion, PageReply } from '../../operator/adapters/parent-page.ts';
import { metricsOf, ownFamilies } from './operator-metrics.ts';

const { signal } = new AbortController();

/** A process that answers when the test says so. */
class Operator extends ChildProcess {
  readonly asked: number[] = [];
  isGone = false;

  override send(question: PageQuestion, ...more: readonly unknown[]): boolean {
    const [told] = more;
    this.asked.push(question.id);
    if (typeof told === 'function') told(this.isGone ? new Error('the channel is closed') : null);
    return true;
  }

  answer(reply: PageReply): void {
    this.emit('message', reply, undefined);
  }
}

test('each reader gets the answer to its question', async () => {
  const operator = new Operator();
  const metrics = metricsOf(operator);
  const [first, second] = [metrics(signal), metrics(signal)];
  operator.answer({ id: 3, page: 'of nobody' });
  operator.answer({ id: 2, page: 'b' });
  operator.answer({ id: 1, page: 'a' });
  expect([await first, await second]).toEqual(['a', 'b']);
});

test('a reader hears why there is no page', async () => {
  const operator = new Operator();
  const metrics = metricsOf(operator);
  const failed = metrics(signal);
  operator.answer({ id: 1, problem: 'a gauge is broken' });
  await expect(failed).rejects.toThrow('a gauge is broken');
  const ended = metrics(signal);
  operator.emit('exit', 1, null);
  await expect(ended).rejects.toThrow('the operator does not run');
  operator.isGone = true;
  await expect(metrics(signal)).rejects.toThrow('the operator does not run');
});

test('readers that wait are few, and none waits for ever', async () => {
  const operator = new Operator();
  const metrics = metricsOf(operator);
  const end = new AbortController();
  const waiting = Array.from({ length: 8 }, () => metrics(end.signal));
  await expect(metrics(signal)).rejects.toThrow('8 readers wait already');
  end.abort(new Error('too late'));
  for (const each of waiting) await expect(each).rejects.toThrow('too late');
  const next = metrics(signal);
  operator.answer({ id: operator.asked.at(-1) ?? 0, page: 'a' });
  expect(await next).toBe('a');
});

test('families of every controller are left to the cluster', () => {
  const ours = '# HELP lockstep_x X\n# TYPE lockstep_x gauge\nlockstep_x 1\n\n';
  const upstream = '# HELP jobset_failed_total F\n# TYPE jobset_failed_total counter\n';
  const others = '# HELP workqueue_depth D\nworkqueue_depth{name="jobset"} 1\n\n';
  expect(ownFamilies(`${others}${ours}${others}${upstream}`)).toBe(`${ours}${upstream}`);
});
