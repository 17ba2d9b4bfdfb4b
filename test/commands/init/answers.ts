import type { InitAnswers } from '../../../src/commands/init/init-files.ts';
import type { Interview } from '../../../src/domain/system.ts';
import { makeProblem, ProblemError } from '../../../src/problem.ts';
import { DEFAULT_PROVIDER } from '../../../src/providers/provider-list.ts';
import { expect } from 'vitest';

/** Makes the answers for a new workspace at the root of a repository on GitHub. */
export function makeAnswers(answers: Partial<InitAnswers> = {}): InitAnswers {
  return {
    provider: DEFAULT_PROVIDER,
    url: 'https://prompts.example.com',
    keyVariable: 'PROMPTSYNC_API_KEY',
    folder: 'prompts',
    environments: ['staging', 'production'],
    id: null,
    ci: 'github',
    preCommit: false,
    ...answers,
  };
}

export type Replies = Readonly<Record<string, string | boolean | null | readonly string[]>>;

/**
 * Answers each question with the first entry whose key occurs in the question, or with the default if no entry matches.
 * A list holds the answers to a repeated question, in order. Null cancels init.
 */
export function makeInterview(replies: Replies) {
  const asked: string[] = [];
  const given = new Map<string, number>();
  const answer = (message: string): string | boolean | undefined => {
    asked.push(message);
    const [words, found] = Object.entries(replies).find(([one]) => message.includes(one)) ?? [];
    if (found === null) throw new ProblemError(makeProblem('usage/cancelled'));
    if (words === undefined || typeof found !== 'object') return found as string | boolean | undefined;
    const index = given.get(words) ?? 0;
    given.set(words, index + 1);
    return found[index];
  };
  const interview: Interview = {
    text: async ({ message, initial, findFault }) => {
      const said = String(answer(message) ?? initial);
      expect(findFault(said)).toBeNull();
      return said;
    },
    select: async ({ message, choices, initial }) => {
      const said = String(answer(message) ?? initial);
      expect(choices.map(({ value }) => value)).toContain(said);
      return said;
    },
    confirm: async ({ message, initial }) => Boolean(answer(message) ?? initial),
  };
  return { asked, interview };
}
