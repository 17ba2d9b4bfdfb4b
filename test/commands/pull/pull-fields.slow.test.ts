import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/domain/json.ts';
import type { PromptParts } from '../../support/prompts.ts';
import { promptText } from '../../support/prompts.ts';
import {
  changeOutside,
  conflict,
  edit,
  makeSynced,
  only,
  pull,
  settle,
  source,
  sync,
  TEXT,
  writeSource,
  type Scene,
  textIn,
} from './pulling.ts';

type Fields = { readonly key?: string; readonly name?: string; readonly description?: string };

function changeFields({ service }: Scene, fields: Fields): void {
  service.store.updatePrompt('prm_greeting', fields);
}

const managed = { name: 'Greeting', description: 'The first message.' };

describe('pull of fields', () => {
  test.each<[string, PromptParts, Fields, PromptParts]>([
    [
      'pull copies a changed key, name and description from the service to the file',
      managed,
      { key: 'hello', name: '{x}: # "it\'s"', description: '' },
      { key: 'hello', name: '{x}: # "it\'s"', description: '' },
    ],
    [
      'pull does not add a field that is missing from the file',
      { name: 'Greeting' },
      { description: 'x' },
      { name: 'Greeting' },
    ],
  ])('%s', async (_, before, fields, after) => {
    const scene = await makeSynced(before);
    changeFields(scene, fields);
    expect((await pull(scene)).exitCode).toBe(0);
    // The front matter of the test is JSON, and an edit keeps the style of the value that it replaces.
    expect(source(scene)).toBe(promptText('greeting', { text: TEXT, ...after }));
  });

  test('pull preserves a name change that is committed in git but not yet synced', async () => {
    const scene = await makeSynced(managed);
    edit(scene, { ...managed, name: 'Hello' });
    edit(scene, { ...managed, name: 'Welcome' });
    expect(only(await pull(scene))).toMatchObject({ status: 'unchanged', edits: [] });
  });

  test('pull writes both sides of a conflict to the file if an uncommitted edit and the service changed the same field', async () => {
    const scene = await makeSynced(managed);
    changeFields(scene, { name: 'theirs', description: 'Changed there.' });
    writeSource(scene, promptText('greeting', { text: TEXT, ...managed, name: 'ours' }));
    const before = source(scene);
    const ran = await pull(scene);
    expect(ran.exitCode).toBe(4);
    expect(only(ran)).toMatchObject({
      status: 'failed',
      edits: [
        { kind: 'set-field', field: 'name', before: '"ours"', after: '"theirs"', conflict: true },
        { kind: 'set-field', field: 'description', conflict: false },
      ],
      problems: [{ code: 'pull/conflict', message: expect.stringContaining('1 place') }],
    });
    expect(source(scene)).toContain(`\n${conflict('name: "ours"', 'name: "theirs"', 'the service')}\n`);
    for (const side of ['ours', 'theirs'] as const) {
      writeSource(scene, before);
      expect((await pull(scene, `--${side}`)).exitCode).toBe(0);
      expect(source(scene)).toBe(promptText('greeting', { text: TEXT, name: side, description: 'Changed there.' }));
    }
  });

  test('pull updates a field that somebody changed in the service even if an unsynced commit changed the same field', async () => {
    const scene = await makeSynced(managed);
    changeFields(scene, { name: 'theirs' });
    edit(scene, { ...managed, name: 'ours' });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(source(scene)).toBe(promptText('greeting', { text: TEXT, ...managed, name: 'theirs' }));
  });

  test('pull updates a name that somebody changed in the service even if the same pull merges the text of an older version', async () => {
    const scene = await makeSynced(managed);
    changeOutside(scene, { content: TEXT.replace('One.', '1.'), environments: ['playground'] });
    edit(scene, { ...managed, name: 'Hello', text: TEXT.replace('Three.', '3.') });
    await sync(scene);
    changeFields(scene, { name: 'Welcome' });
    expect((await pull(scene, '--environment', 'playground')).exitCode).toBe(0);
    const text = TEXT.replace('One.', '1.').replace('Three.', '3.');
    expect(source(scene)).toBe(promptText('greeting', { ...managed, name: 'Welcome', text }));
  });
});

describe('pull of metadata', () => {
  const before = { metadata: { model: 'a', temperature: 0.5, gone: 1 } };
  const more = `${TEXT}\nMore.`;

  test('pull merges metadata changes from the service and the file key by key', async () => {
    const scene = await makeSynced(before);
    changeOutside(scene, { content: TEXT, metadata: { model: 'b', temperature: 0.5, tools: ['x', { y: null }] } });
    edit(scene, { metadata: { model: 'a', temperature: 1, gone: 1 } });
    expect(only(await pull(scene)).edits).toMatchObject([
      { field: 'metadata.model', before: '"a"', after: '"b"', conflict: false },
      { field: 'metadata.gone', after: null },
      { field: 'metadata.tools', before: null },
    ]);
    expect(source(scene)).toMatch(/metadata: \{"model":"b","temperature":1, *"tools": *\["x", *\{"y": *null\}\]\}/);
    await settle(scene);
  });

  test('pull writes both sides of a conflict to the file if the service and the file change the same metadata key', async () => {
    const scene = await makeSynced(before);
    changeOutside(scene, { content: TEXT, metadata: { ...before.metadata, model: 'theirs' } });
    edit(scene, { metadata: { ...before.metadata, model: 'ours' } });
    expect((await pull(scene)).exitCode).toBe(4);
    expect(source(scene)).toMatch(/<{7}.*\nmetadata: .*ours.*\n={7}\nmetadata: [^]*theirs[^]*>{7} staging v2\n/);
  });

  test.each<[string, JsonObject, PromptParts]>([
    ['pull does not add metadata to a file that has none', { model: 'b' }, {}],
    ['pull does not remove metadata that was newly added to the file', {}, { metadata: { model: 'a' } }],
  ])('%s', async (_, metadata, parts) => {
    const scene = await makeSynced({});
    changeOutside(scene, { content: more, metadata });
    edit(scene, parts);
    expect((await pull(scene)).exitCode).toBe(0);
    expect(source(scene)).toBe(promptText('greeting', { ...parts, text: more }));
  });
});

describe('pull of an older pin', () => {
  test('pull keeps the metadata of the file if somebody edited the text of a version from before the metadata', async () => {
    const pins = { staging: 'latest', production: 1 };
    const scene = await makeSynced({});
    edit(scene, { pins });
    await sync(scene);
    edit(scene, { pins, metadata: { model: 'a' } });
    await sync(scene);
    const content = `${TEXT}\nMore.`;
    changeOutside(scene, { content, environments: ['production'] });
    expect(only(await pull(scene)).edits).toMatchObject([
      { kind: 'set-text', conflicts: 0 },
      { kind: 'set-pin', before: '1' },
    ]);
    expect(textIn(scene)).toBe(content);
  });
});

describe('pull of variables', () => {
  const declared = (variables: string, text: string) =>
    `---\nid: prm_greeting\nkey: greeting\nname: greeting\npins:\n  staging: latest\nvariables: ${variables} # in order\n---\n\n${text}\n`;

  test('pull updates the declared variables to match the pulled text and preserves their order', async () => {
    const scene = await makeSynced(declared('[z, gone, a]', '{{a}} {{gone}} {{z}}\n\nEnd.'));
    changeOutside(scene, { content: '{{new}} {{a}} {{z}}\n\nEnd.' });
    const ran = await pull(scene);
    expect(only(ran).edits).toMatchObject([
      { field: 'variables', before: '["z","gone","a"]', after: '["z","a","new"]' },
      { kind: 'set-text' },
    ]);
    expect(source(scene)).toBe(declared('[z, a, new]', '{{new}} {{a}} {{z}}\n\nEnd.'));
    await settle(scene);
  });

  test('pull leaves the declared variables unchanged if the text has a conflict', async () => {
    const scene = await makeSynced(declared('[a]', 'Hello {{a}}.'));
    changeOutside(scene, { content: 'Hello {{theirs}}.' });
    writeSource(scene, declared('[ours]', 'Hello {{ours}}.'));
    expect((await pull(scene)).exitCode).toBe(4);
    expect(source(scene)).toContain('variables: [ours] # in order');
  });
});
