import { expect, test } from 'vitest';
import { sortPartsFirst } from '../../../src/applying/sort-parts-first.ts';
import type { Change, PromptPlan } from '../../../src/domain/plan.ts';
import { findAffectedPrompts } from '../../../src/planning/find-affected-prompts.ts';
import { langfuseFileRules } from '../../../src/providers/langfuse/file-rules.ts';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { file } from '../../planning/support.ts';
import { makeScene } from './scene.ts';
import { sync } from './support.ts';

const { listParts } = langfuseFileRules;
const tag = (name: string, label = 'staging') => `@@@langfusePrompt:name=${name}|label=${label}@@@`;

type Texts = Readonly<Record<string, string>>;

/** Makes the file of each prompt. The paths have the order of the entries. */
const filesOf = (texts: Texts) =>
  Object.entries(texts).map(([id, text], index) => {
    return file({ id, key: id, path: `prompts/${index}.md`, text, pins: { staging: 'latest' } });
  });

test.each<[what: string, texts: Texts, order: string]>([
  ['sortPartsFirst puts the parts of a prompt before it', { a: tag('z') + tag('b@c'), z: '', 'b@c': '' }, 'z b@c a'],
  ['sortPartsFirst puts parts of parts first', { a: tag('b'), b: tag('c'), c: '' }, 'c b a'],
  ['sortPartsFirst keeps the order of two prompts that contain each other', { a: tag('b'), b: tag('a') }, 'a b'],
  ['sortPartsFirst puts a cycle before a prompt that includes it', { a: tag('b'), b: tag('c'), c: tag('b') }, 'b c a'],
])('%s', (_, texts, order) => {
  const plans = filesOf(texts).map((one) => ({ file: one, changes: [] as readonly Change[] }) as PromptPlan);
  const sorted = sortPartsFirst(plans, listParts);
  expect(sorted.map(({ plan }) => plan.file.id).join(' ')).toBe(order);
});

test('sync creates each part before the prompt that includes it, but also writes the prompt if the part fails', async () => {
  const langfuse = await startLangfuse();
  await sync(langfuse, filesOf({ a: tag('b'), b: tag('c'), c: 'Part.' }), { concurrency: 1 });
  expect(langfuse.takeWrites()).toEqual(['POST c [staging]', 'POST b [staging]', 'POST a [staging]']);
  langfuse.fail({ method: 'GET', path: /prompts\/c/ }, { status: 403 }, 20);
  const { outcomes } = await sync(langfuse, filesOf({ a: `See ${tag('c')}.`, c: 'New part.' }));
  expect(outcomes.map(({ status }) => status)).toEqual(['applied', 'failed']);
});

const MOVE = { kind: 'set-active', environment: 'staging' } as Change;
const CREATE = { kind: 'create-version' } as Change;
const NEWEST: Texts = { a: tag('z', 'latest'), z: '' };

test.each<[sentence: string, texts: Texts, changed: string, changes: readonly Change[], affected: readonly string[]]>([
  [
    'A moved label of a part affects the prompts that include it, directly or through other parts',
    { a: tag('b'), b: tag('z'), other: '@@@langfusePrompt:name=z|version=1@@@', z: '' },
    ...(['z', [MOVE], ['a', 'b']] as const),
  ],
  ['A new version affects the prompts that include the newest version', NEWEST, 'z', [CREATE, MOVE], ['a']],
  ['A moved label does not affect the prompts that include the newest version', NEWEST, 'z', [MOVE], []],
  ['A change of a composed prompt affects neither itself nor its parts', { a: tag('z'), z: '' }, 'a', [MOVE], []],
])('%s', (_, texts, changed, changes, affected) => {
  const files = filesOf(texts);
  const plans = files.map(
    (one) => ({ file: one, changes: one.id === changed ? changes : [] }) as unknown as PromptPlan,
  );
  const found = [...findAffectedPrompts(plans, files, listParts)].flatMap(([, all]) => all.map(({ id }) => id));
  expect(found).toEqual(affected);
});

test('sync names the file of a missing part if the user did not select it, and plan names the composed prompts of a part', async () => {
  const makeFile = (id: string, text: string) => `---\nid: ${id}\npins: { staging: latest }\n---\n\n${text}\n`;
  const { json, run, addVersion, sync } = await makeScene({
    'prompts/a.md': makeFile('a', `See ${tag('z')}.`),
    'prompts/z.md': makeFile('z', 'Part.'),
  });
  const { exitCode, report } = await json('sync', '--yes', '--only', 'a');
  expect(exitCode).toBe(4);
  expect(report.prompts[0]?.problems.at(-1)).toMatchObject({
    code: 'langfuse/missing-part',
    hint: expect.stringContaining('prompts/z.md'),
  });
  await sync();
  addVersion('z', { text: 'Theirs.' });
  const plan = await run('plan', '--only', 'z');
  expect(plan.stdout).toContain('this also changes 1 composed prompt: a.');
});
