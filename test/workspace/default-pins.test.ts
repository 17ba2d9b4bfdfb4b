import { describe, expect, test } from 'vitest';
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
  const json = async (...words: readonly string[]) => (await runJson(folder, words, service)).report;
  const commit = (files: Readonly<Record<string, string>>) => {
    writeFiles(folder, files);
    return commitAll(folder, 'Change');
  };
  await json('sync', '--yes');
  commit({ [A]: fileOf('a', 'Two.'), [B]: fileOf('b', 'Two.') });
  expect((await json('sync', '--yes')).summary).toMatchObject({ create_version: 2, set_active: 2 });
  return { folder, service, json, commit };
}

describe('default pins', () => {
  test('Default pins apply only to prompt files that have no field `pins`', async () => {
    const { json, commit } = await makeTeam();
    commit({ [A]: fileOf('a', 'Three.'), [B]: fileOf('b', 'Three.', 'pins: {}\n') });
    const { prompts } = await json('plan');
    expect(
      prompts.map(({ environments = [] }) => environments.map(({ environment, pin }) => [environment, pin])),
    ).toEqual([[['staging', 'latest']], []]);
  });

  test.each([
    [
      'plan reports activations, but no drift, for a commit that adds a default pin',
      '{ staging: latest, production: latest }',
      'production',
    ],
    ['plan reports activations, but no drift, for a commit that changes a default pin', '{ staging: 1 }', 'staging'],
  ])('%s', async (_, pins, environment) => {
    const { json, commit } = await makeTeam();
    commit({ [CONFIG]: configOf(pins) });
    for (const words of [
      ['plan', '--base', 'HEAD^'],
      ['plan', '--base', 'HEAD^', '--offline'],
    ]) {
      const { prompts, problems } = await json(...words);
      expect(prompts).toMatchObject([
        { changes: [{ kind: 'set-active', environment }], drift: [], problems: [] },
        { changes: [{ kind: 'set-active', environment }], drift: [], problems: [] },
      ]);
      expect(problems.filter(({ code }) => code !== 'service/not-asked')).toEqual([]);
    }
  });

  test('plan still reports drift in staging if a commit adds a default pin for production', async () => {
    const { service, json, commit } = await makeTeam();
    await changeService(service.baseUrl, 'a', 'staging', 'A fix.');
    commit({ [CONFIG]: configOf('{ staging: latest, production: latest }') });
    const { prompts } = await json('plan', '--base', 'HEAD^');
    expect(prompts.map(({ drift }) => drift)).toMatchObject([[{ environment: 'staging', kind: 'outside' }], []]);
  });

  test('plan reports activations, but no drift, for an uncommitted change to the default pins', async () => {
    const { folder, json } = await makeTeam();
    writeFiles(folder, { [CONFIG]: configOf('{ staging: latest, production: 1 }') });
    const { prompts } = await json('plan');
    expect(prompts.map(({ changes, drift }) => [changes, drift])).toMatchObject([
      [[{ environment: 'production' }], []],
      [[{ environment: 'production' }], []],
    ]);
  });

  test('sync blocks a prompt if an uncommitted edit to the configuration changes its default pins', async () => {
    const { folder, json, commit } = await makeTeam();
    commit({ [B]: fileOf('b', 'Two.', 'pins: { staging: latest }\n') });
    writeFiles(folder, { [CONFIG]: configOf('{ staging: latest, production: latest }') });
    const plan = await json('plan');
    expect(plan.problems.map(({ code, path }) => [code, path])).toEqual([['git/uncommitted', A]]);
    const { prompts } = await json('sync', '--yes');
    expect(prompts.map(({ status, problems }) => [status, ...problems.map(({ code }) => code)])).toEqual([
      ['blocked', 'guard/uncommitted'],
      ['unchanged'],
    ]);
  });

  test('sync blocks prompts that use default pins if git does not track the configuration', async () => {
    const service = await startTestService(['a']);
    const folder = makeRepository({ [A]: fileOf('a', 'One.') });
    writeFiles(folder, { [CONFIG]: configOf('{ staging: latest }') });
    const { report } = await runJson(folder, ['sync', '--yes'], service);
    expect(report.prompts.flatMap(({ problems }) => problems.map(({ code }) => code))).toEqual(['guard/uncommitted']);
  });

  test.each([['plan --base HEAD^'], ['plan --base HEAD^ --offline']])(
    '%s reports for each prompt file which default pin the last commit removed',
    async (words) => {
      const { json, commit } = await makeTeam();
      commit({ [CONFIG]: configOf('{}') });
      const { problems } = await json(...words.split(' '));
      expect(problems.filter(({ code }) => code === 'pin/gone')).toMatchObject([
        { path: A, message: expect.stringContaining('"staging" to "latest"') },
        { path: B },
      ]);
    },
  );

  test('plan --base reports no removed pin if a commit moves the pin from the default pins into the file', async () => {
    const { json, commit } = await makeTeam();
    commit({ [CONFIG]: configOf('{}'), [A]: fileOf('a', 'Two.', 'pins: { staging: latest }\n') });
    const { prompts, problems } = await json('plan', '--base', 'HEAD^');
    expect(prompts[0]).toMatchObject({ status: 'unchanged', drift: [] });
    expect(problems.map(({ code, path }) => `${code} ${path}`)).toEqual([`pin/gone ${B}`]);
  });

  test('A guard that refuses a default pin points to the line of that pin in the configuration', async () => {
    const { json, commit } = await makeTeam();
    const environments = 'environments: { staging: { allow_latest: false } }\n';
    commit({ [CONFIG]: configOf('{ staging: latest }', environments), [A]: fileOf('a', 'Three.') });
    const { prompts } = await json('plan');
    expect(prompts[0]?.problems).toMatchObject([
      { code: 'guard/latest-not-allowed', path: CONFIG, line: 5, column: 20 },
    ]);
  });

  test('plan applies a new default pin for production only to prompts whose text is already live in staging', async () => {
    const { json, commit } = await makeTeam();
    const environments = 'environments: { staging: {}, production: { promote_from: staging } }\n';
    commit({ [CONFIG]: configOf('{ staging: latest, production: latest }', environments), [A]: fileOf('a', 'Three.') });
    const { prompts } = await json('plan');
    expect(prompts[0]).toMatchObject({
      status: 'blocked',
      problems: [{ code: 'guard/promotion-order', path: CONFIG, line: 5 }],
    });
    expect(prompts[1]).toMatchObject({ status: 'pending', changes: [{ environment: 'production' }] });
  });

  test('plan blocks a new default pin for production to a version that staging does not serve', async () => {
    const { json, commit } = await makeTeam();
    const environments = 'environments: { staging: {}, production: { promote_from: staging } }\n';
    commit({ [CONFIG]: configOf('{ staging: latest, production: 1 }', environments) });
    const { prompts } = await json('plan');
    expect(prompts.flatMap(({ problems }) => problems.map(({ code }) => code))).toEqual([
      'guard/promotion-order',
      'guard/promotion-order',
    ]);
  });

  test('A prompt file can suppress a warning about a default pin with `accept_warnings`', async () => {
    const { json, commit } = await makeTeam();
    const environments = 'environments: { production: { promote_from: staging } }\nother_environments: [staging]\n';
    const accepting = fileOf('b', 'Two.', 'accept_warnings: [pin/source-not-asked]\n');
    commit({ [CONFIG]: configOf('{ staging: latest, production: latest }', environments), [B]: accepting });
    const { prompts } = await json('plan');
    const warnings = prompts.map(({ problems }) => problems.filter(({ severity }) => severity === 'warning'));
    expect(warnings).toMatchObject([[{ code: 'pin/source-not-asked', path: CONFIG, line: 6 }], []]);
  });

  test('validate reports a default pin for an unknown environment only once, even if several files use it', async () => {
    const { json, commit } = await makeTeam();
    commit({ [CONFIG]: configOf('{ stagng: latest }', 'environments: { staging: {} }\n') });
    const { problems } = await json('validate');
    expect(problems).toMatchObject([{ code: 'prompt/unknown-environment', path: CONFIG, line: 5, column: 11 }]);
  });
});
