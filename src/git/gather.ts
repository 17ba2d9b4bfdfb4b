import { setImmediate } from 'node:timers/promises';

/** Asks for one item of a group, and gets the answer for all that were asked for along with it. */
export type Gathered<Answer> = (item: string, ...group: readonly string[]) => Promise<Answer>;

type Round<Answer> = { readonly items: Set<string>; readonly answer: Promise<Answer> };

/**
 * What is asked at a time is answered at a time, where each answer takes a process: items of one group that are asked
 * for in the same turn, or while the group's last answer is being made, are answered together.
 */
export function gathered<Answer>(
  answer: (items: readonly string[], ...group: readonly string[]) => Promise<Answer>,
): Gathered<Answer> {
  const next = new Map<string, Round<Answer>>();
  const last = new Map<string, Promise<unknown>>();
  const start = (key: string, group: readonly string[]): Round<Answer> => {
    const items = new Set<string>();
    const before = Promise.allSettled([last.get(key), setImmediate()]);
    const made = before.then(() => {
      next.delete(key);
      return answer([...items], ...group);
    });
    last.set(key, made);
    return { items, answer: made };
  };
  return (item, ...group) => {
    const key = group.join('\0');
    const round = next.get(key) ?? start(key, group);
    next.set(key, round);
    round.items.add(item);
    return round.answer;
  };
}
