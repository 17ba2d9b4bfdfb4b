import { expect, test } from 'vitest';
import { EVIDENCE } from '../../../scripts/pages/evidence.ts';
import { makeProblem, type Problem, type ProblemCode, wordProblem } from '../../../src/problem.ts';
import { LANGFUSE } from '../../../src/providers/langfuse/descriptor.ts';
import type { Report } from '../../../src/report/schema/report-schema.ts';
import { startLangfuse, type LangfuseDouble } from '../../doubles/langfuse-server.ts';
import { commitAllAt, makeRepository, writeFiles } from '../../support/folder.ts';
import { readMarkdown } from '../../support/markdown.ts';
import { promptText } from '../../support/prompts.ts';
import { run, runJson } from '../../support/run.ts';
import { FORMATS } from './formats.ts';
import { CONFIG, makeScene } from './scene.ts';

const VOCABULARY = LANGFUSE.words;

const fileOf = (id: string, pins: string, text: string) =>
  `---\nid: ${JSON.stringify(id)}\npins: ${pins}\n---\n\n${text}\n`;

const TONE = 'support/tone (v2)';
const ENCODED_TONE = 'support%2Ftone%20%28v2%29';

/**
 * Makes a workspace in which each prompt differs from Langfuse in its own way: an edit, a kept config, a moved label, a
 * forbidden pin, an unknown version, another type and a prompt that does not exist yet. No name and no text contains
 * promptsync's word for a label or for Langfuse.
 */
async function makeDifferingScene() {
  const composed = `See @@@langfusePrompt:name=${TONE}|label=staging@@@.`;
  const scene = await makeScene({
    'promptsync.yaml': `on_drift: fail\n${CONFIG}`,
    'prompts/tone.md': fileOf(TONE, '{ staging: latest, production: 1 }', 'Be kind, {{name}}.'),
    'prompts/kept.md': fileOf('kept', '{ staging: latest }', 'One.'),
    'prompts/moved.md': fileOf('moved', '{ staging: latest, production: 1 }', 'Two.'),
    'prompts/composed.md': fileOf('composed', '{ staging: latest }', composed),
  });
  const { store } = scene;
  store.addVersion(TONE, { text: 'Be kind, {{name}}.', labels: ['staging', 'production'] });
  store.addVersion('kept', { text: 'One.', config: { model: 'a' }, labels: ['staging'] });
  store.addVersion('moved', { text: 'One.', labels: ['production'] });
  store.addVersion('chat', { messages: [{ role: 'user', content: 'Hi.' }] });
  store.setTime('2026-01-02T06:00:00Z');
  expect((await scene.run('sync', '--yes')).exitCode).toBe(0);
  store.setTime('2026-01-03T00:00:00Z');
  store.moveLabel('moved', 1, 'staging');
  scene.write({
    'prompts/tone.md': fileOf(TONE, '{ staging: latest, production: 1 }', 'Be short, {{name}} of {{city}}.'),
    'prompts/kept.md': fileOf('kept', '{ staging: latest }', 'Two.'),
    'prompts/forbidden.md': fileOf('forbidden', '{ production: latest }', 'No.'),
    'prompts/unknown.md': fileOf('unknown', '{ staging: 7 }', 'No.'),
    'prompts/chat.md': fileOf('chat', '{ staging: latest }', 'No.'),
    'prompts/fresh.md': fileOf('fresh', '{ staging: latest }', 'First.'),
  });
  commitAllAt(scene.folder, '2026-01-04T00:00:00Z');
  return scene;
}

const urlOf = ({ baseUrl }: LangfuseDouble, encoded: string) => `${baseUrl}/project/project-1/prompts/${encoded}`;

/** Removes the parts of an HTML page that are the same for every page and that nobody reads. */
const readable = (output: string) => output.replaceAll(/<(style|script)\b.*?<\/\1>/gs, '');

test('The reports of all commands use the words "Langfuse" and "label", and link each prompt that exists there', async () => {
  const { langfuse, folder, json } = await makeDifferingScene();
  const urls = ['chat', 'composed', 'kept', 'moved', ENCODED_TONE].map((encoded) => urlOf(langfuse, encoded));
  const commands: readonly (readonly [exitCode: number, ...words: string[]])[] = [
    [3, 'plan', '--base', 'HEAD'],
    [3, 'status', '--orphans'],
    [0, 'history'],
    [3, 'pull', '--dry-run'],
    [3, 'sync', '--yes', '--base', 'HEAD'],
  ];
  for (const [exitCode, ...words] of commands) {
    const ran = await json(...words);
    expect([words, ran.exitCode]).toEqual([words, exitCode]);
    const { vocabulary, prompts } = ran.report;
    expect([vocabulary, prompts.length]).toEqual([VOCABULARY, 8]);
    expect(prompts.flatMap(({ url }) => url ?? []).toSorted()).toEqual(urls);
    const shown = [...Object.values(FORMATS).map((render) => readable(render(ran.report))), ran.stderr];
    for (const text of shown) expect(text).not.toMatch(/\benvironments?\b|\bthe (?:prompt )?service\b/i);
    const links = [...(shown[2] ?? '').matchAll(/<a href="(http[^"]*)"[^>]*>Open in Langfuse<\/a>/g)];
    if (words[0] !== 'pull') expect(links.map(([, url]) => url).toSorted()).toEqual(urls);
    if (!['status', 'history'].includes(words[0] ?? '')) continue;
    const { addresses, spans } = readMarkdown(FORMATS.Markdown(ran.report));
    expect([...new Set(addresses)].toSorted()).toEqual(urls);
    expect(spans).toContain(TONE);
  }
  const { stdout } = await run(folder, ['plan'], { ...langfuse, terminal: true, hyperlinks: true });
  expect(stdout).toContain(`\u001b]8;;${urlOf(langfuse, 'chat')}\u001b\\`);
});

test('plan and sync say that the first new version creates the prompt, and plan says how to retire it for an earlier commit', async () => {
  const file = (pins: string, text: string) => ({ 'prompts/fresh.md': fileOf('fresh', pins, text) });
  const { folder, json, write, ...scene } = await makeScene(file('{ staging: latest }', 'First.'));
  const stdoutOf = async (...words: readonly string[]) => (await scene.run(...words)).stdout;
  const retire = '(if it was deleted there, delete the file to retire it)';
  const plan = await stdoutOf('plan');
  expect(plan).toMatch(/^ {2}\+ create prompt in Langfuse\b/m);
  expect(plan).not.toContain(retire);
  write({ 'notes.txt': 'A later commit.' });
  commitAllAt(folder, '2026-01-05T00:00:00Z');
  expect(await stdoutOf('plan')).toContain(retire);
  write(file('{ staging: latest, production: git:HEAD~1 }', 'Second.'));
  const { report } = await json('plan');
  const creates = report.prompts[0]?.changes.filter(({ kind }) => kind === 'create-version');
  expect(creates?.map((change) => 'creates_prompt' in change)).toEqual([true, false]);
  write(file('{ staging: newest }', 'First.'));
  const [invalid] = listProblems((await json('plan')).report);
  // Langfuse does not support version ids in pins.
  expect([invalid?.code, invalid?.hint.includes('version:')]).toEqual(['prompt/invalid-pin', false]);
  write({ 'prompts/fresh.md': '---\npins: { staging: 1 }\n---\n\nOne.\n' });
  const [unknown] = listProblems((await json('plan')).report);
  expect(unknown?.message).toBe('"staging" is pinned to version 1, but Langfuse does not have the prompt.');
  expect(unknown?.hint).toMatch(/^The id comes from the path of the file\. .* delete the file to retire the prompt\./);
  write(file('{ staging: latest }', 'Third.'));
  expect(await stdoutOf('sync', '--yes', '--allow-dirty')).toMatch(/^ {2}\+ created prompt in Langfuse with v1$/m);
});

const listProblems = ({ problems, prompts }: Report) => [...problems, ...prompts.flatMap((prompt) => prompt.problems)];

const [A, QA, BOTH] = [['production'], ['qa', 'production'], ['staging', 'production']];
type Labels = Readonly<Record<string, readonly string[]>>;

test.each<[what: string, labels: Labels, stagingSettings: string, notices: readonly RegExp[]]>([
  [
    'import prints one notice that counts the new files without a pin for the first label, and warns if edits go live nowhere',
    ...([{ a: QA, b: A, c: BOTH }, '{}'] as const),
    [/^2 new files .*\blabel "staging".* If a file has no `latest` pin, .*`staging: latest`/],
  ],
  [
    'import does not warn about edits that go live nowhere if each new file has a `latest` pin',
    ...([{ a: QA }, '{}', [/^1 new file (?!.*go live in any)/]] as const),
  ],
  ['import prints no notice about prompts that it does not import', { a: BOTH, idle: [] }, '{}', []],
  ['import prints no notice if the first label may not be pinned to latest', { a: A }, '{ allow_latest: false }', []],
])('%s', async (_, labels, stagingSettings, notices) => {
  const { store, environment } = await startLangfuse();
  for (const [name, ofName] of Object.entries(labels)) store.addVersion(name, { text: 'One.', labels: ofName });
  const config = CONFIG.replace('staging: {}', `staging: ${stagingSettings}\n  qa: {}`);
  const { stderr } = await run(makeRepository({ 'promptsync.yaml': config }), ['import', '**'], { environment });
  const lines = stderr.split('\n').filter((line) => line !== '');
  expect(lines).toEqual(notices.map((notice) => expect.stringMatching(notice)));
});

test('A refused list and swapped keys are reported in the words of Langfuse, and swapped keys are not sent', async () => {
  const { langfuse, folder, json } = await makeScene({ 'prompts/a.md': fileOf('a', '{}', 'One.') });
  langfuse.fail({ method: 'GET', path: /page=/ }, { status: 403 }, 1);
  const refused = await json('import', '**');
  expect([refused.exitCode, refused.report.vocabulary]).toEqual([1, VOCABULARY]);
  expect(refused.report.problems.map(({ message }) => message).join()).not.toContain('service');
  langfuse.requests.splice(0);
  const { LANGFUSE_SECRET_KEY = '', LANGFUSE_PUBLIC_KEY = '' } = langfuse.environment;
  const swapped = { LANGFUSE_SECRET_KEY: LANGFUSE_PUBLIC_KEY, LANGFUSE_PUBLIC_KEY: LANGFUSE_SECRET_KEY };
  const { report } = await runJson(folder, ['plan'], { environment: { ...langfuse.environment, ...swapped } });
  expect(report.problems).toMatchObject([
    {
      code: 'config/swapped-keys',
      message: 'The variable `LANGFUSE_PUBLIC_KEY` contains a secret key.',
      hint: 'Set the variable `LANGFUSE_SECRET_KEY` to the secret key, and the variable `LANGFUSE_PUBLIC_KEY` to the public key.',
    },
  ]);
  expect(langfuse.requests).toEqual([]);
});

test('plan --offline needs neither an address nor keys, and without --offline the hint names the variables of the address', async () => {
  const folder = makeRepository({ 'promptsync.yaml': CONFIG, 'prompts/a.md': fileOf('a', '{ staging: 1 }', 'One.') });
  writeFiles(folder, { 'prompts/a.md': fileOf('a', '{}', 'One.') });
  const { exitCode, report } = await runJson(folder, ['plan', '--offline', '--base', 'HEAD']);
  expect([exitCode, report.vocabulary]).toEqual([0, VOCABULARY]);
  const namesOf = async () =>
    (await runJson(folder, ['plan'])).report.problems.map(({ code, hint }) => [code, hint.match(/[A-Z]+_[A-Z_]+/g)]);
  const names = ['PROMPTSYNC_BASE_URL', 'LANGFUSE_BASE_URL', 'LANGFUSE_HOST'];
  expect(await namesOf()).toEqual([['config/missing-service', names]]);
  writeFiles(folder, { 'promptsync.yaml': '{}\n', 'prompts/a.md': promptText('a') });
  expect(await namesOf()).toEqual([['config/missing-service', names.slice(0, 1)]]);
});

/** The words of a service that has no words of its own. The term "environment variable" has no other word. */
const DEFAULTS = /\bthe (?:prompt )?service\b|\benvironments?\b(?! variables?\b)/i;

/** Returns the texts of a problem for Langfuse, without names in quotes, code and the values of the evidence. */
function listOwnTexts(code: ProblemCode, evidence: object): string {
  const make = makeProblem as (code: ProblemCode, evidence: object) => Problem;
  const { message, hint } = wordProblem(make(code, evidence), LANGFUSE.words);
  const values = Object.values(evidence).filter((value) => typeof value === 'string' && value !== '');
  const withoutValues = values.reduce((text, value) => text.replaceAll(value, ''), `${message}\n${hint}`);
  return withoutValues.replaceAll(/"[^"]*"|`[^`]*`/g, '');
}

test('For Langfuse, no problem in the catalog uses the words "the service" or "environment"', () => {
  const texts = Object.entries(EVIDENCE).map(([code, evidence]) => [code, listOwnTexts(code as ProblemCode, evidence)]);
  expect(texts.filter(([, text = '']) => DEFAULTS.test(text))).toEqual([]);
  expect(texts.filter(([, text = '']) => text.includes('Langfuse')).length).toBeGreaterThan(20);
});
