import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commitAll, git } from '../../support/folder.ts';
import { promptText, workspaceFiles } from '../../support/prompts.ts';
import { run, runJson } from '../../support/run.ts';
import {
  changeOutside,
  conflict,
  makeSynced,
  only,
  PATH,
  pull,
  settle,
  source,
  sync,
  TEXT,
  textIn,
  through,
  writeSource,
  type Scene,
} from './pulling.ts';

const OTHER = 'prompts/other.md';

/** Adds a second prompt with a change in the service, which every pull must take over even if the first prompt fails. */
async function addOther(scene: Scene): Promise<void> {
  scene.service.store.registerPrompt({ id: 'prm_other', projectId: 'project', key: 'other', name: 'other' });
  writeSource(scene, promptText('other', { text: TEXT }), OTHER);
  commitAll(scene.folder, 'Another prompt');
  await sync(scene);
  changeOutside(scene, { content: `${TEXT}\nMore.`, id: 'other' });
}

function expectOtherPulled(scene: Scene): void {
  expect(textIn(scene, OTHER)).toBe(`${TEXT}\nMore.`);
}

const hostile: readonly (readonly [string, string, string])[] = [
  ['pull rejects text with a NUL character but still pulls the other prompts', 'a\0b', 'NUL'],
  ['pull rejects empty text but still pulls the other prompts', '', 'no text'],
  ['pull rejects whitespace-only text but still pulls the other prompts', ' \n\t\n', 'no text'],
  ['pull rejects text with a doubled carriage return but still pulls the other prompts', 'a\r\r\nb', 'carriage return'],
  ['pull rejects text that ends with a carriage return but still pulls the other prompts', 'a\nb\r', 'carriage return'],
];

describe('pull of a text that no prompt file can hold', () => {
  test.each(hostile)('%s', async (_, content, said) => {
    const scene = await makeSynced({});
    await addOther(scene);
    changeOutside(scene, { content });
    const mine = promptText('greeting', { text: 'Mine.' });
    for (const before of [source(scene), mine]) {
      writeSource(scene, before);
      for (const words of [['--dry-run'], ['--theirs'], []]) {
        const { exitCode, report } = await pull(scene, ...words);
        expect(exitCode).toBe(3);
        expect(report.prompts.find(({ path }) => path === PATH)).toMatchObject({
          status: 'blocked',
          problems: [{ code: 'pull/not-writable', path: PATH, message: expect.stringContaining(said) }],
        });
        expect(source(scene)).toBe(before);
      }
    }
    expectOtherPulled(scene);
    expect((await pull(scene, '--ours')).exitCode).toBe(0);
    expect(source(scene)).toBe(mine);
  });
});

describe('pull of an unusual text', () => {
  test.each<[string, string]>([
    ['pull preserves a single carriage return in the middle of a line', 'a\rb\nc'],
    ['pull converts CRLF line endings to LF', 'a\r\nb'],
    ['pull writes control characters to the file but does not print them', 'a\u001b[31mb\u0007\nc\u0085'],
    ['pull writes invisible characters to the file but does not print them', 'a\u202eb\u200b\u{e0041}\n\ufeff'],
    [
      'pull treats text that looks like front matter as plain text',
      '---\nid: prm_evil\npins: {production: latest}\n---\nText',
    ],
    ['pull treats text that looks like CI runner commands as plain text', '::set-env name=x::y\n##[error]x'],
    ['pull preserves leading blank lines and spaces', '\n\n a '],
    ['pull does not treat a lone line of equals signs as a conflict marker', 'a\n=======\nb\n-------'],
    ['pull accepts one megabyte of text on many lines', `${'0123456789 abcdefg\n'.repeat(55_000)}end`],
    ['pull accepts one megabyte of text on a single line', 'x'.repeat(1_000_000)],
  ])('%s', async (_, content) => {
    const scene = await makeSynced({});
    changeOutside(scene, { content });
    const { exitCode, stdout, stderr } = await run(scene.folder, ['pull'], scene.service);
    expect(exitCode).toBe(0);
    // oxlint-disable-next-line no-control-regex
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u0080-\u009f\u202e\u200b]|^\s*::/mu);
    expect(source(scene)).toBe(promptText('greeting', { text: content.replaceAll('\r\n', '\n') }));
    expect(git(scene.folder, 'status', '--porcelain')).toBe(`M ${PATH}`.padStart(PATH.length + 3));
    await settle(scene);
  });
});

test('pull warns about new invisible characters, even in a conflict, but not about existing ones', async () => {
  const scene = await makeSynced({ text: `${TEXT}\u00ad` });
  const hidden = ['prompt/hidden-character', expect.stringContaining('\\u{202e}'), PATH];
  const problemsOf = (ran: Awaited<ReturnType<typeof pull>>) => {
    return only(ran).problems.map(({ code, message, path }) => [code, message, path]);
  };
  changeOutside(scene, { content: `${TEXT}\u00ad\n\u202etheirs` });
  expect(problemsOf(await pull(scene, '--dry-run'))).toEqual([hidden]);
  writeSource(scene, promptText('greeting', { text: `${TEXT}\u00ad\nours` }));
  expect(problemsOf(await pull(scene))).toEqual([hidden, ['pull/conflict', expect.anything(), PATH]]);
});

describe('pull of a field that no prompt file can hold', () => {
  test.each([
    ['pull rejects a key with a line feed but still pulls the other prompts', { key: 'a\nb' }],
    ['pull rejects an empty name but still pulls the other prompts', { name: '' }],
  ])('%s', async (_, fields) => {
    const scene = await makeSynced({});
    await addOther(scene);
    const options = await through(scene, (body, path) =>
      path.includes('prm_greeting') ? JSON.stringify({ ...JSON.parse(body), ...fields }) : body,
    );
    const before = source(scene);
    const { exitCode, report } = await runJson(scene.folder, ['pull'], options);
    expect(exitCode).toBe(4);
    expect(report.prompts.find(({ path }) => path === PATH)).toMatchObject({ status: 'failed' });
    expect(source(scene)).toBe(before);
    expectOtherPulled(scene);
  });
});

test('pull fails for a prompt that is missing from the service but still pulls the other selected prompts', async () => {
  const scene = await makeSynced({});
  await addOther(scene);
  writeSource(scene, promptText('missing'), 'prompts/missing.md');
  const { exitCode, report } = await pull(scene);
  expect(exitCode).toBe(4);
  expect(report.prompts.map(({ key, status }) => [key, status])).toEqual([
    ['greeting', 'unchanged'],
    ['missing', 'failed'],
    ['other', 'applied'],
  ]);
  expect(report.summary).toMatchObject({ prompts: 3, unchanged: 1, failed: 1, applied: 1, set_active: 0 });
  expectOtherPulled(scene);
  expect((await pull(scene, 'missing')).exitCode).toBe(1);
  const nothing = await pull(scene, 'nothing');
  expect(nothing).toMatchObject({ exitCode: 1, report: { problems: [{ code: 'usage/nothing-selected' }] } });
  changeOutside(scene, { content: 'Not asked for.' });
  const other = await pull(scene, 'other');
  expect([other.exitCode, other.report.prompts.map(({ key }) => key)]).toEqual([0, ['other']]);
  expect(textIn(scene)).toBe(TEXT);
});

test('pull writes conflict markers with CRLF line endings to a CRLF file and escapes a line feed in the file name', async () => {
  const path = 'prompts/a\nb.md';
  const { 'prompts/greeting.md': file = '', ...files } = workspaceFiles({ greeting: { text: TEXT } });
  const scene = await makeSynced({});
  git(scene.folder, 'rm', '--quiet', PATH);
  for (const [name, text] of Object.entries({ ...files, [path]: file })) writeSource(scene, text, name);
  commitAll(scene.folder, 'An odd name');
  await sync(scene);
  changeOutside(scene, { content: 'Theirs.' });
  const crlf = (text: string) => text.replaceAll('\n', '\r\n');
  const mine = crlf(promptText('greeting', { text: 'Ours.' }));
  writeSource(scene, mine, path);
  expect((await pull(scene)).exitCode).toBe(4);
  const both = conflict('Ours.', 'Theirs.').replace(PATH, 'prompts/a\\u{a}b.md');
  expect(source(scene, path)).toBe(mine.replace('Ours.', crlf(both)));
});

test('pull never loses a line that was added in the file or in the service', async () => {
  const scene = await makeSynced({});
  const head = git(scene.folder, 'rev-parse', 'HEAD');
  const lines = (own: string) =>
    fc.array(fc.constantFrom('One.', 'Two.', 'Three.', '', `${own} 1`, `${own} 2`), { minLength: 1, maxLength: 8 });
  const text = (own: string) =>
    lines(own)
      .map((all) => all.join('\n'))
      .filter((one) => one.trim() !== '');
  await fc.assert(
    fc.asyncProperty(text('ours'), text('theirs'), async (ours, theirs) => {
      git(scene.folder, 'checkout', '--quiet', head, '--', PATH);
      writeSource(scene, promptText('greeting', { text: ours }));
      changeOutside(scene, { content: theirs });
      const ran = await pull(scene);
      const written = new Set(source(scene).split('\n'));
      expect(
        [...ours.split('\n'), ...theirs.split('\n')].filter(
          (line) => /^(ours|theirs) /.test(line) && !written.has(line),
        ),
      ).toEqual([]);
      const problems = only(ran).problems.map(({ code, message }) => `${code} ${message}`);
      // If each side deletes the lines that the other side keeps, no text is left. Then the file stays unchanged.
      const nothingLeft = problems.length === 1 && /^edit\/not-kept .* has no text/.test(problems.join());
      if (nothingLeft) expect(textIn(scene)).toBe(ours);
      else expect([ran.exitCode, problems.length]).toEqual(source(scene).includes('<<<<<<<') ? [4, 1] : [0, 0]);
    }),
    { numRuns: 60 },
  );
});
