import { expect, test } from 'vitest';
import type { JsonValue } from '../../../src/domain/json.ts';
import { commitAll } from '../../support/folder.ts';
import { makeScene } from './scene.ts';

const fileOf = (id: string, text: string, metadata: string) =>
  `---\nid: ${id}\npins: { staging: latest }\n${metadata}---\n\n${text}\n`;

/** Prompts by id: the front matter about metadata, and the config of the version that somebody adds after the sync. */
const PROMPTS: Readonly<Record<string, readonly [metadata: string, config: JsonValue]>> = {
  empty: ['metadata: {}\n', [1, { a: 2 }]],
  model: ['metadata:\n  model: gpt-5\n', 'gpt-5'],
  other: ['', {}],
  unmanaged: ['', [1, { a: 2 }]],
};

test('pull blocks only files with metadata if their Langfuse config is not a mapping, also with --ours and --theirs', async () => {
  const { json, run, read, write, addVersion, sync, langfuse, folder } = await makeScene(
    Object.fromEntries(Object.entries(PROMPTS).map(([id, [front]]) => [`prompts/${id}.md`, fileOf(id, 'One.', front)])),
  );
  await sync();
  for (const [id, [, config]] of Object.entries(PROMPTS)) addVersion(id, { text: 'Two.', config });
  langfuse.takeWrites();
  const { report: plan } = await json('plan', 'model');
  expect(plan.prompts[0]?.changes).toMatchObject([{ before_metadata: '"gpt-5"', after_metadata: 'model: "gpt-5"' }]);
  const message =
    '"staging" serves v2, but that version\'s `config` is not a JSON object. A prompt file can store `config` only as an object.';
  for (const flags of [['--ours'], ['--theirs'], []]) {
    for (const id of ['other', 'unmanaged']) write({ [`prompts/${id}.md`]: fileOf(id, 'One.', '') });
    const { exitCode, report } = await json('pull', ...flags);
    expect(exitCode).toBe(3);
    const blocked = report.prompts.filter(({ status }) => status === 'blocked');
    expect(blocked.map(({ id, problems }) => [id, problems])).toMatchObject(
      ['empty', 'model'].map((id) => [id, [{ code: 'pull/config-not-mapping', message }]]),
    );
  }
  for (const [id, [front]] of Object.entries(PROMPTS)) {
    expect(read(`prompts/${id}.md`)).toBe(fileOf(id, front === '' ? 'Two.' : 'One.', front));
  }
  commitAll(folder, 'Pull');
  expect((await run('sync', '--yes', 'other', 'unmanaged')).exitCode).toBe(0);
  expect(langfuse.takeWrites()).toEqual([]);
});
