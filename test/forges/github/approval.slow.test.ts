import { expect, test } from 'vitest';
import { git } from '../../support/folder.ts';
import { CONFIG, promptText } from '../../support/prompts.ts';
import { changeService } from '../../support/service.ts';
import { pushEvent } from './support.ts';
import { type Edits, greets, makeTeam, type Pull, type Team } from './team.ts';

const reviewed = { inputs: { 'require-reviewed-plan': 'true' } };
const says = (key: string, text: string) => ({ [`prompts/${key}.md`]: promptText(key, { text }) });

/** Makes a team and applies its prompts. */
async function makeApplied(...keys: readonly string[]): Promise<Team> {
  const team = await makeTeam(Object.fromEntries(keys.map((key) => [key, {}])));
  await team.runPush(team.pushMain({}));
  team.service.takeWrites();
  return team;
}

/** Pushes files to a branch, opens or updates its pull request, and runs the review. */
async function open(team: Team, branch: string, files: Edits): Promise<Pull> {
  team.push(branch, files);
  const pull = team.openPull(branch);
  await team.runPull(pull);
  return pull;
}

const takeCreations = ({ service }: Team) => service.takeWrites().filter((write) => write.endsWith(' versions'));

test('With require-reviewed-plan, no forged check and no edited comment approves an unreviewed change', async () => {
  const team = await makeApplied('greeting');
  const { github } = team;
  const unseen = await open(team, 'other', greets('Unseen'));
  const seen = await open(team, 'change', greets('Seen'));
  team.mergePull(seen);
  const [[comment], [otherComment]] = [github.comments(seen.number), github.comments(unseen.number)];
  github.editComment(comment!.id, otherComment!.body);
  const [[own], [other]] = [github.checks(seen.head), github.checks(unseen.head)];
  const text = other!.output.text!.replace(`pull #${unseen.number}`, `pull #${seen.number}`);
  const forged = { ...own!, output: { ...other!.output, text } };
  // A copy of the other check, and its text as the check of another app, of a later commit and of another file.
  github.addCheck({ ...other!, head_sha: seen.head });
  github.addCheck({ ...forged, app: { slug: 'other' } });
  github.addCheck({ ...forged, head_sha: team.push('change', greets('Later')) });
  github.addCheck({ ...forged, external_id: `promptsync #${seen.number} other/promptsync.yaml` });
  github.editCheck(own!.id, { output: other!.output });
  // The merged text differs from the reviewed text, as after a push between the review and the merge.
  const commit = team.pushMain(greets('Unseen'));
  github.addPull({ number: seen.number, head: seen.head, base: 'main', merged: true, mergeCommit: commit });
  const ran = await team.runPush(commit, reviewed);
  expect(ran.outputs['failure-reason']).toBe('refused');
  expect(ran.stdout).toContain(
    `This change to the prompt "greeting" has not been reviewed. #${seen.number} has no valid approval`,
  );
  expect(team.service.takeWrites()).toEqual([]);
});

test('The review of an earlier commit or without an API key does not approve the merged change', async () => {
  const team = await makeApplied('greeting');
  await open(team, 'change', greets('Unseen'));
  await open(team, 'change', greets('Seen'));
  team.push('change', greets('Unseen'));
  const ran = await team.runPush(team.mergePull(team.openPull('change')), reviewed);
  expect(ran.outputs['failure-reason']).toBe('refused');
  expect(ran.stdout).toContain('#1 has no valid approval');

  team.push('fork', greets('Other'));
  const pull = team.openPull('fork', { repository: 'stranger/prompts', by: 'stranger' });
  await team.runPull(pull, { keyless: true });
  expect(team.github.checks(pull.head)).toMatchObject([{ name: 'promptsync', conclusion: 'success' }]);
  expect((await team.runPush(team.mergePull(pull), reviewed)).outputs['failure-reason']).toBe('refused');
  expect(team.service.takeWrites()).toEqual([]);
});

test('Of two pull requests with the same head commit, each review approves only changes of its own pull request', async () => {
  const team = await makeApplied('greeting', 'farewell');
  team.push('release', greets('Unseen'));
  const first = await open(team, 'change', { ...says('farewell', 'Bye'), 'promptsync.yaml': `${CONFIG}# Words\n` });
  const merged = team.mergePull(first);
  const second = team.openPull('change', { into: 'release' });
  expect([second.number, second.head]).toEqual([2, first.head]);
  await team.runPull(second);
  expect((await team.runPush(merged, reviewed)).outputs['failure-reason']).toBe('');
  expect(takeCreations(team)).toEqual(['POST prm_farewell versions']);

  const commit = team.pushMain(greets('Unseen'));
  const refusal = 'This change to the prompt "greeting" has not been reviewed. ';
  expect((await team.runPush(commit, reviewed)).stdout).toContain(`${refusal}Commit ${commit.slice(0, 12)} was not`);
  team.github.addPull({ number: 1, head: first.head, base: 'main', merged: true, mergeCommit: commit });
  const ran = await team.runPush(commit, reviewed);
  expect(ran.outputs['failure-reason']).toBe('refused');
  expect(ran.stdout).toContain(`${refusal}The review of #1 did not cover this change`);
  expect(takeCreations(team)).toEqual([]);
});

test('With require-reviewed-plan, no direct push and no pushed merge commit restores text that a pull request reverted', async () => {
  const team = await makeApplied('greeting');
  const apply = async (commit: string) => (await team.runPush(commit, reviewed)).outputs['failure-reason'];
  expect(await apply(team.mergePull(await open(team, 'bad', greets('Bad'))))).toBe('');
  const revert = { 'prompts/greeting.md': promptText('greeting') };
  expect(await apply(team.mergePull(await open(team, 'revert', revert)))).toBe('');
  team.service.takeWrites();
  const inOrigin = (...words: readonly string[]) => git(team.origin, ...words).split('\n')[0]!;
  /** Runs the action for a pushed merge commit, and puts main back afterwards. */
  const pushMerge = async (tree: string, parent: string, tip: string) => {
    const commit = inOrigin('commit-tree', tree, '-p', parent, '-p', tip, '-m', 'Merge main');
    const setMain = (to: string) => {
      inOrigin('update-ref', 'refs/heads/main', to);
      team.github.setBranch('main', to);
    };
    setMain(commit);
    const ran = await team.run('push', pushEvent(commit, tip), { ref: 'refs/heads/main', commit }, reviewed);
    setMain(tip);
    expect(ran.outputs['failure-reason']).toBe('refused');
    expect(ran.stdout).toContain('"greeting" has not been reviewed. ');
  };

  // The first parent of the merge commit is older than the revert, so the revert is no first-parent commit.
  const reverted = inOrigin('rev-parse', 'main');
  const tree = `${reverted}^1^{tree}`;
  await pushMerge(tree, inOrigin('commit-tree', tree, '-p', `${reverted}^1`, '-m', 'Words'), reverted);

  // The first parent is a commit of a reviewed pull request, but a squash merge has replaced it.
  const replaced = team.push('words', greets('Bad'));
  const words = await open(team, 'words', { ...revert, 'README.md': 'Words' });
  const squashed = team.mergePull(words, 'squash');
  expect(await apply(squashed)).toBe('');
  const commits = [squashed, replaced];
  team.github.addPull({ ...words, base: 'main', merged: true, mergeCommit: squashed, commits });
  await pushMerge(inOrigin('merge-tree', '--write-tree', replaced, squashed), replaced, squashed);

  for (const edits of [greets('Bad'), { 'README.md': 'Other words' }]) {
    const ran = await team.runPush(team.pushMain(edits), reviewed);
    expect(ran.stdout).toMatch(/"greeting" has not been reviewed\. Commit [0-9a-f]{12} was not merged through a pull/);
  }
  expect(team.service.takeWrites()).toEqual([]);
  // The review of a later pull request shows what the direct push has brought.
  expect(await apply(team.mergePull(await open(team, 'later', { 'README.md': 'Later words' })))).toBe('');
  expect(team.service.takeWrites()).toContain('set-active prm_greeting staging');
});

test('The action blocks prompts that changed in the service after the review and applies the others', async () => {
  const team = await makeApplied('greeting', 'farewell', 'refund');
  await open(team, 'change', { ...greets('Other'), ...says('farewell', 'Bye') });
  for (const key of ['greeting', 'refund']) await changeService(team.service.baseUrl, key, 'staging', 'By hand');
  team.service.takeWrites();
  const ran = await team.runPush(team.mergePull(team.openPull('change')), reviewed);
  expect(ran.outputs['failure-reason']).toBe('refused');
  for (const key of ['greeting', 'refund']) {
    expect(ran.stdout).toContain(`file=prompts/${key}.md::This change to the prompt "${key}" has not been reviewed. `);
  }
  expect(takeCreations(team)).toEqual(['POST prm_farewell versions']);
  expect(team.github.comments(1)[0]?.body).toContain('### promptsync applied in part (refused), ');
});

test('The action run for the last of several merges applies the changes of all their pull requests', async () => {
  const keys = ['one', 'two', 'three', 'four'] as const;
  const team = await makeApplied(...keys);
  for (const key of keys) await open(team, key, says(key, 'Other'));
  for (let index = 1; index < 12; index++) team.push('four', { 'README.md': `Word ${index}` });
  await team.runPull(team.openPull('four'));
  // Merges each pull request exactly as it was reviewed.
  const merged = keys.map((key) => team.mergePull(team.openPull(key), key === 'four' ? 'rebase' : 'squash'));
  expect((await team.runPush(merged[0]!, reviewed)).outputs['failure-reason']).toBe('superseded');
  expect((await team.runPush(merged.at(-1)!, reviewed)).outputs['failure-reason']).toBe('');
  expect(takeCreations(team)).toHaveLength(keys.length);
  for (const number of merged.keys()) {
    expect(team.github.comments(number + 1)[0]?.body).toContain('### promptsync applied, ');
  }
});

test('The check of a merge queue run approves no changes, so the action relies on the checks of the pull requests', async () => {
  const team = await makeApplied('greeting', 'farewell');
  await open(team, 'one', greets('One'));
  await open(team, 'two', says('farewell', 'Two'));
  const before = team.mergePull(team.openPull('one'));
  const queued = team.openPull('two');
  const event = {
    merge_group: { base_sha: before, head_sha: queued.merge },
    repository: { full_name: 'acme/prompts' },
  };
  const at = { ref: 'refs/heads/gh-readonly-queue/main/pr-2', commit: queued.merge };
  expect(await team.run('merge_group', event, at)).toMatchObject({ exitCode: 0 });
  const [check] = team.github.checks(queued.merge);
  expect(check).toMatchObject({ name: 'promptsync', conclusion: 'success' });
  expect(check?.output.text).toBe('This check does not approve any changes.');
  expect((await team.runPush(team.mergePull(queued), reviewed)).outputs['failure-reason']).toBe('');
  expect(takeCreations(team)).toHaveLength(2);
  expect(team.github.comments(2)[0]?.body).toMatch(/### promptsync applied, \d{4}-\d\d-\d\d \d\d:\d\d UTC\n/);
});

test('The check of a review has the name of its configuration file and a conclusion, and a second review changes nothing unless main has moved', async () => {
  const team = await makeApplied('greeting');
  const title = 'Plan: 1 of 1 prompt changes (1 new version, 1 activation).';
  const other = { 'b/promptsync.yaml': CONFIG, 'b/prompts/greeting.md': promptText('greeting', { text: 'B' }) };
  const rows: readonly (readonly [Edits, inputs: Readonly<Record<string, string>>, expected: object])[] = [
    [{ 'README.md': 'Words' }, {}, { name: 'promptsync', conclusion: 'neutral' }],
    [{ 'prompts/greeting.md': 'x' }, {}, { name: 'promptsync', conclusion: 'failure' }],
    [other, { 'working-directory': 'b' }, { name: 'promptsync (b/promptsync.yaml)', conclusion: 'success' }],
    [greets('Other'), { comment: 'never' }, { name: 'promptsync', conclusion: 'success', output: { title } }],
  ];
  for (const [index, [files, inputs, expected]] of rows.entries()) {
    team.push(`change-${index}`, files);
    const pull = team.openPull(`change-${index}`);
    await team.runPull(pull, { inputs });
    expect(team.github.checks(pull.head)).toMatchObject([expected]);
  }
  expect(team.github.comments(3)[0]?.body).toContain('### promptsync plan in `b`');
  const pull = await open(team, 'again', greets('Again'));
  const writes = () => team.github.requests.filter(({ method, path }) => method !== 'GET' && path !== '/graphql');
  const before = writes().length;
  await team.runPull(pull, { environment: { GITHUB_RUN_ID: '4712' } });
  expect(writes()).toHaveLength(before);
  team.pushMain({ 'README.md': 'Words' });
  await team.runPull(pull);
  expect(team.github.comments(pull.number)[0]?.body).toContain('action/stale-base');
});

test('Later runs do not overwrite the pull request comment about the applied versions', async () => {
  const team = await makeApplied('greeting');
  const pull = await open(team, 'change', greets('Other'));
  const merged = team.mergePull(pull);
  const ran = await team.runPush(merged, { environment: { GITHUB_RUN_ID: '4712' } });
  const [comment, ...others] = team.github.comments(1);
  expect(others).toEqual([]);
  expect(comment?.body).toMatch(/### promptsync applied, \d{4}-\d\d-\d\d \d\d:\d\d UTC\n\nApplied: 1 prompt \(1 new/);
  expect(comment?.body).toContain('/actions/runs/4712');
  expect(ran.stderr).toContain(`Comment: https://github.com/acme/prompts/pull/1#issuecomment-${comment?.id}`);

  await team.runPush(merged);
  await team.runPull(pull);
  await team.run('pull_request', { ...pull.event, action: 'closed' }, { ref: 'refs/heads/main', commit: pull.merge });
  team.pushMain(greets('Later'));
  expect((await team.runPush(team.pushMain({}))).exitCode).toBe(0);
  await changeService(team.service.baseUrl, 'greeting', 'staging', 'By hand');
  expect((await team.runPush(merged)).outputs['failure-reason']).toBe('superseded');
  expect(team.github.comments(1)).toEqual([comment]);
});
