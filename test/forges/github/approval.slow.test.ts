import { describe, expect, test } from 'vitest';
import { git } from '../../support/folder.ts';
import { startFront } from '../../support/front.ts';
import type { CheckRun } from '../../support/github-api.ts';
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

/** Returns the check of `from`, rewritten as if it belonged to `pull`. */
function checkFor(pull: Pull, { github }: Team, from: Pull): CheckRun {
  const [check] = github.checks(from.head);
  const [own, other] = [`#${from.number} `, `#${pull.number} `];
  return {
    ...check!,
    external_id: check!.external_id!.replace(own, other),
    output: { ...check!.output, text: check!.output.text!.replace(`pull ${own.trim()}`, `pull ${other.trim()}`) },
  };
}

const takeCreations = ({ service }: Team) => service.takeWrites().filter((write) => write.endsWith(' versions'));

describe('require-reviewed-plan', () => {
  test.each<[string, (team: Team, seen: Pull, unseen: Pull) => void]>([
    [
      'Copying another plan into a pull request comment does not approve an unreviewed change',
      ({ github }, seen, { number }) => {
        const [[own], [other]] = [github.comments(seen.number), github.comments(number)];
        github.editComment(own!.id, other!.body);
      },
    ],
    [
      'The promptsync check on one pull request does not approve the changes of a different pull request',
      ({ github }, _, { head }) => expect(github.checks(head)).toHaveLength(1),
    ],
    [
      'A check copied from a different pull request does not approve an unreviewed change',
      ({ github }, seen, { head }) => github.addCheck({ ...github.checks(head)[0]!, head_sha: seen.head }),
    ],
    [
      'A check whose text was copied from a different check does not approve an unreviewed change',
      ({ github }, seen, { head }) => {
        const [[own], [other]] = [github.checks(seen.head), github.checks(head)];
        github.editCheck(own!.id, { output: other!.output });
      },
    ],
    [
      'A check created by a different GitHub App does not approve an unreviewed change',
      (team, seen, unseen) =>
        team.github.addCheck({ ...checkFor(seen, team, unseen), head_sha: seen.head, app: { slug: 'other' } }),
    ],
    [
      'A check on a commit that was pushed after the merge does not approve an unreviewed change',
      (team, seen, unseen) => {
        const head = team.push('change', greets('Later'));
        team.github.addCheck({ ...checkFor(seen, team, unseen), head_sha: head });
      },
    ],
    [
      'A check for a different promptsync configuration file does not approve an unreviewed change',
      (team, seen, unseen) => {
        const check = checkFor(seen, team, unseen);
        const path = check.external_id!.replace('promptsync.yaml', 'other/promptsync.yaml');
        expect(path).not.toBe(check.external_id);
        team.github.addCheck({ ...check, head_sha: seen.head, external_id: path });
      },
    ],
  ])('%s', async (_, forge) => {
    const team = await makeApplied('greeting');
    const unseen = await open(team, 'other', greets('Unseen'));
    const seen = await open(team, 'change', greets('Seen'));
    const merged = team.mergePull(seen);
    forge(team, seen, unseen);
    // The merged text differs from the reviewed text, as after a push between the review and the merge.
    const commit = team.pushMain(greets('Unseen'));
    team.github.addPull({ number: seen.number, head: seen.head, base: 'main', merged: true, mergeCommit: commit });
    const ran = await team.runPush(commit, reviewed);
    expect(ran.outputs['failure-reason']).toBe('refused');
    const message = `This change to the prompt "greeting" has not been reviewed\\. `;
    const reason = `(The review of #${seen.number} did not cover this change|#${seen.number} has no valid approval)`;
    expect(ran.stdout).toMatch(new RegExp(`${message}${reason}`));
    expect(team.service.takeWrites()).toEqual([]);
    expect(merged).not.toBe(commit);
  });

  test('A check on an earlier commit of a pull request does not approve a later unreviewed commit with the same text', async () => {
    const team = await makeApplied('greeting');
    await open(team, 'change', greets('Unseen'));
    await open(team, 'change', greets('Seen'));
    team.push('change', greets('Unseen'));
    const ran = await team.runPush(team.mergePull(team.openPull('change')), reviewed);
    expect(ran.outputs['failure-reason']).toBe('refused');
    expect(ran.stdout).toContain('#1 has no valid approval');
    expect(team.service.takeWrites()).toEqual([]);
  });

  test('A review without an API key creates a successful check that does not approve the change', async () => {
    const team = await makeApplied('greeting');
    team.push('change', greets('Other'));
    const pull = team.openPull('change', { repository: 'stranger/prompts', by: 'stranger' });
    await team.runPull(pull, { keyless: true });
    expect(team.github.checks(pull.head)).toMatchObject([{ name: 'promptsync', conclusion: 'success' }]);
    expect((await team.runPush(team.mergePull(pull), reviewed)).outputs['failure-reason']).toBe('refused');
  });
});

describe('Two pull requests with the same head commit', () => {
  /** Merges pull request 1 into main. Then reviews pull request 2, which would merge the same commit into `release`. */
  async function reviewSameHead(release: Edits): Promise<{ readonly team: Team; readonly merged: string }> {
    const team = await makeApplied('greeting', 'farewell');
    team.push('release', release);
    const first = await open(team, 'change', { ...says('farewell', 'Bye'), 'promptsync.yaml': `${CONFIG}# Words\n` });
    const merged = team.mergePull(first);
    const second = team.openPull('change', { into: 'release' });
    expect([second.number, second.head]).toEqual([2, first.head]);
    await team.runPull(second);
    return { team, merged };
  }

  test('A review of a pull request into one branch does not approve the same text pushed directly to a different branch', async () => {
    const { team } = await reviewSameHead(greets('Unseen'));
    const ran = await team.runPush(team.pushMain(greets('Unseen')), reviewed);
    expect(ran.outputs['failure-reason']).toBe('refused');
    expect(ran.stdout).toContain('This change to the prompt "greeting" has not been reviewed. ');
    expect(takeCreations(team)).toEqual(['POST prm_farewell versions']);
  });

  test('A merge commit is not approved if its text was reviewed only in a different pull request with the same head commit', async () => {
    const { team } = await reviewSameHead(greets('Unseen'));
    const commit = team.pushMain(greets('Unseen'));
    const [{ head_sha: head }] = team.github.checks(git(team.origin, 'rev-parse', 'change')) as [CheckRun];
    team.github.addPull({ number: 1, head, base: 'main', merged: true, mergeCommit: commit });
    const ran = await team.runPush(commit, reviewed);
    expect(ran.outputs['failure-reason']).toBe('refused');
    expect(ran.stdout).toContain(
      'This change to the prompt "greeting" has not been reviewed. The review of #1 did not cover this change',
    );
    expect(takeCreations(team)).toEqual(['POST prm_farewell versions']);
  });

  test('The approval of a pull request remains valid after a review of a second pull request with the same head commit', async () => {
    const { team, merged } = await reviewSameHead({ 'prompts/broken.md': 'No front matter' });
    const ran = await team.runPush(merged, reviewed);
    expect(ran.outputs['failure-reason']).toBe('');
    expect(takeCreations(team)).toEqual(['POST prm_farewell versions']);
  });
});

describe('check runs with the same name as the check', () => {
  const [title, summary, text] = [null, null, null];
  const job = { name: 'promptsync', conclusion: 'success', output: { title, summary, text } };

  test.each<[string, Pick<CheckRun, 'external_id'> & Partial<CheckRun>]>([
    [
      'promptsync ignores a GitHub Actions job that has the same name as the promptsync check',
      { external_id: 'ca395085-040a-526b-2ce8-bdc85f692774' },
    ],
    [
      'promptsync ignores a check run from a different app even if it has the same name as the promptsync check',
      { external_id: '', app: { slug: 'other' } },
    ],
  ])('%s', async (_, other) => {
    const team = await makeApplied('greeting');
    const pull = await open(team, 'change', greets('Other'));
    team.github.addCheck({ ...job, ...other, head_sha: pull.head });
    await team.runPull(pull);
    expect(team.github.checks(pull.head)).toMatchObject([{ name: 'promptsync' }, { ...job, ...other }]);
    const ran = await team.runPush(team.mergePull(pull), reviewed);
    expect(ran.outputs['failure-reason']).toBe('');
    expect(takeCreations(team)).toEqual(['POST prm_greeting versions']);
  });
});

describe('a refusal by require-reviewed-plan', () => {
  test.each<[string, Partial<CheckRun>]>([
    [
      'If a review used the token of a different app, the refusal of an apply names that app and the app whose checks count',
      {},
    ],
    [
      'If a different app created a check with the same name, the refusal of an apply names that app and the app whose checks count',
      { external_id: '' },
    ],
  ])('%s', async (_, parts) => {
    const team = await makeApplied('greeting');
    const pull = await open(team, 'change', greets('Other'));
    const [check] = team.github.checks(pull.head);
    team.github.editCheck(check!.id, { ...parts, app: { slug: 'acme-bot' } });
    const ran = await team.runPush(team.mergePull(pull), reviewed);
    expect(ran.outputs['failure-reason']).toBe('refused');
    expect(ran.stdout).toContain(
      '#1 has no valid approval because the app "acme-bot" created its check. This run uses a token of the app "github-actions", so it accepts only checks that "github-actions" created',
    );
    expect(ran.stdout).toContain('set `github-token` to a token from the same GitHub App');
    expect(team.service.takeWrites()).toEqual([]);
  });

  test.each<[string, RegExp]>([
    ['If an apply lacks the permission to read checks, its refusal names the missing permission', /check-runs/],
    [
      'If an apply lacks the permission to read pull requests, its refusal names the missing permission',
      /commits\/\w+\/pulls/,
    ],
  ])('%s', async (_, path) => {
    const team = await makeApplied('greeting');
    const merged = team.mergePull(await open(team, 'change', greets('Other')));
    team.github.fail({ method: 'GET', path }, { status: 403 }, Infinity);
    const ran = await team.runPush(merged, reviewed);
    expect(ran.outputs['failure-reason']).toBe('refused');
    expect(ran.stdout).toContain('the job has the `checks: read` and `pull-requests: read` permissions');
    expect(team.service.takeWrites()).toEqual([]);
  });
});

describe('require-reviewed-plan after a revert', () => {
  async function revertBadText(): Promise<Team> {
    const team = await makeApplied('greeting');
    const bad = await open(team, 'bad', greets('Bad'));
    expect((await team.runPush(team.mergePull(bad), reviewed)).outputs['failure-reason']).toBe('');
    const revert = await open(team, 'revert', { 'prompts/greeting.md': promptText('greeting') });
    expect((await team.runPush(team.mergePull(revert), reviewed)).outputs['failure-reason']).toBe('');
    team.service.takeWrites();
    return team;
  }

  test.each<[string, (team: Team) => string | Promise<string>, RegExp]>([
    [
      'With require-reviewed-plan, the action refuses a direct push that restores text reverted by a pull request',
      (team) => team.pushMain(greets('Bad')),
      /"greeting" has not been reviewed\. Commit [0-9a-f]{12} was not merged through a pull request\./,
    ],
    [
      'With require-reviewed-plan, the action refuses a push that follows an unreviewed direct push of reverted text',
      (team) => {
        team.pushMain(greets('Bad'));
        return team.pushMain({ 'README.md': 'Words' });
      },
      /"greeting" has not been reviewed\. Commit [0-9a-f]{12} was not merged through a pull request\./,
    ],
    [
      'With require-reviewed-plan, a pull request cannot restore reverted text if promptsync failed to create its check',
      async (team) => {
        team.github.fail({ method: 'POST', path: /check-runs/ }, { status: 403 });
        return team.mergePull(await open(team, 'again', greets('Bad')));
      },
      /"greeting" has not been reviewed\. #3 has no valid approval\./,
    ],
    [
      'With require-reviewed-plan, a pull request cannot restore reverted text if an older promptsync version reviewed it',
      async (team) => {
        const pull = await open(team, 'again', greets('Bad'));
        const [check] = team.github.checks(pull.head);
        const text = check!.output.text!.replace(/^pull .*\nbase .*/m, `base ${'a'.repeat(40)}`);
        team.github.editCheck(check!.id, { external_id: '', output: { ...check!.output, text } });
        return team.mergePull(pull);
      },
      /"greeting" has not been reviewed\. #3 has no valid approval\./,
    ],
    [
      'With require-reviewed-plan, a pull request cannot restore reverted text if it was reviewed for a different base branch',
      async (team) => {
        team.push('release', { 'README.md': 'Words' });
        team.push('again', greets('Bad'));
        const pull = team.openPull('again', { into: 'release' });
        await team.runPull(pull);
        return team.mergePull(pull, 'squash');
      },
      /"greeting" has not been reviewed\. #3 has no valid approval\./,
    ],
  ])('%s', async (_, bring, reason) => {
    const team = await revertBadText();
    const ran = await team.runPush(await bring(team), reviewed);
    expect(ran.outputs['failure-reason']).toBe('refused');
    expect(ran.stdout).toMatch(reason);
    expect(team.service.takeWrites()).toEqual([]);
  });

  test('A pushed merge commit cannot restore reverted text if its first parent is not the previous branch tip', async () => {
    const team = await revertBadText();
    const reverted = git(team.origin, 'rev-parse', 'main');
    const tree = `${reverted}^1^{tree}`;
    const side = git(team.origin, 'commit-tree', tree, '-p', `${reverted}^1`, '-m', 'Words');
    const commit = git(team.origin, 'commit-tree', tree, '-p', side, '-p', reverted, '-m', 'Merge main');
    git(team.origin, 'update-ref', 'refs/heads/main', commit);
    team.github.setBranch('main', commit);
    const ran = await team.run('push', pushEvent(commit, reverted), { ref: 'refs/heads/main', commit }, reviewed);
    expect(ran.outputs['failure-reason']).toBe('refused');
    expect(ran.stdout).toContain(
      `"greeting" has not been reviewed. Commit ${commit.slice(0, 12)} was not merged through a pull request.`,
    );
    expect(team.service.takeWrites()).toEqual([]);
  });

  test('A pushed merge commit cannot restore reverted text from an earlier commit of a squash-merged pull request', async () => {
    const team = await revertBadText();
    const replaced = team.push('words', greets('Bad'));
    const words = await open(team, 'words', { 'prompts/greeting.md': promptText('greeting'), 'README.md': 'Words' });
    const squashed = team.mergePull(words, 'squash');
    expect((await team.runPush(squashed, reviewed)).outputs['failure-reason']).toBe('');
    const commits = [squashed, replaced];
    team.github.addPull({ ...words, base: 'main', merged: true, mergeCommit: squashed, commits });
    team.service.takeWrites();
    const tree = git(team.origin, 'merge-tree', '--write-tree', replaced, squashed).split('\n')[0]!;
    const commit = git(team.origin, 'commit-tree', tree, '-p', replaced, '-p', squashed, '-m', 'Merge main');
    git(team.origin, 'update-ref', 'refs/heads/main', commit);
    team.github.setBranch('main', commit);
    const ran = await team.run('push', pushEvent(commit, squashed), { ref: 'refs/heads/main', commit }, reviewed);
    expect(ran.outputs['failure-reason']).toBe('refused');
    expect(team.service.takeWrites()).toEqual([]);
  });

  test('The review of a later pull request approves reverted text that a direct push restored before the review', async () => {
    const team = await revertBadText();
    team.pushMain(greets('Bad'));
    const later = await open(team, 'later', { 'README.md': 'Words' });
    const ran = await team.runPush(team.mergePull(later), reviewed);
    expect(ran.outputs['failure-reason']).toBe('');
    expect(team.service.takeWrites()).toContain('set-active prm_greeting staging');
  });
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

test('The action run for the last of twelve squash merges applies the changes of all twelve pull requests', async () => {
  const keys = [...Array(12).keys()].map((index) => `prompt-${index}`);
  const team = await makeApplied(...keys);
  for (const key of keys) await open(team, key, says(key, 'Other'));
  // Merges each pull request exactly as it was reviewed.
  const merged = keys.map((key) => team.mergePull(team.openPull(key), 'squash'));
  expect((await team.runPush(merged[0]!, reviewed)).outputs['failure-reason']).toBe('superseded');
  const [last = ''] = merged.slice(-1);
  expect((await team.runPush(last, reviewed)).outputs['failure-reason']).toBe('');
  expect(takeCreations(team)).toHaveLength(12);
  for (const number of merged.keys()) {
    expect(team.github.comments(number + 1)[0]?.body).toContain('### promptsync applied, ');
  }
});

test('The action run after a rebase merge also applies an earlier merged pull request that was not applied yet', async () => {
  const team = await makeApplied('greeting', 'farewell');
  const first = await open(team, 'first', says('farewell', 'Bye'));
  for (let index = 1; index < 12; index++) team.push('change', { 'README.md': `Word ${index}` });
  const change = await open(team, 'change', greets('Other'));
  team.mergePull(first);
  const commit = team.mergePull(change, 'rebase');
  expect((await team.runPush(commit, reviewed)).outputs['failure-reason']).toBe('');
  expect(takeCreations(team)).toHaveLength(2);
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

test('The action does not activate an existing version whose metadata differs from the reviewed metadata', async () => {
  const team = await makeApplied('greeting');
  const withMetadata = promptText('greeting', { text: 'B', metadata: { model: 'old' } });
  const merged = team.mergePull(await open(team, 'one', { 'prompts/greeting.md': withMetadata }));
  let isDead = false;
  const { baseUrl } = await startFront({
    target: team.service.baseUrl,
    answer: ({ method, path }) => {
      if (isDead && method !== 'GET') return { status: 400, body: '{}' };
      isDead ||= method === 'POST' && path.endsWith('/versions');
      return null;
    },
  });
  await team.runPush(merged, { inputs: { ...reviewed.inputs, 'base-url': baseUrl } });
  team.service.takeWrites();
  const second = team.mergePull(
    await open(team, 'two', { 'prompts/greeting.md': promptText('greeting', { text: 'B' }) }),
  );
  const ran = await team.runPush(second, reviewed);
  expect(ran.stdout).toContain('apply/unreviewed-metadata');
  expect(team.service.takeWrites().filter((write) => write.includes('staging'))).toEqual([]);
});

describe('the check of a review', () => {
  const checksOf = async (files: Edits, inputs = {}) => {
    const team = await makeApplied('greeting');
    team.push('change', files);
    const pull = team.openPull('change');
    await team.runPull(pull, { inputs });
    return team.github
      .checks(pull.head)
      .map(({ name, conclusion, output }) => ({ name, conclusion, title: output.title }));
  };
  const name = 'promptsync';
  const created = 'Plan: 1 of 1 prompt changes (1 new version, 1 activation).';

  test.each<[string, Edits, object, object]>([
    [
      'The promptsync check succeeds if the plan contains changes',
      greets('Other'),
      {},
      { name, conclusion: 'success', title: created },
    ],
    [
      'promptsync creates its check even if pull request comments are disabled',
      greets('Other'),
      { comment: 'never' },
      { name, conclusion: 'success' },
    ],
    [
      'The promptsync check is neutral if the plan contains no changes',
      { 'README.md': 'Words' },
      {},
      { name, conclusion: 'neutral' },
    ],
    [
      'The promptsync check fails if a prompt file is invalid',
      { 'prompts/greeting.md': 'x' },
      {},
      { name, conclusion: 'failure' },
    ],
    [
      'The name of the promptsync check contains the path of a configuration file in a subfolder',
      { 'b/promptsync.yaml': 'prompts: ["*.md"]\n', 'b/greeting.md': promptText('greeting', { text: 'B' }) },
      { 'working-directory': 'b' },
      { name: 'promptsync (b/promptsync.yaml)', conclusion: 'success', title: created },
    ],
  ])('%s', async (_, files, inputs, expected) => {
    expect(await checksOf(files, inputs)).toMatchObject([expected]);
  });

  test('A second review of the same commit changes neither the check nor the pull request comment', async () => {
    const team = await makeApplied('greeting');
    const pull = await open(team, 'change', greets('Other'));
    const writes = () => team.github.requests.filter(({ method, path }) => method !== 'GET' && path !== '/graphql');
    const before = writes().length;
    await team.runPull(pull, { environment: { GITHUB_RUN_ID: '4712' } });
    expect(writes()).toHaveLength(before);
  });
});

describe('the comment after the merge', () => {
  const titleOf = ({ github }: Team, number = 1) => github.comments(number)[0]?.body.split('\n')[1];

  test('Later runs do not overwrite the pull request comment about the applied versions', async () => {
    const team = await makeApplied('greeting');
    const pull = await open(team, 'change', greets('Other'));
    const merged = team.mergePull(pull);
    const ran = await team.runPush(merged, { environment: { GITHUB_RUN_ID: '4712' } });
    const [comment, ...others] = team.github.comments(1);
    expect(others).toEqual([]);
    expect(comment?.body).toMatch(
      /### promptsync applied, \d{4}-\d\d-\d\d \d\d:\d\d UTC\n\nApplied: 1 prompt \(1 new version, 1 act/,
    );
    expect(comment?.body).toContain('| `greeting` | `staging`: `v1` → `v2` |');
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

  test('The pull request comment of a superseded action run names the newer commit on the base branch', async () => {
    const team = await makeApplied('greeting', 'farewell');
    const merged = team.mergePull(await open(team, 'change', greets('Other')));
    const newer = team.pushMain(says('farewell', 'Bye'));
    await team.runPush(merged);
    expect(titleOf(team)).toContain('### promptsync superseded, ');
    const { body } = team.github.comments(1)[0]!;
    expect(body).toContain('[guard/superseded]');
    expect(body).toContain(newer.slice(0, 12));
  });

  test('The pull request comment names a newer commit that was pushed while the action was applying changes', async () => {
    const team = await makeApplied('greeting', 'farewell');
    const merged = team.mergePull(await open(team, 'change', greets('Other')));
    const newer: string[] = [];
    const { baseUrl } = await startFront({
      target: team.service.baseUrl,
      answer: ({ method }) => {
        if (method === 'POST' && newer.length === 0) newer.push(team.pushMain(says('farewell', 'Bye')));
        return null;
      },
    });
    await team.runPush(merged, { inputs: { 'base-url': baseUrl } });
    expect(titleOf(team)).toContain('### promptsync applied and overtaken, ');
    expect(team.github.comments(1)[0]?.body).toContain(
      `Someone pushed a newer commit (${newer.join().slice(0, 12)}) to main`,
    );
  });

  test('The pull request comment reports that applying the changes failed', async () => {
    const team = await makeApplied('greeting');
    const merged = team.mergePull(await open(team, 'change', greets('Other')));
    await team.runPush(merged, { inputs: { 'api-key': 'sk-wrong-0123456789' } });
    expect(titleOf(team)).toContain('### promptsync failed, ');
  });

  test('The pull request comment warns if the base branch moved before the review', async () => {
    const team = await makeApplied('greeting');
    team.push('change', greets('Other'));
    const pull = team.openPull('change');
    team.pushMain({ 'README.md': 'Words' });
    await team.runPull(pull);
    expect(team.github.comments(1)[0]?.body).toContain('action/stale-base');
  });
});
