import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EVIDENCE } from '../../../scripts/pages/evidence.ts';
import { init } from '../../../src/commands/init/init.ts';
import { LANGFUSE } from '../../../src/providers/langfuse/descriptor.ts';
import { makeProblem, type Problem, type ProblemCode, wordProblem } from '../../../src/problem.ts';
import type { Report } from '../../../src/report/schema/report-schema.ts';
import { ServiceError } from '../../../src/http/service-error.ts';
import { makeUnknownCreateOutcome } from '../../../src/providers/write-outcome.ts';
import { startLangfuse, type LangfuseDouble } from '../../doubles/langfuse-server.ts';
import { commitAllAt, initRepository, makeFolder, makeRepository, writeFiles } from '../../support/folder.ts';
import { readMarkdown } from '../../support/markdown.ts';
import { promptText } from '../../support/prompts.ts';
import { parseReport, run, runJson } from '../../support/run.ts';
import type { Failure } from '../../support/github-api.ts';
import { makeSystem } from '../../support/system.ts';

const SETTINGS = `service: { provider: langfuse }
on_drift: fail
environments:
  staging: {}
  production: { promote_from: staging, allow_latest: false }
`;

const fileOf = (id: string, pins: string, text: string) =>
  `---\nid: ${JSON.stringify(id)}\npins: ${pins}\n---\n\n${text}\n`;

const TONE = 'support/tone (v2)';

/**
 * Makes a workspace in which each prompt differs from Langfuse in its own way: an edit, a kept config, a moved label, a
 * forbidden pin, an unknown version, another type and a prompt that does not exist yet. No name and no text contains
 * promptsync's word for a label or for Langfuse.
 */
async function makeScene() {
  const langfuse = await startLangfuse();
  const { store } = langfuse;
  const folder = makeFolder();
  initRepository(folder);
  const commit = (day: number, files: Readonly<Record<string, string>>): void => {
    writeFiles(folder, { 'promptsync.yaml': SETTINGS, ...files });
    commitAllAt(folder, `2026-01-0${day}T00:00:00Z`);
  };
  store.addVersion(TONE, { text: 'Be kind, {{name}}.', labels: ['staging', 'production'] });
  store.addVersion('kept', { text: 'One.', config: { model: 'a' }, labels: ['staging'] });
  store.addVersion('moved', { text: 'One.', labels: ['production'] });
  store.addChatPrompt('chat');
  const composed = `See @@@langfusePrompt:name=${TONE}|label=staging@@@.`;
  commit(1, {
    'prompts/tone.md': fileOf(TONE, '{ staging: latest, production: 1 }', 'Be kind, {{name}}.'),
    'prompts/kept.md': fileOf('kept', '{ staging: latest }', 'One.'),
    'prompts/moved.md': fileOf('moved', '{ staging: latest, production: 1 }', 'Two.'),
    'prompts/composed.md': fileOf('composed', '{ staging: latest }', composed),
  });
  store.setTime('2026-01-01T06:00:00Z');
  expect((await run(folder, ['sync', '--yes'], langfuse)).exitCode).toBe(0);
  store.setTime('2026-01-02T00:00:00Z');
  store.moveLabel('moved', 1, 'staging');
  commit(3, {
    'prompts/tone.md': fileOf(TONE, '{ staging: latest, production: 1 }', 'Be short, {{name}} of {{city}}.'),
    'prompts/kept.md': fileOf('kept', '{ staging: latest }', 'Two.'),
    'prompts/forbidden.md': fileOf('forbidden', '{ production: latest }', 'No.'),
    'prompts/unknown.md': fileOf('unknown', '{ staging: 7 }', 'No.'),
    'prompts/chat.md': fileOf('chat', '{ staging: latest }', 'No.'),
    'prompts/fresh.md': fileOf('fresh', '{ staging: latest }', 'First.'),
  });
  return { langfuse, folder };
}

const urlOf = ({ baseUrl }: LangfuseDouble, encoded: string) => `${baseUrl}/project/project-1/prompts/${encoded}`;

/** Removes the parts of an HTML page that are the same for every page and that nobody reads. */
const readable = (output: string) => output.replaceAll(/<(style|script)\b.*?<\/\1>/gs, '');

describe('the words of reports about Langfuse', () => {
  test.each<[command: string, words: readonly string[], exitCode: number]>([
    ['plan', ['plan', '--base', 'HEAD'], 3],
    ['status', ['status', '--orphans'], 3],
    ['history', ['history'], 0],
    ['sync', ['sync', '--yes', '--base', 'HEAD'], 3],
  ])('The text, Markdown and HTML reports of %s use the words "Langfuse" and "label"', async (_, words, exitCode) => {
    const { langfuse, folder } = await makeScene();
    const ran = await run(folder, [...words, '--format', 'json'], langfuse);
    expect(ran.exitCode).toBe(exitCode);
    const { vocabulary, prompts } = parseReport(ran.stdout);
    expect([vocabulary, prompts.length]).toEqual([{ service: 'Langfuse', environment: 'label' }, 8]);
    writeFiles(folder, { 'report.json': ran.stdout });
    const shown = await Promise.all(
      ['text', 'markdown', 'html'].map((format) => run(folder, ['show', 'report.json', '--format', format])),
    );
    for (const { stdout } of shown) {
      expect(stdout).toContain(TONE);
      expect(readable(stdout)).not.toMatch(/\benvironments?\b|\bthe (?:prompt )?service\b/i);
    }
    expect(ran.stderr).not.toMatch(/\benvironments?\b|\bthe (?:prompt )?service\b/i);
  });
});

describe('a prompt that does not exist in Langfuse yet', () => {
  test('plan and sync say that the first new version creates the prompt in Langfuse', async () => {
    const langfuse = await startLangfuse();
    const folder = makeRepository({ 'promptsync.yaml': SETTINGS, 'prompts/fresh.md': fileOf('fresh', '{}', 'First.') });
    writeFiles(folder, {
      'prompts/fresh.md': fileOf('fresh', '{ staging: latest, production: git:HEAD~1 }', 'Second.'),
    });
    commitAllAt(folder, '2026-01-05T00:00:00Z');
    const { report } = await runJson(folder, ['plan'], langfuse);
    const creates = report.prompts[0]?.changes.filter(({ kind }) => kind === 'create-version');
    expect(creates?.map((change) => 'creates_prompt' in change)).toEqual([true, false]);
    writeFiles(folder, { 'prompts/fresh.md': fileOf('fresh', '{ staging: latest }', 'Third.') });
    const synced = ['sync', '--yes', '--allow-dirty'];
    expect((await run(folder, ['plan'], langfuse)).stdout).toMatch(/^ {2}\+ create prompt in Langfuse$/m);
    expect((await run(folder, synced, langfuse)).stdout).toMatch(/^ {2}\+ created prompt in Langfuse with v1$/m);
    writeFiles(folder, { 'prompts/fresh.md': fileOf('fresh', '{ staging: latest }', 'Fourth.') });
    expect((await run(folder, synced, langfuse)).stdout).toMatch(/^ {2}\+ created version v2$/m);
  });
});

describe('a prompt that was deleted in Langfuse', () => {
  test('plan says how to retire a prompt that a sync would create again for an earlier commit', async () => {
    const langfuse = await startLangfuse();
    const file = fileOf('gone', '{ staging: latest }', 'One.');
    const folder = makeRepository({ 'promptsync.yaml': SETTINGS, 'prompts/gone.md': file });
    const plan = async () => (await run(folder, ['plan'], langfuse)).stdout;
    const note = '(if it was deleted there, delete the file to retire it)';
    expect(await plan()).not.toContain(note);
    writeFiles(folder, { 'notes.txt': 'A later commit.' });
    commitAllAt(folder, '2026-01-05T00:00:00Z');
    expect(await plan()).toContain(note);
  });

  test('if Langfuse does not have a prompt whose file pins a version number, plan suggests retiring or creating the prompt', async () => {
    const langfuse = await startLangfuse();
    const folder = makeRepository({
      'promptsync.yaml': SETTINGS,
      'prompts/gone.md': fileOf('gone', '{ staging: 1 }', 'One.'),
    });
    const { report } = await runJson(folder, ['plan'], langfuse);
    expect(listProblems(report)).toMatchObject([
      {
        code: 'pin/unknown-number',
        message: '"staging" is pinned to version 1, but Langfuse does not have the prompt.',
        hint: expect.stringMatching(
          /^If the prompt was deleted in Langfuse, delete the file to retire the prompt\. To/,
        ),
      },
    ]);
  });

  test('plan suggests the former id if Langfuse lacks a prompt whose id comes from the path of its file', async () => {
    const langfuse = await startLangfuse();
    const folder = makeRepository({
      'promptsync.yaml': SETTINGS,
      'prompts/moved.md': '---\npins: { staging: 1 }\n---\n\nOne.\n',
    });
    const { report } = await runJson(folder, ['plan'], langfuse);
    expect(listProblems(report)[0]?.hint).toMatch(
      /^The id comes from the path of the file\. If you moved the file, set `id`/,
    );
  });
});

describe('the links of reports about Langfuse', () => {
  /** The addresses of all prompts that existed in Langfuse before the command. */
  const addressesOf = (langfuse: LangfuseDouble) =>
    ['chat', 'composed', 'kept', 'moved', 'support%2Ftone%20%28v2%29'].map((encoded) => urlOf(langfuse, encoded));

  test.each<[command: string, words: readonly string[]]>([
    ['plan', ['plan']],
    ['status', ['status']],
    ['history', ['history']],
    ['sync', ['sync', '--yes']],
    ['pull', ['pull', '--dry-run']],
  ])(
    'The JSON report of %s has the address of each prompt that existed in Langfuse before the command',
    async (_, words) => {
      const { langfuse, folder } = await makeScene();
      const { report } = await runJson(folder, words, langfuse);
      const urls = report.prompts.flatMap(({ url }) => url ?? []);
      expect(urls.toSorted()).toEqual(addressesOf(langfuse));
    },
  );

  test.each(['status', 'history'])(
    'The Markdown report of %s links each prompt to its page in Langfuse',
    async (command) => {
      const { langfuse, folder } = await makeScene();
      const { stdout } = await run(folder, [command, '--format', 'markdown'], langfuse);
      const { addresses, spans } = readMarkdown(stdout);
      expect([...new Set(addresses)].toSorted()).toEqual(addressesOf(langfuse));
      expect(spans).toContain(TONE);
      expect(stdout).toContain(`[\`${TONE}\`](${urlOf(langfuse, 'support%2Ftone%20%28v2%29')})`);
    },
  );

  test.each(['plan', 'status', 'history'])(
    'The HTML report of %s links each prompt to its page in Langfuse',
    async (command) => {
      const { langfuse, folder } = await makeScene();
      const { stdout } = await run(folder, [command, '--format', 'html'], langfuse);
      const addresses = [...stdout.matchAll(/<a href="(http[^"]*)"[^>]*>Open in Langfuse<\/a>/g)].map(([, url]) => url);
      expect(addresses.toSorted()).toEqual(addressesOf(langfuse));
    },
  );

  test('plan links the title of a prompt on a terminal that supports links', async () => {
    const { langfuse, folder } = await makeScene();
    const options = { ...langfuse, terminal: true, hyperlinks: true };
    const { stdout } = await run(folder, ['plan'], options);
    expect(stdout).toContain(`\u001b]8;;${urlOf(langfuse, 'support%2Ftone%20%28v2%29')}\u001b\\`);
  });
});

describe('the notices of import from Langfuse', () => {
  /** Imports all prompts. Each name has the given labels. */
  async function importAll(labels: Readonly<Record<string, readonly string[]>>, settings = SETTINGS) {
    const { store, environment } = await startLangfuse();
    for (const [name, ofName] of Object.entries(labels)) store.addVersion(name, { text: 'One.', labels: ofName });
    const folder = makeRepository({ 'promptsync.yaml': settings });
    const { exitCode, stderr } = await run(folder, ['import', '**'], { environment });
    return { folder, exitCode, notices: stderr.split('\n').filter((line) => line !== '') };
  }

  test('import with the pattern ** includes names that begin with a dot', async () => {
    const { folder, exitCode } = await importAll({ '.drafts/one': ['staging'], 'team/.hidden': ['staging'] });
    expect(exitCode).toBe(0);
    const read = (path: string) => readFileSync(join(folder, path), 'utf8');
    expect(read('prompts/drafts/one.md')).toContain('id: .drafts/one\n');
    expect(read('prompts/team/hidden.md')).toContain('id: team/.hidden\n');
  });

  test('import prints one notice that counts the new files without a pin for the first label', async () => {
    const { exitCode, notices } = await importAll({
      a: ['production'],
      b: ['production'],
      c: ['staging', 'production'],
    });
    expect(exitCode).toBe(0);
    expect(notices).toEqual([expect.stringMatching(/^2 new files .*\blabel "staging".*`staging: latest`/)]);
  });

  test('import warns about edits that go live nowhere only if a new file has no `latest` pin', async () => {
    const settings = SETTINGS.replace('staging: {}', 'staging: {}\n  qa: {}');
    const { notices: followed } = await importAll({ a: ['qa', 'production'] }, settings);
    const { notices: stuck } = await importAll({ a: ['qa', 'production'], b: ['production'] }, settings);
    expect(followed.join()).not.toContain('does not go live');
    expect(stuck.join()).toContain('If a file has no `latest` pin, an edit to it does not go live in any environment.');
  });

  test('import prints no notice if each new file pins the first label', async () => {
    const { exitCode, notices } = await importAll({ a: ['staging'], b: ['staging', 'production'] });
    expect([exitCode, notices]).toEqual([0, []]);
  });

  test('import prints no notice about prompts that it does not import', async () => {
    const { exitCode, notices } = await importAll({ a: ['staging'], idle: [] });
    expect([exitCode, notices]).toEqual([3, []]);
  });

  test('import prints no notice about missing pins if the configuration forbids the pin "latest" for the first label', async () => {
    const settings = SETTINGS.replace('staging: {}', 'staging: { allow_latest: false }');
    const { exitCode, notices } = await importAll({ a: ['production'] }, settings);
    expect([exitCode, notices]).toEqual([0, []]);
  });
});

describe('the existing labels in init', () => {
  const INIT = ['init', '--provider', 'langfuse', '--ci', 'none'];

  /** Starts a Langfuse with the labels eu, staging and production. */
  async function startLabeled() {
    const langfuse = await startLangfuse();
    langfuse.store.addVersion('a', { text: 'A.', labels: ['production', 'eu'] });
    langfuse.store.addVersion('b', { text: 'B.', labels: ['production', 'staging'] });
    langfuse.store.addVersion('c', { text: 'C.', labels: ['production', 'staging'] });
    return langfuse;
  }

  /** Answers all questions with their initial answers. Returns the messages of the questions. */
  async function interview(langfuse: LangfuseDouble, environment: Readonly<Record<string, string>>) {
    const asked: string[] = [];
    const text = async ({ message, initial }: { readonly message: string; readonly initial: string }) => {
      asked.push(message);
      return initial;
    };
    const select = async ({ initial }: { readonly initial: string }) => initial;
    const system = {
      ...makeSystem(makeFolder(), environment),
      interview: { text, select, confirm: async () => false },
    };
    const { exitCode } = await init(
      { embedded: false, force: false, provider: 'langfuse', url: langfuse.baseUrl },
      system,
    );
    return { exitCode, question: asked.find((message) => message.includes('promotion order')) };
  }

  test('init lists the labels that exist in Langfuse on standard error, the most frequent ones first', async () => {
    const { exitCode, stderr } = await run(makeFolder(), INIT, await startLabeled());
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^[^\n]*labels in Langfuse: "production", "staging", "eu"\n$/);
  });

  test('init does not list the existing labels if a flag specifies the labels', async () => {
    const { stderr } = await run(makeFolder(), [...INIT, '--environments', 'eu'], await startLabeled());
    expect(stderr).toBe('');
  });

  test('init lists no labels if Langfuse has no labels', async () => {
    const { exitCode, stderr } = await run(makeFolder(), INIT, await startLangfuse());
    expect([exitCode, stderr]).toEqual([0, '']);
  });

  test('The question of init for labels names the labels that exist in Langfuse', async () => {
    const langfuse = await startLabeled();
    const { exitCode, question } = await interview(langfuse, langfuse.environment);
    expect(exitCode).toBe(0);
    expect(question).toMatch(/\blabels: "production", "staging", "eu"/);
    expect(question).not.toMatch(/environment|service/);
  });

  test('The question of init for labels names no labels if a key is missing', async () => {
    const langfuse = await startLabeled();
    const { exitCode, question } = await interview(langfuse, {});
    expect([exitCode, langfuse.requests]).toEqual([0, []]);
    expect(question).not.toContain('"');
  });

  const failAll = (langfuse: LangfuseDouble, failure: Failure) => {
    langfuse.fail({ path: /./ }, failure, 100);
    return {};
  };

  test.each<[sentence: string, breakLangfuse: (langfuse: LangfuseDouble) => object]>([
    ['init succeeds if Langfuse closes every connection', (langfuse) => failAll(langfuse, 'reset')],
    [
      'init succeeds if Langfuse responds to every request with an error',
      (langfuse) => failAll(langfuse, { status: 500 }),
    ],
    [
      'init succeeds if Langfuse returns an invalid list of prompts',
      (langfuse) => failAll(langfuse, { status: 200, body: '<html>' }),
    ],
    ['init succeeds if Langfuse rejects the keys', () => ({ LANGFUSE_SECRET_KEY: 'sk-lf-wrong' })],
    ['init succeeds if the secret key is missing', () => ({ LANGFUSE_SECRET_KEY: '' })],
    ['init succeeds if the public key is missing', () => ({ LANGFUSE_PUBLIC_KEY: '' })],
  ])('%s', async (_, breakLangfuse) => {
    const langfuse = await startLabeled();
    const environment = { ...langfuse.environment, ...breakLangfuse(langfuse) };
    const folder = makeFolder();
    const { exitCode, stderr } = await run(folder, INIT, { environment });
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(existsSync(join(folder, 'promptsync.yaml'))).toBe(true);
  });
});

/** Makes a Langfuse in which version 1 of a prompt has the label staging, and a workspace with this file of the prompt. */
async function makeSimpleScene(pins: string, text: string) {
  const langfuse = await startLangfuse();
  langfuse.store.addVersion('a', { text: 'One.', labels: ['staging'] });
  langfuse.store.addVersion('a', { text: 'Two.' });
  const folder = makeRepository({ 'promptsync.yaml': SETTINGS, 'prompts/a.md': fileOf('a', pins, text) });
  return { langfuse, folder };
}

const listProblems = ({ problems, prompts }: Report) => [...problems, ...prompts.flatMap((prompt) => prompt.problems)];

test('The JSON report of plan names the first label as the missing pin if no pin uses a new version', async () => {
  const { langfuse, folder } = await makeSimpleScene('{ production: 1 }', 'Three.');
  const { report } = await runJson(folder, ['plan'], langfuse);
  expect(report.prompts[0]?.changes[0]).toMatchObject({ kind: 'create-version', missing_pin: 'staging' });
});

describe('the hints of problems with Langfuse', () => {
  test.each<[method: string, status: number, code: string]>([
    ['POST', 400, 'langfuse/refused'],
    ['POST', 409, 'langfuse/refused'],
    ['PATCH', 400, 'langfuse/refused'],
    ['POST', 404, 'langfuse/refused'],
    ['PATCH', 404, 'langfuse/refused'],
    ['PATCH', 409, 'apply/not-active'],
  ])(
    'If Langfuse answers a %s of a known prompt with %i, no hint of sync mentions the base URL',
    async (method, status, code) => {
      const scene =
        method === 'POST'
          ? makeSimpleScene('{ staging: latest }', 'Three.')
          : makeSimpleScene('{ staging: 2 }', 'Two.');
      const { langfuse, folder } = await scene;
      langfuse.fail({ method, path: /./ }, { status, body: { message: 'Not now', error: 'Error' } }, 10);
      const { exitCode, report } = await runJson(folder, ['sync', '--yes', '--any-commit'], langfuse);
      const problems = listProblems(report);
      expect([exitCode, problems.map((problem) => problem.code)]).toEqual([4, expect.arrayContaining([code])]);
      for (const { hint } of problems) expect(hint).not.toMatch(/base.?url/i);
    },
  );

  test.each([400, 409])('If Langfuse answers a GET with %i, no hint of plan mentions the base URL', async (status) => {
    const { langfuse, folder } = await makeSimpleScene('{ staging: latest }', 'Three.');
    langfuse.fail({ method: 'GET', path: /./ }, { status, body: { message: 'Not now', error: 'Error' } }, 10);
    const { report } = await runJson(folder, ['plan'], langfuse);
    expect(listProblems(report).map(({ code }) => code)).toContain('langfuse/refused');
    for (const { hint } of listProblems(report)) expect(hint).not.toMatch(/base.?url/i);
  });

  test('If the keys for Langfuse are swapped, plan says which key belongs where, and sends no request', async () => {
    const { langfuse, folder } = await makeSimpleScene('{ staging: latest }', 'Three.');
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

  test('import names Langfuse in its error message if Langfuse refuses to list the prompts', async () => {
    const { langfuse, folder } = await makeSimpleScene('{ staging: latest }', 'Three.');
    langfuse.fail({ method: 'GET', path: /page=/ }, { status: 403 }, 1);
    const { exitCode, report } = await runJson(folder, ['import', '**'], langfuse);
    expect(exitCode).toBe(1);
    expect(report.vocabulary).toEqual({ service: 'Langfuse', environment: 'label' });
    expect(report.problems.map(({ message }) => message).join()).not.toContain('service');
  });

  test('plan --offline names Langfuse in its report even if the address is not configured', async () => {
    const { folder } = await makeSimpleScene('{ staging: latest }', 'Three.');
    const { report } = await runJson(folder, ['plan', '--offline', '--base', 'HEAD'], { environment: {} });
    expect(report.vocabulary).toEqual({ service: 'Langfuse', environment: 'label' });
  });

  test.each<[sentence: string, pins: string, code: string]>([
    [
      'The hint for an invalid pin does not suggest a version id, which Langfuse does not support',
      '{ staging: newest }',
      'prompt/invalid-pin',
    ],
    [
      'The hint for a forbidden pin to latest does not suggest a version id, which Langfuse does not support',
      '{ production: latest }',
      'guard/latest-not-allowed',
    ],
    [
      'The hint for an unknown version number does not suggest a version id, which Langfuse does not support',
      '{ staging: 7 }',
      'pin/unknown-number',
    ],
  ])('%s', async (_, pins, code) => {
    const { langfuse, folder } = await makeSimpleScene(pins, 'One.');
    const { report } = await runJson(folder, ['plan'], langfuse);
    const problems = listProblems(report);
    expect(problems.map((problem) => problem.code)).toContain(code);
    for (const { hint } of problems) expect(hint).not.toContain('version:');
  });

  test.each<[sentence: string, settings: string, source: string, names: readonly string[]]>([
    [
      'The hint for a missing Langfuse address names every environment variable that can set it',
      'service: { provider: langfuse }\n',
      fileOf('a', '{ staging: latest }', 'One.'),
      ['PROMPTSYNC_BASE_URL', 'LANGFUSE_BASE_URL', 'LANGFUSE_HOST'],
    ],
    [
      'Without a provider, the hint for a missing address does not name the environment variable of Langfuse',
      '{}\n',
      promptText('a'),
      ['PROMPTSYNC_BASE_URL'],
    ],
  ])('%s', async (_, settings, source, names) => {
    const folder = makeRepository({ 'promptsync.yaml': settings, 'prompts/a.md': source });
    const { report } = await runJson(folder, ['plan']);
    expect(report.problems.map(({ code }) => code)).toEqual(['config/missing-service']);
    expect(report.problems[0]?.hint.match(/[A-Z]+_[A-Z_]+/g)).toEqual(names);
  });
});

describe('the words of problems with Langfuse', () => {
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
    const texts = Object.entries(EVIDENCE).map(([code, evidence]) => [
      code,
      listOwnTexts(code as ProblemCode, evidence),
    ]);
    expect(texts.filter(([, text = '']) => DEFAULTS.test(text))).toEqual([]);
    expect(texts.filter(([, text = '']) => text.includes('Langfuse')).length).toBeGreaterThan(20);
  });

  test('The error for a create request without a response says that Langfuse did not respond', () => {
    const timeout = new ServiceError(makeProblem('service/timeout', { seconds: 15 }), 'unknown');
    const [problem] = makeUnknownCreateOutcome(timeout, LANGFUSE.words).problems;
    expect(problem?.message).toContain('Langfuse did not respond within 15 seconds.');
  });

  test('The warning about a removed pin names the version that Langfuse still serves', async () => {
    const { langfuse, folder } = await makeSimpleScene('{ staging: 1, production: 1 }', 'One.');
    writeFiles(folder, { 'prompts/a.md': fileOf('a', '{ production: 1 }', 'One.') });
    const { report } = await runJson(folder, ['plan', '--base', 'HEAD'], langfuse);
    const [message] = listProblems(report).flatMap((one) => (one.code === 'pin/gone' ? [one.message] : []));
    expect(message).toContain('Langfuse still serves v1 in "staging"');
  });
});

describe('a create whose response was lost', () => {
  async function syncWithLoss() {
    const scene = await makeSimpleScene('{ staging: latest }', 'Three.');
    scene.langfuse.fail({ method: 'POST', path: /prompts/ }, 'lost-answer');
    return scene;
  }

  test('If the response to a create is lost, the JSON report of sync marks the version as recovered', async () => {
    const { langfuse, folder } = await syncWithLoss();
    const { exitCode, report } = await runJson(folder, ['sync', '--yes', '--any-commit'], langfuse);
    expect(exitCode).toBe(0);
    expect(report.prompts).toMatchObject([
      {
        status: 'applied',
        changes: [
          { kind: 'create-version', status: 'adopted', recovered: true, version: { version_number: 3 } },
          { kind: 'set-active', environment: 'staging', status: 'made' },
        ],
      },
    ]);
    expect(langfuse.store.versions('a')).toHaveLength(3);
  });

  test.each([
    ['text', 'created version v3: First prompts (the response was lost)'],
    ['markdown', 'created version v3: `First prompts` (the response was lost)'],
    ['html', 'created version v3: First prompts (the response was lost)'],
  ])(
    'If the response to a create is lost, the %s report of sync does not claim that the version existed before',
    async (format, expected) => {
      const { langfuse, folder } = await syncWithLoss();
      const { exitCode, stdout } = await run(folder, ['sync', '--yes', '--any-commit', '--format', format], langfuse);
      expect(exitCode).toBe(0);
      expect(stdout).not.toMatch(/already existed|adopted/);
      expect(stdout).toContain(expected);
    },
  );

  test('sync reports a version that existed before as moved and not as recovered', async () => {
    const { langfuse, folder } = await makeSimpleScene('{ staging: latest }', 'Two.');
    const { report } = await runJson(folder, ['sync', '--yes', '--any-commit'], langfuse);
    expect(JSON.stringify(report)).not.toContain('recovered');
  });
});
