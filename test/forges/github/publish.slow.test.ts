import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Failure, FailureMatch } from '../../support/github-api.ts';
import { expectInert } from '../../support/markdown.ts';
import { promptText } from '../../support/prompts.ts';
import { KEY } from '../../support/service.ts';
import { greets, makeTeam, type Edits } from './team.ts';

test('A review keeps one comment about the newest commit, also when nothing is left to change', async () => {
  const { github, pushMain, openPull, review, runPull, runPush } = await makeTeam({ greeting: {} });
  await runPush(pushMain({}));
  await review(greets('First words'));
  const older = openPull('change');
  await review(greets('Second words'));
  const updated = github.comments(1);
  expect(updated[0]?.body).toContain('\n+Second words\n');
  expect((await runPull(older)).exitCode).toBe(0);
  expect(github.comments(1)).toEqual(updated);
  const last = { 'prompts/greeting.md': promptText('greeting'), 'README.md': 'Words' };
  expect((await review(last)).outputs['changes']).toBe('false');
  expect(github.comments(1)[0]?.body).toContain('nothing to do: 1 prompt in sync.');
});

test('A review posts no comment if the inputs forbid it, or if the plan is empty and the comment input is set to changes', async () => {
  const { github, pushMain, push, openPull, runPush, runPull } = await makeTeam({ greeting: {} });
  await runPush(pushMain({}));
  const rows: readonly (readonly [Readonly<Record<string, string>>, changes: boolean, count: number])[] = [
    [{ comment: 'changes' }, false, 0],
    [{ comment: 'never' }, true, 0],
    [{ 'github-token': '' }, true, 0],
    [{ comment: 'changes' }, true, 1],
  ];
  for (const [index, [inputs, changes, count]] of rows.entries()) {
    push(`change-${index}`, changes ? greets('Other') : { x: 'y' });
    const pull = openPull(`change-${index}`);
    const ran = await runPull(pull, { inputs });
    expect(ran).toMatchObject({ exitCode: 0, outputs: { changes: String(changes) } });
    expect(github.comments(pull.number)).toHaveLength(count);
  }
});

test('The action writes an HTML report without keys after a review, and shows an invalid file in the report, the comment and an annotation', async () => {
  const { github, pushMain, review, runPush } = await makeTeam({ greeting: { text: 'Hi.' }, tax: {} });
  await runPush(pushMain({}));
  const readPage = async (files: Edits) => {
    const ran = await review(files);
    const page = readFileSync(ran.outputs['report-html'] ?? '', 'utf8');
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).not.toContain(KEY);
    return { ...ran, page };
  };
  const { page: plan } = await readPage(greets(`Hi ${KEY} there.`));
  expect(plan).toContain('<h1>promptsync plan</h1>');
  expect(plan).toMatch(/id="prompt:greeting" class="prompt pending review changed"/);
  const wrong = '---\nid: prm_greeting\nkey: greeting\nnmae: x\n---\nText\n';
  const invalid = await readPage({ 'prompts/greeting.md': wrong });
  expect(invalid).toMatchObject({ exitCode: 1, outputs: { 'failure-reason': 'invalid', 'plan-digest': '' } });
  expect(invalid.stdout).toMatch(
    /^::error title=prompt\/unknown-field,file=prompts\/greeting\.md,line=4,col=1::The field `nmae` is unknown\./m,
  );
  expect(invalid.page).toContain('prompt/unknown-field');
  expect(github.comments(1)[0]?.body).toContain('The field `nmae` is unknown.');
});

/** The diffs of this many prompts exceed the limit of the summary, the largest of all limits. */
const COUNT = 30;
const names = [...Array(COUNT).keys()].map((index) => `prompt-${String(index).padStart(3, '0')}`);
const RUN = 'https://github.com/acme/prompts/actions/runs/4711';

/** Returns 20 kB with code fences and multi-byte characters. Every line contains the word. */
function longText(word: string): string {
  const line = `${word} ü € 👩 \`\`\`\n~~~\n`;
  return line.repeat(Math.ceil(20_000 / Buffer.byteLength(line)));
}

test('The action shortens the comment, check and job summary of a plan with thirty large diffs and can still apply the plan', async () => {
  const prompts = Object.fromEntries(names.map((name) => [name, { text: longText('old') }]));
  const { github, push, pushMain, openPull, mergePull, runPull, runPush } = await makeTeam(prompts);
  await runPush(pushMain({}));
  const files = names.map((name) => [`prompts/${name}.md`, promptText(name, { text: longText('new') })]);
  push('change', Object.fromEntries(files));
  const pull = openPull('change');
  const { summary, outputs } = await runPull(pull);
  const body = github.comments(1)[0]?.body ?? '';

  expect(body.length).toBeLessThanOrEqual(60_000);
  expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(900 * 1024);
  expectInert(body, [RUN]);
  for (const page of [body, summary]) {
    expect(page).toContain('This page is not complete.');
    expect(page).toMatch(/This page omits \d+ text changes/);
    expect(page.match(/^\| `prompt-\d+` \| `staging`: `v1` → new version \|$/gm)).toHaveLength(COUNT);
  }
  expect(summary.match(/^<details>/gm)?.length).toBeGreaterThan(5);
  expect(readFileSync(outputs['report-markdown'] ?? '', 'utf8').match(/^<details>/gm)).toHaveLength(COUNT);

  const [check] = github.checks(pull.head);
  expect(Buffer.byteLength(check?.output.summary ?? '')).toBeLessThanOrEqual(65_535);
  expect(check?.output.summary).toContain(`For the complete report, see the summary and the page of [the run](${RUN})`);
  const applied = await runPush(mergePull(pull), { inputs: { 'require-reviewed-plan': 'true' } });
  expect(applied.outputs['failure-reason']).toBe('');
});

const REFUSED = { status: 403, body: { message: 'Resource not accessible by integration' } };
const LIMITED = { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9999999999' } };

test('If a review lacks a permission, it succeeds and one notice names the permission', async () => {
  const { github, push, openPull, runPull } = await makeTeam({ greeting: {} });
  // GitHub also responds with 404 if the token lacks a permission.
  const rows: readonly (readonly [FailureMatch, Failure, permission: string])[] = [
    [{ method: 'POST', path: /check-runs/ }, REFUSED, '`checks: write`'],
    [{ method: 'POST', path: /comments/ }, REFUSED, '`pull-requests: write`'],
    [{ method: 'GET', path: /comments/ }, { status: 404 }, '`pull-requests: write`'],
  ];
  for (const [index, [match, failure, permission]] of rows.entries()) {
    push(`change-${index}`, greets('Other'));
    github.fail(match, failure);
    const ran = await runPull(openPull(`change-${index}`));
    expect(ran).toMatchObject({ exitCode: 0, outputs: { 'failure-reason': '' } });
    const notices = ran.stdout.split('\n').filter((line) => line.startsWith('::notice '));
    expect(notices).toEqual([expect.stringContaining(`Grant the job the ${permission} permission.`)]);
  }
});

test.each<[string, Failure]>([
  ['A review shows its plan in the summary even if GitHub responds with HTML', { status: 200, body: '<html>' }],
  ['A review shows its plan in the summary even if GitHub limits the request rate for hours', LIMITED],
])('%s', async (_, failure) => {
  const { github, review } = await makeTeam({ greeting: {} });
  github.fail({ path: /./ }, failure, Infinity);
  const ran = await review(greets('Other'));
  expect(ran).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'failure-reason': '' } });
  expect(ran.summary).toContain('`staging`: none → new version');
  expect(ran.stdout).toMatch(/^::notice title=action\/not-told::promptsync could not write the comment/m);
  expect(ran.stdout).not.toContain('permission');
  expect(github.comments(1)).toEqual([]);
});
