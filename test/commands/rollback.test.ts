import { describe, expect, test } from 'vitest';
import { cloneOf, commitAll, git, makeWorkspace, writeFiles } from '../support/folder.ts';
import { CONFIG, promptText, type PromptParts } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';
import { begin, PATH, PROMOTION, told, type Scene, type SceneOptions } from '../support/promotion.ts';

const ROLLBACK = ['rollback', 'greeting', '--environment', 'production'] as const;
const TEXTS = ['One.', 'Two.', 'Three.', 'Four.', 'Five.'];
const APPLIED = 'exit 0, greeting applied';
const pinned = (production: number | string) => ({ text: 'Five.', pins: { staging: 'latest', production } });

const outsideGit: SceneOptions = { makeFolder: makeWorkspace };
/** Any version may be active anywhere: promotion has no part. */
const free: SceneOptions = { ...outsideGit, config: CONFIG };

/** Five versions; staging serves the newest, and production a number; the first commit pins another one. */
async function ready(first: number | string, served: number, options?: SceneOptions): Promise<Scene> {
  const scene = await begin(pinned(first), options);
  scene.make(TEXTS);
  scene.activate('staging', 5);
  scene.activate('production', served);
  return scene;
}

function productionOf({ read }: Scene): string | undefined {
  return /production": ?("?[^,}]*)/.exec(read())?.[1];
}

describe('promptsync rollback', () => {
  test('pins what the environment was pinned to before, by git, whatever number lies between', async () => {
    const scene = await ready(2, 4);
    scene.commit(pinned(4));
    const ran = await scene.run(...ROLLBACK);
    expect(ran.exitCode).toBe(0);
    expect(productionOf(scene)).toBe('2');
    expect(ran.stdout).toContain('production: 4 → 2');
    expect(scene.service.takeWrites()).toEqual([]);
  });

  test('twice goes two back, and never forward', async () => {
    const scene = await ready(2, 4);
    scene.commit(pinned(3));
    scene.commit(pinned(4));
    for (const expected of [3, 2]) {
      expect(told(await scene.runJson(...ROLLBACK, '--commit'))).toBe(APPLIED);
      expect(productionOf(scene)).toBe(String(expected));
      scene.activate('production', expected);
    }
    // Version 1 was never pinned: whether it may go live is for the promotion rules to say.
    expect(told(await scene.runJson(...ROLLBACK))).toBe('exit 3, greeting blocked guard/promotion-order');
  });

  test('may be repeated before a sync: it is what the environment serves that it goes back from', async () => {
    const scene = await ready(2, 4);
    scene.commit(pinned(4));
    expect(told(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
    expect(told(await scene.runJson(...ROLLBACK))).toBe('exit 0, greeting unchanged');
    expect(productionOf(scene)).toBe('2');
  });

  test('goes back from `latest` to the text before, by its number', async () => {
    const scene = await begin({ text: 'Four.', pins: { staging: 'latest' } });
    scene.make(TEXTS);
    scene.activate('staging', 5);
    scene.commit({ text: 'Five.', pins: { staging: 'latest' } });
    const words = ['rollback', 'greeting', '--environment', 'staging'];
    expect(told(await scene.runJson(...words))).toBe(APPLIED);
    expect(scene.read()).toMatch(/"staging": ?4/);
  });

  test('finds what a ref meant although the file has another name now', async () => {
    const scene = await begin({ text: 'Two.', pins: { staging: 'latest', production: 1 } }, { config: CONFIG });
    scene.make(TEXTS);
    git(scene.folder, 'tag', 'then');
    git(scene.folder, 'mv', 'prompts/greeting.md', 'prompts/hello.md');
    const edit = (production: number | string) => {
      const text = promptText('greeting', { text: 'Five.', pins: { staging: 'latest', production } });
      writeFiles(scene.folder, { 'prompts/hello.md': text });
      commitAll(scene.folder, 'Edit');
    };
    edit('git:then');
    edit(4);
    scene.activate('staging', 5);
    scene.activate('production', 4);
    expect(told(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
    expect(scene.read('prompts/hello.md')).toMatch(/production":2/);
  });

  test('where git knows nothing, to the version before that the service knows', async () => {
    const scene = await ready(4, 4, free);
    expect(told(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
    expect(productionOf(scene)).toBe('3');
  });

  test('what a branch was pinned to before it was merged was never asked of the service', async () => {
    const scene = await ready(2, 4, { config: CONFIG });
    git(scene.folder, 'checkout', '--quiet', '-b', 'side');
    scene.commit(pinned(3));
    scene.commit(pinned(4));
    git(scene.folder, 'checkout', '--quiet', 'main');
    git(scene.folder, 'merge', '--quiet', '--no-ff', '--no-edit', 'side');
    expect(told(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
    expect(productionOf(scene)).toBe('2');
  });

  test('of several prompts by a pattern, in one commit with a message that names the versions', async () => {
    const scene = await ready(2, 4, { others: { goodbye: pinned(2) }, config: CONFIG });
    scene.make(TEXTS, 'goodbye');
    scene.activate('production', 4, 'goodbye');
    const ran = await scene.runJson('rollback', 'g*', '--environment', 'production', '--to', '1', '--branch', 'back');
    expect(told(ran)).toBe('exit 0, goodbye applied, greeting applied');
    expect(ran.report.committed?.branch).toBe('back');
    expect(git(scene.folder, 'log', '-1', '--format=%B').trim()).toBe(
      'Roll 2 prompts back in production\n\n- goodbye (v2 → v1)\n- greeting (v2 → v1)',
    );
  });
});

describe('a rollback that cannot be', () => {
  test('changes nothing', async () => {
    const scene = await ready(4, 4, outsideGit);
    const before = scene.read();
    for (const [words, expected] of [
      ['greeting --environment production --to 99', 'exit 3, greeting blocked rollback/unknown-version'],
      ['greeting --environment production --to 4', 'exit 0, greeting unchanged'],
      ['greeting --environment production --to 0', 'exit 1, usage/invalid'],
      ['greeting --environment production --to v3', 'exit 1, usage/invalid'],
      ['greeting', 'exit 1, usage/invalid'],
      ['--environment production', 'exit 1, usage/nothing-named'],
      ['greeting --environment prod', 'exit 1, greeting not_attempted, usage/unknown-environment'],
      ['hello --environment production', 'exit 1, usage/nothing-selected'],
    ] as const) {
      expect([words, told(await scene.runJson('rollback', ...words.split(' ')))]).toEqual([words, expected]);
    }
    expect(scene.read()).toBe(before);
    const first = await ready(1, 1, free);
    expect(told(await first.runJson(...ROLLBACK))).toBe('exit 3, greeting blocked rollback/nothing-before');
  });

  test('in an environment that serves nothing, though another does', async () => {
    const scene = await begin({ text: 'Two.', pins: { staging: 'latest' } }, free);
    scene.make(['One.', 'Two.']);
    scene.activate('staging', 2);
    expect(told(await scene.runJson(...ROLLBACK))).toBe('exit 3, greeting blocked rollback/nothing-served');
  });

  /** Versions 1 and 3 are ours, and 2 is of somebody whom no ledger names; production serves 3. */
  async function withUnknown(first: PromptParts): Promise<Scene> {
    const scene = await begin(first, { config: CONFIG });
    scene.make(['One.']);
    scene.service.store.createVersion('prm_greeting', { content: 'Outside.', metadata: {} });
    scene.make(['Three.']);
    for (const environment of ['staging', 'production']) scene.activate(environment, 2);
    return scene;
  }
  const parts = (production: number | string, text = 'Three.') => ({ text, pins: { staging: 'latest', production } });

  test.each<[string, PromptParts, string]>([
    ['a number that nobody knows', parts(2), 'exit 3, greeting blocked rollback/unknown-version'],
    ['an id that nobody knows', parts('version:gone'), 'exit 3, greeting blocked rollback/unclear-before'],
    ['a text of which no version is known', parts('latest', 'X.'), 'exit 3, greeting blocked rollback/unclear-before'],
  ])('past %s', async (_, between, expected) => {
    const scene = await withUnknown(parts(1, 'One.'));
    scene.commit(between);
    scene.commit(parts(3));
    expect(told(await scene.runJson(...ROLLBACK))).toBe(expected);
    expect(productionOf(scene)).toBe('3');
  });

  test('past a text that was never a version, and so was never served: it goes on', async () => {
    const scene = await ready(2, 3, { config: CONFIG });
    scene.commit({ text: 'Never synced.', pins: { production: 'latest' } });
    scene.commit(pinned(3));
    expect(told(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
  });

  test('in a shallow clone that has nothing before: the ledger alone would be a guess', async () => {
    const scene = await ready(1, 4, { config: CONFIG });
    scene.commit(pinned(4));
    const ran = await runJson(cloneOf(scene.folder), ROLLBACK, scene.service);
    expect(told(ran)).toBe('exit 3, greeting blocked rollback/shallow');
    expect(told(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
    expect(productionOf(scene)).toBe('1');
  });
});

describe('where an environment is promoted from another', () => {
  test('a version that it was pinned to before may come back although the other has moved on', async () => {
    const scene = await ready(2, 4);
    scene.commit(pinned(4));
    expect(told(await scene.runJson(...ROLLBACK, '--commit'))).toBe(APPLIED);
    expect(told(await scene.runJson('sync', '--yes'))).toBe(APPLIED);
    expect(scene.serves('production')).toBe('v2');
  });

  test('one that it never was pinned to may not, and the file stays', async () => {
    const scene = await ready(2, 4);
    scene.commit(pinned(4));
    const before = scene.read();
    expect(told(await scene.runJson(...ROLLBACK, '--to', '3'))).toBe('exit 3, greeting blocked guard/promotion-order');
    expect(scene.read()).toBe(before);
  });

  test('an environment that the file does not pin is judged by what the other serves', async () => {
    const config = `${CONFIG}environments: { dev: {}, staging: {}, production: { promote_from: staging } }\n`;
    const scene = await begin({ text: 'Five.', pins: { dev: 'latest' } }, { ...outsideGit, config });
    scene.make(TEXTS);
    scene.activate('dev', 5);
    scene.activate('staging', 3);
    scene.activate('production', 4);
    expect(told(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
    expect(scene.read()).toContain('"production": 3');
  });
});

describe('The text of a version that somebody else made', () => {
  /** Imported, and edited and promoted since: nothing in the service shows the first text any more. */
  async function adopted(): Promise<Scene> {
    const scene = await begin({}, { config: PROMOTION });
    const { store } = scene.service;
    const { id } = store.createVersion('prm_greeting', { content: 'Imported.' })!;
    for (const environment of ['staging', 'production'])
      store.setActive('prm_greeting', { environment, versionId: id });
    const pins = { staging: 'latest', production: `version:${id}` };
    scene.commit({ text: 'Imported.', pins });
    git(scene.folder, 'mv', PATH, 'prompts/hello.md');
    commitAll(scene.folder, 'Rename');
    writeFiles(scene.folder, { 'prompts/hello.md': promptText('greeting', { text: 'Edited.', pins }) });
    commitAll(scene.folder, 'Edit');
    expect((await scene.run('sync', '--yes')).exitCode).toBe(0);
    await scene.run('promote', 'greeting', '--to', 'production', '--commit');
    expect((await scene.run('sync', '--yes')).exitCode).toBe(0);
    return scene;
  }

  test('is shown by a rollback, the plan after it and the sync, as git holds it', async () => {
    const scene = await adopted();
    for (const words of [[...ROLLBACK, '--commit'], ['plan'], ['sync', '--yes']]) {
      const { stdout, exitCode } = await scene.run(...words);
      expect({ words, exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('+Imported.') });
      expect(stdout).toContain('-Edited.');
    }
    expect(scene.serves('production')).toBe('v1');
  });
});
