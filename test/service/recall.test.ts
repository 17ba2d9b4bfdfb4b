import { expect, test } from 'vitest';
import { makeRecall } from '../../src/service/recall.ts';

/** Notes what was read. */
function recalling() {
  const recall = makeRecall<string>();
  const read: string[] = [];
  const ask = (promptId: string, body: string) =>
    recall(promptId, Buffer.from(body), () => {
      read.push(body);
      return `${body}!`;
    });
  return { ask, read };
}

test('an answer that is equal to the byte is read once for each prompt', () => {
  const { ask, read } = recalling();
  expect([ask('p1', 'a'), ask('p1', 'a'), ask('p2', 'a'), ask('p1', 'a')]).toStrictEqual(['a!', 'a!', 'a!', 'a!']);
  expect(read).toStrictEqual(['a', 'a']);
});

test('an answer that differs from the last one is read', () => {
  const { ask, read } = recalling();
  for (const body of ['a', 'b', 'a', 'aa']) expect(ask('p1', body)).toBe(`${body}!`);
  expect(read).toStrictEqual(['a', 'b', 'a', 'aa']);
});

test('an answer that cannot be read is read anew', () => {
  const recall = makeRecall<string>();
  const refuse = () => {
    throw new Error('no');
  };
  expect(() => recall('p1', Buffer.from('a'), refuse)).toThrow('no');
  expect(recall('p1', Buffer.from('a'), () => 'yes')).toBe('yes');
});

test.each([
  ['large ones', 1, 70_000],
  ['those of many prompts', 40, 1],
])('%s are not held', (_, prompts, length) => {
  const { ask, read } = recalling();
  const bodies = Array.from({ length: prompts }, () => 'x'.repeat(length));
  bodies.forEach((body, index) => ask(`p${index}`, body));
  ask('p0', bodies[0]!);
  expect(read).toHaveLength(prompts + 1);
});
