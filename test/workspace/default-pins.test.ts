import { describe, expect, test } from 'vitest';
import { LENIENT_SETTINGS, parsePromptFile } from '../../src/workspace/parse-prompt-file.ts';
import { fourCallFileRules } from '../../src/providers/four-call/file-rules.ts';
import { commitAll, makeRepository, writeFiles } from '../support/folder.ts';
import { runJson } from '../support/run.ts';
import { changeService, startTestService } from '../support/service.ts';

const fileOf = (name: string, text: string, fields = '') =>
  `---\nid: prm_${name}\nkey: ${name}\nname: ${name}\n${fields}---\n\n${text}\n`;
const configOf = (pins: string, further = '') =>
  `prompts: ["prompts/**/*.md"]\nbranch: main\n${further}defaults:\n  pins: ${pins}\n`;
const [A, B, CONFIG] = ['prompts/a.md', 'prompts/b.md', 'promptsync.yaml'];

/** Makes a synced workspace of two prompts without pins. Each has two versions, and staging serves the second one. */
async function makeTeam() {
  const service = await startTestService(['a', 'b']);
  const folder = makeRepository({
    [CONFIG]: configOf('{ staging: latest }'),
    [A]: fileOf('a', 'One.'),
    [B]: fileOf('b', 'One.'),
  });
  const json = async (words: string) => (await runJson(folder, words.split(' '), service)).report;
  const commit = (files: Readonly<Record<string, string>>) => {
    writeFiles(folder, files);
    return commitAll(folder, 'Change');
  };
  await json('sync --yes');
  commit({ [A]: fileOf('a', 'Two.'), [B]: fileOf('b', 'Two.') });
  expect((await json('sync --yes')).summary).toMatchObject({ create_version: 2, set_active: 2 });
  return { folder, service, json, commit };
}

const BASES = ['plan --base HEAD^', 'plan --base HEAD^ --offline'];

describe('default pins', () => {
  test('Default pins apply only to prompt files that have no field `pins`, and an unknown environment among them is no problem of a file', () => {
    const pin = { environment: 'stagng', pin: { kind: 'latest' }, path: CONFIG, line: 5, column: 11 } as const;
    const rules = { rules: fourCallFileRules, environments: [{ name: 'staging' }], defaultPins: [pin] };
    const parse = (fields: string) =>
      parsePromptFile(Buffer.from(fileOf('a', 'One.', fields)), A, { ...LENIENT_SETTINGS, ...rules });
    expect(parse('')).toMatchObject({ file: { pins: [pin] }, problems: [] });
    expect(parse('pins: {}\n').file?.pins).toEqual([]);
  });

  test('plan reports activations, but no drift, for commits that add and change default pins, and still reports drift of another environment', async () => {
    const { service, json, commit } = await makeTeam();
    const expectActivations = async (environment: string, words: string) => {
      const { prompts, problems } = await json(words);
      const activated = { changes: [{ kind: 'set-active', environment }], drift: [], problems: [] };
      expect(prompts).toMatchObject([activated, activated]);
      expect(problems.filter(({ code }) => code !== 'service/not-asked')).toEqual([]);
    };
    commit({ [CONFIG]: configOf('{ staging: 1 }') });
    for (const words of BASES) await expectActivations('staging', words);
    commit({ [CONFIG]: configOf('{ staging: latest }') });
    commit({ [CONFIG]: configOf('{ staging: latest, production: latest }') });
    await expectActivations('production', 'plan --base HEAD^');
    await changeService(service.baseUrl, 'a', 'staging', 'A fix.');
    const { prompts } = await json('plan --base HEAD^');
    expect(prompts.map(({ drift }) => drift)).toMatchObject([[{ environment: 'staging', kind: 'outside' }], []]);
  });

  test('a plan reports for each prompt file which default pin the last commit removed, unless the file has the pin itself', async () => {
    const { json, commit } = await makeTeam();
    commit({ [CONFIG]: configOf('{}') });
    for (const words of BASES) {
      const { problems } = await json(words);
      const gone = problems.filter(({ code }) => code === 'pin/gone');
      expect(gone).toMatchObject([{ path: A, message: expect.stringContaining('"staging" to "latest"') }, { path: B }]);
    }
    commit({ [A]: fileOf('a', 'Two.', 'pins: { staging: latest }\n') });
    const { prompts, problems } = await json('plan --base HEAD~2');
    expect(prompts[0]).toMatchObject({ status: 'unchanged', drift: [] });
    expect(problems.map(({ code, path }) => `${code} ${path}`)).toEqual([`pin/gone ${B}`]);
  });

  test('an uncommitted change to the default pins is no drift, and sync blocks exactly the prompts that use the default pins', async () => {
    const { folder, json, commit } = await makeTeam();
    commit({ [B]: fileOf('b', 'Two.', 'pins: { staging: latest }\n') });
    writeFiles(folder, { [CONFIG]: configOf('{ staging: latest, production: 1 }') });
    const plan = await json('plan');
    expect(plan.prompts.map(({ changes, drift }) => [changes, drift])).toMatchObject([
      [[{ environment: 'production' }], []],
      [[], []],
    ]);
    expect(plan.problems.map(({ code, path }) => [code, path])).toEqual([['git/uncommitted', A]]);
    const { prompts } = await json('sync --yes');
    expect(prompts.map(({ status, problems }) => [status, ...problems.map(({ code }) => code)])).toEqual([
      ['blocked', 'guard/uncommitted'],
      ['unchanged'],
    ]);
  });

  test('a problem with a default pin points to its line in the configuration, and a prompt file can accept a warning about it', async () => {
    const { json, commit } = await makeTeam();
    const order = 'environments: { staging: {}, production: { promote_from: staging } }\n';
    commit({ [CONFIG]: configOf('{ staging: latest, production: latest }', order), [A]: fileOf('a', 'Three.') });
    const ordered = await json('plan');
    expect(ordered.prompts).toMatchObject([
      { status: 'blocked', problems: [{ code: 'guard/promotion-order', path: CONFIG, line: 5, column: 40 }] },
      { status: 'pending', changes: [{ environment: 'production' }] },
    ]);
    const other = 'environments: { production: { promote_from: staging } }\nother_environments: [staging]\n';
    const accepting = fileOf('b', 'Two.', 'accept_warnings: [pin/source-not-asked]\n');
    commit({ [CONFIG]: configOf('{ staging: latest, production: latest }', other), [B]: accepting });
    const { prompts } = await json('plan');
    const warnings = prompts.map(({ problems }) => problems.filter(({ severity }) => severity === 'warning'));
    expect(warnings).toMatchObject([[{ code: 'pin/source-not-asked', path: CONFIG, line: 6 }], []]);
  });
});
