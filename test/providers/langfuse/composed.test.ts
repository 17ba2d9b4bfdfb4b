import { describe, expect, test } from 'vitest';
import { findAffectedPrompts } from '../../../src/planning/find-affected-prompts.ts';
import { langfuseFileRules } from '../../../src/providers/langfuse/file-rules.ts';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { file } from '../../planning/support.ts';
import { makeRepository } from '../../support/folder.ts';
import { CONFIG } from '../../support/prompts.ts';
import { run, runJson } from '../../support/run.ts';
import { sync } from './support.ts';

const tag = (name: string, label = 'staging') => `@@@langfusePrompt:name=${name}|label=${label}@@@`;

type Texts = Readonly<Record<string, string>>;

/** Makes the file of each prompt. The paths have the order of the entries. */
const filesOf = (texts: Texts) =>
  Object.entries(texts).map(([id, text], index) => {
    return file({ id, key: id, path: `prompts/${index}.md`, text, pins: { staging: 'latest' } });
  });

/** Syncs prompts with these texts, and formats what was created and how each prompt ended. */
async function syncTexts(
  texts: Texts,
  concurrency = 4,
  prepare = (_: Awaited<ReturnType<typeof startLangfuse>>) => {},
) {
  const langfuse = await startLangfuse();
  prepare(langfuse);
  const { outcomes } = await sync(langfuse, filesOf(texts), { concurrency });
  return {
    writes: langfuse.takeWrites().map((write) => write.replace(/^POST (\S+) .*/, '$1')),
    statuses: outcomes.map(({ plan, status }) => `${plan.file.id} ${status}`),
    outcomes,
  };
}

describe('sync of composed prompts', () => {
  test.each<[sentence: string, texts: Texts, concurrency: number, writes: readonly string[]]>([
    [
      'sync creates the parts of a composed prompt first, even if their files come later',
      { a: `${tag('team@eu')} @@@ ${tag('z')}.`, z: 'Part.', 'team@eu': 'Part.' },
      4,
      ['z', 'team@eu', 'a'],
    ],
    [
      'sync creates parts of parts first with only one request at a time',
      { a: tag('b'), b: tag('c'), c: 'Part.' },
      1,
      ['c', 'b', 'a'],
    ],
    ['sync attempts both prompts of a cycle in the order of their paths', { a: tag('b'), b: tag('a') }, 4, ['a', 'b']],
  ])('%s', async (_, texts, concurrency, writes) => {
    expect((await syncTexts(texts, concurrency)).writes).toEqual(writes);
  });

  test('sync attempts a prompt after the cycle that it includes', async () => {
    const texts = { a: tag('b'), b: tag('c'), c: tag('b') };
    const { writes } = await syncTexts(texts, 4, ({ store }) => {
      store.addVersion('c', { text: 'No tag yet.', labels: ['staging'] });
    });
    expect(writes).toEqual(['b', 'c', 'a']);
  });

  test('sync writes a composed prompt even if one of its parts fails', async () => {
    const { statuses } = await syncTexts({ a: `See ${tag('z')}.`, z: 'New part.' }, 4, (langfuse) => {
      langfuse.store.addVersion('z', { text: 'Old part.', labels: ['staging'] });
      langfuse.fail({ method: 'GET', path: /prompts\/z/ }, { status: 403 }, 20);
    });
    expect(statuses).toEqual(['a applied', 'z failed']);
  });

  test('sync names a missing part, and its file if the user did not select it', async () => {
    const langfuse = await startLangfuse();
    const makeFile = (id: string, text: string) => `---\nid: ${id}\npins: { staging: latest }\n---\n\n${text}\n`;
    const folder = makeRepository({
      'promptsync.yaml': `${CONFIG}service: { provider: langfuse }\n`,
      'prompts/a.md': makeFile('a', `See ${tag('z')}.`),
      'prompts/z.md': makeFile('z', 'Part.'),
    });
    const { exitCode, report } = await runJson(folder, ['sync', '--yes', '--only', 'a'], langfuse);
    expect(exitCode).toBe(4);
    expect(report.prompts[0]?.problems.at(-1)).toMatchObject({
      code: 'langfuse/missing-part',
      message: expect.stringContaining('"z" (label staging)'),
      hint: expect.stringContaining('prompts/z.md'),
    });
    expect((await run(folder, ['sync', '--yes'], langfuse)).exitCode).toBe(0);
    langfuse.store.moveLabel('z', langfuse.store.addVersion('z', { text: 'Theirs.' }), 'staging');
    const plan = await run(folder, ['plan', '--only', 'z'], langfuse);
    expect(plan.stdout).toContain('this also changes 1 composed prompt: a.');
  });
});

test.each<[sentence: string, texts: Texts, changed: string, affected: readonly string[]]>([
  [
    'The plan of a part names the composed prompts that include it, directly or through other parts',
    { a: tag('b'), b: tag('z'), other: '@@@langfusePrompt:name=z|version=1@@@', z: 'Part.' },
    'z',
    ['a', 'b'],
  ],
  [
    'The plan of a new version names the composed prompts that include the newest version',
    { a: tag('z', 'latest'), z: 'Part.' },
    'z',
    ['a'],
  ],
  ['The plan of a composed prompt does not name itself or its parts', { a: tag('z'), z: 'Part.' }, 'a', []],
])('%s', async (_, texts, changed, affected) => {
  const langfuse = await startLangfuse();
  await sync(langfuse, filesOf(texts).toReversed());
  const files = filesOf({ ...texts, [changed]: `Changed. ${texts[changed]}` });
  const { plan } = await sync(langfuse, files);
  const found = findAffectedPrompts(plan.prompts, files, langfuseFileRules.listParts);
  expect([...found].map(([id, all]) => [id, all.map((one) => one.id)])).toEqual(
    affected.length === 0 ? [] : [[changed, affected]],
  );
});

test('A plan that only moves a label does not name the composed prompts that include the newest version', async () => {
  const langfuse = await startLangfuse();
  const files = filesOf({ z: 'Part.', a: tag('z', 'latest') });
  await sync(langfuse, files);
  langfuse.store.addVersion('z', { text: 'Theirs.', labels: ['staging'] });
  const { plan } = await sync(langfuse, files);
  expect(plan.prompts[0]?.changes).toMatchObject([{ kind: 'set-active' }]);
  expect([...findAffectedPrompts(plan.prompts, files, langfuseFileRules.listParts)]).toEqual([]);
});
