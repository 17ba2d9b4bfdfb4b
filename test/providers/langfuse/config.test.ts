import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/domain/json.ts';
import { digestVersion } from '../../../src/providers/langfuse/version.ts';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { commitAll, makeRepository, writeFiles } from '../../support/folder.ts';
import { runJson } from '../../support/run.ts';

const CONFIG = 'service: { provider: langfuse }\nenvironments: { staging: {} }\n';

const fileOf = (id: string, text: string, metadata: string) =>
  `---\nid: ${id}\npins:\n  staging: latest\n${metadata}---\n\n${text}\n`;

/** Syncs two prompts. Then somebody adds a version to both, and the first of these versions has the given config. */
async function makeChanged(metadata: string, config: JsonValue) {
  const langfuse = await startLangfuse();
  const { store, environment } = langfuse;
  const files = { 'prompts/a.md': fileOf('a', 'One.', metadata), 'prompts/b.md': fileOf('b', 'One.', '') };
  const folder = makeRepository({ 'promptsync.yaml': CONFIG, ...files });
  commitAll(folder, 'Prompts');
  const json = (...words: readonly string[]) => runJson(folder, words, { environment });
  expect((await json('sync', '--yes')).exitCode).toBe(0);
  langfuse.takeWrites();
  store.addVersion('a', { text: 'Two.', config, labels: ['staging'] });
  store.addVersion('b', { text: 'Two.', labels: ['staging'] });
  return { langfuse, store, folder, json, read: (path: string) => readFileSync(join(folder, path), 'utf8') };
}

describe.each<readonly [JsonValue]>([[[1, { a: 2 }]], ['gpt-5'], [7], [false]])(
  'a Langfuse config with the value %j',
  (config) => {
    test('pull updates a file without metadata even if the Langfuse config is not a mapping', async () => {
      const { json, folder, langfuse, read } = await makeChanged('', config);
      expect((await json('pull')).exitCode).toBe(0);
      expect(read('prompts/a.md')).toBe(fileOf('a', 'Two.', ''));
      commitAll(folder, 'Pull');
      expect((await json('plan', '--exit-code')).exitCode).toBe(0);
      expect((await json('sync', '--yes')).exitCode).toBe(0);
      expect(langfuse.takeWrites()).toEqual([]);
    });

    test.each([
      [[], 'metadata: {}\n'],
      [[], 'metadata:\n  model: gpt-5\n'],
      [['--theirs'], 'metadata:\n  model: gpt-5\n'],
      [['--ours'], 'metadata:\n  model: gpt-5\n'],
    ])(
      'With the flags %j, pull blocks only the file with the front matter %j if its Langfuse config is not a mapping',
      async (flags, metadata) => {
        const { json, read } = await makeChanged(metadata, config);
        const { exitCode, report } = await json('pull', ...flags);
        expect(exitCode).toBe(3);
        expect(read('prompts/a.md')).toBe(fileOf('a', 'One.', metadata));
        expect(read('prompts/b.md')).toBe(fileOf('b', 'Two.', ''));
        const message =
          '"staging" serves v2, but that version\'s `config` is not a JSON object. A prompt file can store `config` only as an object.';
        expect(report.prompts).toMatchObject([
          { id: 'a', status: 'blocked', problems: [{ code: 'pull/config-not-mapping', message }] },
          { id: 'b', status: 'applied', problems: [] },
        ]);
      },
    );

    test('sync copies even a config that is not a mapping to the new version if the prompt file has no metadata', async () => {
      const { json, folder, store } = await makeChanged('', config);
      writeFiles(folder, { 'prompts/a.md': fileOf('a', 'Three.', '') });
      commitAll(folder, 'Edit');
      const { exitCode, report } = await json('sync', '--yes');
      expect(exitCode).toBe(0);
      expect(report.prompts[0]?.changes[0]).toMatchObject({ metadata_from: { version_number: 2 } });
      expect(store.serves('a', 'staging')).toEqual({ version: 3, text: 'Three.', config });
    });

    test('plan shows that file metadata will replace a config that is not a mapping', async () => {
      const { json } = await makeChanged('metadata:\n  model: gpt-5\n', config);
      const { report } = await json('plan');
      expect(report.prompts[0]?.changes).toMatchObject([
        { before_metadata: JSON.stringify(config), after_metadata: 'model: "gpt-5"' },
      ]);
    });
  },
);

test('Langfuse versions with different configs have different metadata digests', () => {
  const configs: readonly JsonValue[] = [{}, [], '', 0, false, '{}'];
  const versions = configs.map((config) =>
    digestVersion({
      number: 1,
      prompt: 'A',
      config,
      labels: [],
      message: null,
      times: null,
      createdBy: null,
      projectId: null,
    }),
  );
  expect(new Set(versions.map(({ metadataDigest }) => metadataDigest)).size).toBe(configs.length);
  expect(versions.map(({ content }) => content?.metadata)).toEqual(configs);
});

test('promptsync treats a null Langfuse config as an empty mapping', async () => {
  const { json, folder, langfuse } = await makeChanged('metadata: {}\n', null);
  expect((await json('pull')).exitCode).toBe(0);
  commitAll(folder, 'Pull');
  expect((await json('sync', '--yes')).exitCode).toBe(0);
  expect(langfuse.takeWrites()).toEqual([]);
});
