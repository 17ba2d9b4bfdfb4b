import { describe, expect, test } from 'vitest';
import { makeQueue } from '../../src/service/queue.ts';

const good = { status: 200, waited: 1 };

/** Puts this many tasks into a queue, which end when they are told to. */
function queued(most: number, tasks: number) {
  const queue = makeQueue(most);
  const begun: PromiseWithResolvers<typeof good>[] = [];
  const order: number[] = [];
  const all = Array.from({ length: tasks }, (_, index) =>
    queue(() => {
      const task = Promise.withResolvers<typeof good>();
      order.push(index);
      begun.push(task);
      return task.promise;
    }),
  );
  return { queue, begun, order, all };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('A line before the service', () => {
  test('lets in four at first, then two for each that is done', async () => {
    const { begun } = queued(100, 50);
    await settled();
    expect(begun).toHaveLength(4);
    begun[0]?.resolve(good);
    await settled();
    expect(begun).toHaveLength(6);
  });

  test('never lets in more than it may, in the order in which they came', async () => {
    const { begun, order, all } = queued(6, 20);
    for (let done = 0; done < 20; done += 1) {
      await settled();
      expect(begun.length - done).toBeLessThanOrEqual(6);
      begun[done]?.resolve(good);
    }
    expect(await Promise.all(all)).toHaveLength(20);
    expect(order).toStrictEqual(Array.from({ length: 20 }, (_, index) => index));
  });

  test('lets in nobody in place of those that were too many', async () => {
    const { begun } = queued(8, 20);
    await settled();
    for (const task of begun.slice(0, 2)) task.resolve({ ...good, status: 429 });
    await settled();
    expect(begun).toHaveLength(4);
    begun[2]?.resolve(good);
    await settled();
    expect(begun).toHaveLength(5);
  });

  test('gives the place of a task that fails to the next one', async () => {
    const { queue, begun, all } = queued(1, 1);
    await settled();
    const next = queue(async () => good);
    begun[0]?.reject(new Error('no'));
    await expect(all[0]).rejects.toThrow('no');
    expect(await next).toBe(good);
  });
});
