import { expect, test } from 'vitest';
import { cloneOf, commitEdits, git } from '../support/folder.ts';
import { makePromotionScene, PROMOTION, summarizeRun } from '../support/promotion.ts';
import type { PromptParts } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';
import { changeService } from '../support/service.ts';
import { pinsIn } from '../support/several-services.ts';

const CONFIG = `${PROMOTION}portable_pins: true\nother_environments: [eu]\n`;
const PROMOTE = ['promote', 'greeting', '--to', 'production'] as const;
const ROLL_BACK = ['rollback', 'greeting', '--environment', 'production'] as const;
const APPLIED = 'exit 0, greeting applied';
const UNCHANGED = 'exit 0, greeting unchanged';

/** Returns the parts of a prompt file whose pin for staging follows the text. */
function following(text: string, production?: string): PromptParts {
  return { text, pins: { staging: 'latest', ...(production !== undefined && { production }) } };
}

/** Makes a repository with portable pins, whose first commit and text are synced to staging. */
async function makeScene() {
  const scene = await makePromotionScene(following('One.'), { config: CONFIG });
  const { folder, service } = scene;
  const sync = async () => expect((await scene.run('sync', '--yes')).exitCode).toBe(0);
  await sync();
  return {
    ...scene,
    sync,
    first: git(folder, 'rev-parse', 'HEAD'),
    productionPin: () =>
      pinsIn(scene.read())
        .find((pin) => pin.startsWith('production'))
        ?.replace('production: ', ''),
    summarize: async (...words: readonly string[]) => summarizeRun(await scene.runJson(...words)),
    /** Commits what a command edited, and syncs it. */
    accept: async () => (commitEdits(folder, 'Accept'), sync()),
    changeByHand: (environment: string, text: string) => changeService(service.baseUrl, 'greeting', environment, text),
    runInShallowClone: (words: readonly string[]) => runJson(cloneOf(folder), words, service),
  };
}

test('With portable pins, promote and rollback write commits, and a sync activates the versions with their texts', async () => {
  const scene = await makeScene();
  const { folder, first, summarize, sync, accept, productionPin, commit, serves, service, read } = scene;
  await scene.run(...PROMOTE, '--commit');
  expect(git(folder, 'log', '-1', '--format=%s')).toBe(`Promote greeting to production (git:${first.slice(0, 12)})`);
  const second = commit(following('Two.', `git:${first}`));
  await sync();
  expect(serves('production')).toBe('v1');
  expect(await summarize(...PROMOTE)).toBe(APPLIED);
  expect(productionPin()).toBe(`git:${second}`);
  service.takeWrites();
  await accept();
  expect(service.takeWrites()).toEqual(['set-active prm_greeting production']);
  expect(serves('production')).toBe('v2');
  expect(await summarize('plan', '--exit-code')).toBe(UNCHANGED);

  // promote leaves a pin alone that means the text already.
  for (const pin of ['latest', 'git:HEAD~1']) {
    scene.write(following('Two.', pin));
    const before = read();
    expect([pin, await summarize(...PROMOTE)]).toEqual([pin, UNCHANGED]);
    expect(read()).toBe(before);
  }

  scene.write(following('Two.', `git:${second}`));
  expect(await summarize(...ROLL_BACK)).toBe(APPLIED);
  expect(productionPin()).toBe(`git:${first}`);
  await accept();
  expect(serves('production')).toBe('v1');
  expect(await summarize(...ROLL_BACK)).toBe('exit 3, greeting blocked rollback/nothing-before');
  expect(await summarize(...ROLL_BACK, '--to', '2')).toBe(APPLIED);
  expect(productionPin()).toBe(`git:${second}`);

  // A revert puts staging behind production.
  commit(following('Two.', `git:${second}`));
  await sync();
  commit(following('One.', `git:${second}`));
  await sync();
  expect(await summarize(...PROMOTE)).toBe(`${UNCHANGED} promote/older`);
  expect(productionPin()).toBe(`git:${second}`);
  expect(await summarize(...PROMOTE, '--allow-older')).toBe(APPLIED);
});

test('With portable pins, promote and rollback block a prompt if no known commit has the text', async () => {
  const { first, commit, sync, changeByHand, runInShallowClone, runJson: json, summarize, read } = await makeScene();
  commit({ ...following('One.'), name: 'Renamed' });
  const promoted = await runInShallowClone(PROMOTE);
  expect(summarizeRun(promoted)).toBe('exit 3, greeting blocked pin/not-in-git');
  expect(promoted.report.prompts[0]?.problems[0]?.hint).toContain('git fetch --unshallow');
  commit(following('One.', 'latest'));
  await sync();
  expect(summarizeRun(await runInShallowClone(ROLL_BACK))).toBe('exit 3, greeting blocked rollback/shallow');
  commit(following('One.', `git:${first}`));
  await changeByHand('staging', 'By hand.');
  const before = read();
  const refused = await json(...PROMOTE);
  expect(summarizeRun(refused)).toBe('exit 3, greeting blocked pin/not-in-git');
  expect(refused.report.prompts[0]?.problems[0]?.message).toContain('the text that "staging" serves (v2)');
  // A sync restores what somebody changed in the service, so a rollback need not edit the file.
  await changeByHand('production', 'By hand, too.');
  expect(await summarize(...ROLL_BACK)).toBe(UNCHANGED);
  expect(read()).toBe(before);
});

test('With portable pins, pull takes the text of an environment that follows the file, and leaves every git: pin alone', async () => {
  const { first, commit, sync, changeByHand, runJson: json, summarize, productionPin, read } = await makeScene();
  commit(following('One.', `git:${first}`));
  await sync();
  await changeByHand('production', 'By hand.');
  const before = read();
  const pulled = await json('pull');
  expect(summarizeRun(pulled)).toBe(`${UNCHANGED} pull/kept-pin`);
  expect(pulled.report.prompts[0]?.problems[0]).toMatchObject({ line: 5, severity: 'warning' });
  expect(read()).toBe(before);
  await changeByHand('staging', 'One!');
  expect(await summarize('pull')).toBe(`${APPLIED} pull/kept-pin`);
  expect(productionPin()).toBe(`git:${first}`);
  expect(read()).toContain('\n\nOne!\n');
});
