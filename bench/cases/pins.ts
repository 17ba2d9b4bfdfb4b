import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { against, type Bench } from '../core/bench.ts';
import type { Group, Subject } from '../core/case.ts';
import { fileOf } from '../core/prompts.ts';
import { commit, git } from '../core/repository.ts';

const COUNT = 300;
const NUMBERS = 'plan, pinned to numbers';
const COMMITS = 'plan, pinned to commits';

/** Makes a prompt file that pins production to the given pin. */
function filePinning(index: number, edition: 0 | 1, pin: string): string {
  return fileOf(index, edition).replace(/^ {2}production: .*$/m, `  production: ${pin}`);
}

/**
 * Makes a repository in which one commit for each prompt gave the prompt its present text. Its last commit pins
 * production of each prompt. The service has the same texts.
 * @param choosePin chooses the pin of a prompt from the commit that gave the prompt its text
 */
function makePinnedRepository(bench: Bench, choosePin: (commitId: string) => string): string {
  const folder = bench.folder();
  const write = (index: number, edition: 0 | 1, pin: string): void =>
    writeFileSync(join(folder, 'prompts', `${index}.md`), filePinning(index, edition, pin));
  const indexes = Array.from({ length: COUNT }, (_, index) => index);
  mkdirSync(join(folder, 'prompts'));
  writeFileSync(join(folder, 'promptsync.yaml'), 'service:\n  api_key_env: PROMPTSYNC_API_KEY\n');
  for (const index of indexes) write(index, 0, 'latest');
  git(folder, 'init', '--quiet', '--initial-branch', 'main');
  commit(folder, 'Base');
  const pins = indexes.map((index) => {
    write(index, 1, 'latest');
    commit(folder, `Edit prompt ${index}`);
    return choosePin(git(folder, 'rev-parse', 'HEAD'));
  });
  for (const index of indexes) write(index, 1, pins[index] ?? 'latest');
  commit(folder, 'Pin production');
  return folder;
}

/** Prepares a plan. It fails if the plan is not empty. */
async function preparePlan(bench: Bench, choosePin: (commitId: string) => string): Promise<Subject> {
  const standIn = await bench.standIn('prompts');
  const folder = makePinnedRepository(bench, choosePin);
  const plan = () => bench.promptsync(folder, 'plan', '--exit-code');
  return { run: () => against(standIn, { count: COUNT, behind: 0 }, plan) };
}

export const pins: Group = {
  name: 'pins',
  about: `a plan of ${COUNT} prompts that changes nothing, with pins to numbers and with pins to ${COUNT} commits`,
  cases: [
    {
      title: `plan of ${COUNT} prompts, 0 ms`,
      rounds: 7,
      targets: [
        {
          shows: `no-op plan of ${COUNT} prompts pinned to ${COUNT} commits, beside one pinned to numbers`,
          ...{ of: COMMITS, to: NUMBERS, figure: 'milliseconds', atMost: 2 },
        },
      ],
      prepare: async (bench) => {
        await (await bench.standIn('prompts')).delay(0);
        return {
          [NUMBERS]: await preparePlan(bench, () => '1'),
          [COMMITS]: await preparePlan(bench, (commitId) => `git:${commitId}`),
        };
      },
    },
  ],
};
