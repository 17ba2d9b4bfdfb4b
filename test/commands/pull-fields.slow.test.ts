import { describe, expect, test } from 'vitest';
import type { PromptParts } from '../support/prompts.ts';
import { promptText } from '../support/prompts.ts';
import {
  changeOutside,
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
} from './pulling.ts';

type Fields = { readonly key?: string; readonly name?: string; readonly description?: string };

function changeFields({ service }: Scene, fields: Fields): void {
  service.store.updatePrompt('prm_greeting', fields);
}

const managed = { name: 'Greeting', description: 'The first message.' };

describe('a field', () => {
  test.each<[string, PromptParts, Fields, PromptParts]>([
    ['that was changed in the service is taken over', managed, { name: 'Hello' }, { ...managed, name: 'Hello' }],
    [
      'is taken over with the others',
      managed,
      { key: 'hello', description: '' },
      { ...managed, key: 'hello', description: '' },
    ],
    ['that the file does not manage stays so', { name: 'Greeting' }, { description: 'x' }, { name: 'Greeting' }],
    [
      'is written so that YAML reads it as it is',
      managed,
      { name: '{x}: # "it\'s"' },
      { ...managed, name: '{x}: # "it\'s"' },
    ],
  ])('%s', async (_, before, fields, after) => {
    const scene = await makeSynced(before);
    changeFields(scene, fields);
    expect((await pull(scene)).exitCode).toBe(0);
    // Front matter is JSON: what is set stays in the style of what stood there.
    expect(source(scene)).toBe(promptText('greeting', { text: TEXT, ...after }));
  });

  test('changed in git is left alone until a sync has got there', async () => {
    const scene = await makeSynced(managed);
    edit(scene, { ...managed, name: 'Hello' });
    edit(scene, { ...managed, name: 'Welcome' });
    expect(only(await pull(scene))).toMatchObject({ status: 'unchanged', edits: [] });
  });

  test('changed in both is written with both sides', async () => {
    const scene = await makeSynced(managed);
    changeFields(scene, { name: 'Theirs' });
    edit(scene, { ...managed, name: 'Ours', text: TEXT.replace('One.', '1.') });
    const ran = await pull(scene);
    expect(ran.exitCode).toBe(4);
    expect(only(ran)).toMatchObject({
      status: 'failed',
      edits: [{ kind: 'set-field', field: 'name', before: '"Ours"', after: '"Theirs"', conflict: true }],
      problems: [{ code: 'pull/conflict', message: expect.stringContaining('the same place;') }],
    });
    expect(source(scene)).toContain(
      '\n<<<<<<< prompts/greeting.md\nname: "Ours"\n=======\nname: "Theirs"\n>>>>>>> the service\n',
    );
  });

  test('changed in both has the side that was asked for', async () => {
    for (const side of ['ours', 'theirs'] as const) {
      const scene = await makeSynced(managed);
      changeFields(scene, { name: 'theirs', description: 'Changed there.' });
      edit(scene, { ...managed, name: 'ours' });
      expect((await pull(scene, `--${side}`)).exitCode).toBe(0);
      expect(source(scene)).toBe(promptText('greeting', { text: TEXT, name: side, description: 'Changed there.' }));
    }
  });

  test('is compared since the newest version, and not since the one whose text was edited', async () => {
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

describe('metadata', () => {
  const before = { metadata: { model: 'a', temperature: 0.5 } };

  test.each<[string, PromptParts, object, PromptParts]>([
    [
      'that was changed in the service is taken over',
      before,
      { model: 'b', temperature: 0.5 },
      { metadata: { model: 'b', temperature: 0.5 } },
    ],
    ['is taken out', before, { model: 'a' }, { metadata: { model: 'a' } }],
    [
      'is put in',
      before,
      { model: 'a', temperature: 0.5, tools: ['x', { y: null }] },
      { metadata: { model: 'a', temperature: 0.5, tools: ['x', { y: null }] } },
    ],
    ['that the file does not manage stays so', {}, { model: 'b' }, {}],
  ])('%s', async (_, parts, metadata, after) => {
    const scene = await makeSynced(parts);
    changeOutside(scene, { content: `${TEXT}\nMore.`, metadata: JSON.parse(JSON.stringify(metadata)) });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(meaning(source(scene))).toEqual(meaning(promptText('greeting', { ...after, text: `${TEXT}\nMore.` })));
  });

  test('is merged key by key', async () => {
    const scene = await makeSynced(before);
    changeOutside(scene, { content: TEXT, metadata: { model: 'b', temperature: 0.5 } });
    edit(scene, { metadata: { model: 'a', temperature: 1 } });
    const ran = await pull(scene);
    expect(only(ran).edits).toEqual([
      { kind: 'set-field', field: 'metadata.model', before: '"a"', after: '"b"', conflict: false },
    ]);
    expect(source(scene)).toBe(promptText('greeting', { text: TEXT, metadata: { model: 'b', temperature: 1 } }));
    await settle(scene);
  });

  test('of which both have changed one key is written with both sides', async () => {
    const scene = await makeSynced(before);
    changeOutside(scene, { content: TEXT, metadata: { model: 'theirs', temperature: 0.5 } });
    edit(scene, { metadata: { model: 'ours', temperature: 0.5 } });
    expect((await pull(scene)).exitCode).toBe(4);
    expect(source(scene)).toMatch(/<{7}.*\nmetadata: .*ours.*\n={7}\nmetadata: [^]*theirs[^]*>{7} staging v2\n/);
  });

  test('that the file manages only now is compared with none', async () => {
    const scene = await makeSynced({});
    changeOutside(scene, { content: `${TEXT}\nMore.` });
    edit(scene, { metadata: { model: 'a' } });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(source(scene)).toBe(promptText('greeting', { metadata: { model: 'a' }, text: `${TEXT}\nMore.` }));
  });
});

/** Front matter and text, whatever the style. */
function meaning(source: string): unknown {
  const [, yaml = '', text] = /^---\n([^]*?)\n---\n\n([^]*)$/.exec(source) ?? [];
  return { front: yaml.replaceAll(/\s/g, '').replaceAll(/,?\}/g, '}'), text };
}

describe('`variables`', () => {
  const declared = (variables: string, text: string) =>
    `---\nid: prm_greeting\nkey: greeting\nname: greeting\npins:\n  staging: latest\nvariables: ${variables} # in order\n---\n\n${text}\n`;

  test('follow the text: those that stay keep their order', async () => {
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

  test('become empty with the text', async () => {
    const scene = await makeSynced(declared('[a]', 'Hello {{a}}.'));
    changeOutside(scene, { content: 'Hello.' });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(source(scene)).toBe(declared('[]', 'Hello.'));
  });

  test('wait until a conflict is settled', async () => {
    const scene = await makeSynced(declared('[a]', 'Hello {{a}}.'));
    changeOutside(scene, { content: 'Hello {{theirs}}.' });
    writeSource(scene, declared('[ours]', 'Hello {{ours}}.'));
    expect((await pull(scene)).exitCode).toBe(4);
    expect(source(scene)).toContain('variables: [ours] # in order');
  });
});
