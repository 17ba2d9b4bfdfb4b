import { describe, expect, test } from 'vitest';
import { cloneOf, commitEdits, git } from '../support/folder.ts';
import { makePromotionScene, PROMOTION, summarizeRun } from '../support/promotion.ts';
import { CONFIG, type PromptParts } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';
import { changeService } from '../support/service.ts';
import { pinsIn } from '../support/several-services.ts';

const PORTABLE = `${PROMOTION}portable_pins: true\n`;
const FOLLOWING = { staging: 'latest' } as const;
const PROMOTE = ['promote', 'greeting', '--to', 'production'] as const;
const ROLL_BACK = ['rollback', 'greeting', '--environment', 'production'] as const;
const APPLIED = 'exit 0, greeting applied';
const UNCHANGED = 'exit 0, greeting unchanged';

/** Makes a synced repository with portable pins, whose only prompt has this text in staging. */
async function makeScene(parts: PromptParts = { text: 'One.', pins: FOLLOWING }, config = PORTABLE) {
  const scene = await makePromotionScene(parts, { config });
  await scene.run('sync', '--yes');
  return {
    ...scene,
    pins: () => pinsIn(scene.read()),
    head: () => git(scene.folder, 'rev-parse', 'HEAD'),
    /** Commits the text and syncs it to staging, without changing the pin for production. */
    edit: async (text: string, production?: string): Promise<string> => {
      const commit = scene.commit({ text, pins: production === undefined ? FOLLOWING : { ...FOLLOWING, production } });
      expect((await scene.run('sync', '--yes')).exitCode).toBe(0);
      return commit;
    },
    /** Commits what a command edited, and syncs it. */
    accept: async (): Promise<string> => {
      const commit = commitEdits(scene.folder, 'Accept');
      expect((await scene.run('sync', '--yes')).exitCode).toBe(0);
      return commit;
    },
  };
}

describe('promote with portable_pins', () => {
  test('promote pins the full id of the commit that introduced the text that staging serves', async () => {
    const { edit, runJson: json, pins, accept, serves, service } = await makeScene();
    const second = await edit('Two.');
    service.takeWrites();
    expect(summarizeRun(await json(...PROMOTE))).toBe(APPLIED);
    expect(pins()).toEqual(['staging: latest', `production: git:${second}`]);
    await accept();
    expect(serves('production')).toBe(serves('staging'));
    expect(service.takeWrites()).toEqual(['set-active prm_greeting production']);
    expect(summarizeRun(await json('plan', '--exit-code'))).toBe(UNCHANGED);
  });

  test.each(['latest', 'git:HEAD', 'git:v1'])('promote leaves the pin %s alone if it means the text', async (pin) => {
    const { folder, edit, runJson: json, read } = await makeScene();
    git(folder, 'tag', 'v1');
    await edit('One.', pin);
    const before = read();
    expect(summarizeRun(await json(...PROMOTE))).toBe(UNCHANGED);
    expect(read()).toBe(before);
  });

  test('promote blocks a prompt if no commit of the live branch has the text that staging serves, and describes that text', async () => {
    const { service, runJson: json, read } = await makeScene();
    await changeService(service.baseUrl, 'greeting', 'staging', 'By hand.');
    const before = read();
    const promoted = await json(...PROMOTE);
    expect(summarizeRun(promoted)).toBe('exit 3, greeting blocked pin/not-in-git');
    expect(promoted.report.prompts[0]?.problems[0]?.message).toContain('the text that "staging" serves (v2)');
    expect(read()).toBe(before);
  });

  test('promote in a shallow clone asks for the full history instead of pinning the oldest commit of the clone', async () => {
    const { folder, service, commit } = await makeScene();
    commit({ text: 'One.', pins: { ...FOLLOWING }, name: 'Renamed' });
    const clone = cloneOf(folder);
    const promoted = await runJson(clone, PROMOTE, { environment: service.environment });
    expect(summarizeRun(promoted)).toBe('exit 3, greeting blocked pin/not-in-git');
    expect(promoted.report.prompts[0]?.problems[0]?.hint).toContain('git fetch --unshallow');
  });

  test('With portable pins, promote does not edit the file if a revert has put staging behind production', async () => {
    const { edit, runJson: json, pins, accept } = await makeScene();
    const second = await edit('Two.');
    await json(...PROMOTE);
    await accept();
    await edit('One.', `git:${second}`);
    expect(summarizeRun(await json(...PROMOTE))).toBe(`${UNCHANGED} promote/older`);
    expect(pins()[1]).toBe(`production: git:${second}`);
    expect(summarizeRun(await json(...PROMOTE, '--allow-older'))).toBe(APPLIED);
  });

  test('promote shortens commit ids in its commit message', async () => {
    const { head, run, folder } = await makeScene();
    const first = head();
    await run(...PROMOTE, '--commit');
    expect(git(folder, 'log', '-1', '--format=%s')).toBe(`Promote greeting to production (git:${first.slice(0, 12)})`);
  });
});

describe('rollback with portable_pins', () => {
  /** Promotes three texts in turn. Returns the scene and the pins of the texts. */
  async function makePromoted() {
    const scene = await makeScene();
    const pins: string[] = [];
    for (const text of ['One.', 'Two.', 'Three.']) {
      if (text !== 'One.') await scene.edit(text, pins.at(-1));
      await scene.runJson(...PROMOTE);
      await scene.accept();
      pins.push(scene.pins()[1]?.replace('production: ', '') ?? '');
    }
    return { ...scene, former: pins };
  }

  test('rollback writes the previous pin as git has it, and a second rollback goes further back', async () => {
    const { former, runJson: json, pins, accept, serves } = await makePromoted();
    const [first, second] = former;
    expect(summarizeRun(await json(...ROLL_BACK))).toBe(APPLIED);
    expect(pins()[1]).toBe(`production: ${second}`);
    await accept();
    expect(serves('production')).toBe('v2');
    expect(summarizeRun(await json(...ROLL_BACK))).toBe(APPLIED);
    expect(pins()[1]).toBe(`production: ${first}`);
    await accept();
    expect(serves('production')).toBe('v1');
    expect(summarizeRun(await json(...ROLL_BACK))).toBe('exit 3, greeting blocked rollback/nothing-before');
  });

  test('rollback restores an earlier tag unchanged, and skips `latest` and pins to the current text', async () => {
    const { folder, edit, runJson: json, pins } = await makeScene(undefined, `${CONFIG}portable_pins: true\n`);
    git(folder, 'tag', 'v1');
    await edit('One.', 'git:v1');
    const second = await edit('Two.', 'latest');
    await edit('Three.', 'latest');
    await edit('Two.', `git:${second}`);
    await edit('Two.', 'latest');
    expect(summarizeRun(await json(...ROLL_BACK))).toBe(APPLIED);
    expect(pins()[1]).toBe('production: git:v1');
  });

  test('rollback --to writes the commit that introduced the text of the version', async () => {
    const { former, runJson: json, pins } = await makePromoted();
    expect(summarizeRun(await json(...ROLL_BACK, '--to', '1'))).toBe(APPLIED);
    expect(pins()[1]).toBe(`production: ${former[0]}`);
  });

  test('rollback leaves the file alone if somebody changed the environment in the service, because a sync restores it', async () => {
    const { runJson: json, service, read } = await makePromoted();
    await changeService(service.baseUrl, 'greeting', 'production', 'By hand.');
    const before = read();
    expect(summarizeRun(await json(...ROLL_BACK))).toBe(UNCHANGED);
    expect(read()).toBe(before);
  });

  test('rollback in a shallow clone asks for the full history', async () => {
    const { folder, service, edit, head } = await makeScene();
    await edit('Two.', `git:${head()}`);
    await edit('Two.', 'latest');
    const clone = cloneOf(folder);
    const rolledBack = await runJson(clone, ROLL_BACK, { environment: service.environment });
    expect(summarizeRun(rolledBack)).toBe('exit 3, greeting blocked rollback/shallow');
  });
});

describe('pull with portable_pins', () => {
  test('pull takes the text of an environment that follows the file, and leaves every pin alone', async () => {
    const { service, runJson: json, head, edit, pins, read } = await makeScene();
    const first = head();
    await edit('One.', `git:${first}`);
    await changeService(service.baseUrl, 'greeting', 'staging', 'One!');
    expect(summarizeRun(await json('pull'))).toBe(APPLIED);
    expect(pins()).toEqual(['staging: latest', `production: git:${first}`]);
    expect(read()).toContain('\n\nOne!\n');
  });

  test('pull leaves the file alone and exits with 0 if only an environment with a git: pin has changed', async () => {
    const { service, runJson: json, head, edit, read } = await makeScene();
    await edit('One.', `git:${head()}`);
    await changeService(service.baseUrl, 'greeting', 'production', 'By hand.');
    const before = read();
    const pulled = await json('pull');
    expect(summarizeRun(pulled)).toBe(`${UNCHANGED} pull/kept-pin`);
    expect(pulled.report.prompts[0]?.problems[0]).toMatchObject({ line: 5, severity: 'warning' });
    expect(read()).toBe(before);
    expect(summarizeRun(await json('pull', '--environment', 'production'))).toBe(`${UNCHANGED} pull/kept-pin`);
  });

  test('pull ignores environments with git: pins when it decides whether more than one environment has changed', async () => {
    const { service, runJson: json, head, edit, read } = await makeScene();
    await edit('One.', `git:${head()}`);
    await changeService(service.baseUrl, 'greeting', 'production', 'By hand.');
    await changeService(service.baseUrl, 'greeting', 'staging', 'One!');
    expect(summarizeRun(await json('pull'))).toBe(`${APPLIED} pull/kept-pin`);
    expect(read()).toContain('\n\nOne!\n');
  });

  test('pull ignores an edit of a git: pin that is not committed', async () => {
    const { service, runJson: json, write, head, edit } = await makeScene();
    await edit('One.', `git:${head()}`);
    await changeService(service.baseUrl, 'greeting', 'production', 'By hand.');
    write({ text: 'One.', pins: { ...FOLLOWING, production: 'git:HEAD' } });
    expect(summarizeRun(await json('pull'))).toBe(`${UNCHANGED} pull/kept-pin`);
  });
});

describe('validate with portable_pins', () => {
  test('validate reports each pin that names a version, also for other environments, and every command stops there', async () => {
    const config = `${PORTABLE}other_environments: [eu]\n`;
    const { commit, run, runJson: json, service } = await makeScene(undefined, config);
    commit({ text: 'One.', pins: { staging: 1, eu: 'version:ver_1' } });
    service.requests.length = 0;
    const { exitCode, report } = await json('validate');
    expect(exitCode).toBe(1);
    expect(report.problems.map(({ code }) => code)).toEqual(['prompt/not-portable-pin', 'prompt/not-portable-pin']);
    for (const words of [['plan'], ['status'], ['pull'], [...PROMOTE], ['history']]) {
      expect((await run(...words)).exitCode).toBe(1);
    }
    expect(service.requests).toEqual([]);
  });

  test('a file that `promptsync new` created passes `promptsync validate` with portable_pins', async () => {
    const { run } = await makeScene();
    expect((await run('new', 'second')).exitCode).toBe(0);
    expect((await run('validate')).exitCode).toBe(0);
  });
});
