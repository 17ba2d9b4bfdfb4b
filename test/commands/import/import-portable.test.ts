import { describe, expect, test } from 'vitest';
import { git, writeFiles } from '../../support/folder.ts';
import { pinsIn } from '../../support/several-services.ts';
import { makeAdoption, readAt, STAGES, textOf } from './importing.ts';

const PORTABLE = `${STAGES.replace('canary: { promote_from: staging, allow_latest: false }', 'canary: {}')}portable_pins: true\n`;
const GREETING = 'prompts/greeting.md';
const SERVED = {
  greeting: { production: 'One.', canary: 'Two.', staging: 'Two.' },
  refund: { production: 'Refund.', canary: 'Refund?', staging: 'Refund!' },
};

describe('import with portable_pins', () => {
  test('import leaves environments unpinned if their text differs from the file, and lists these environments', async () => {
    const { importAll, read, json, service, folder } = await makeAdoption(SERVED, PORTABLE);
    const { exitCode, report, stderr } = await importAll();
    expect(exitCode).toBe(0);
    expect(pinsIn(read(GREETING))).toEqual(['staging: latest', 'canary: latest']);
    expect(pinsIn(read('prompts/refund.md'))).toEqual(['staging: latest']);
    const listed = report.problems.map(({ code, path, message }) => [
      code,
      path,
      /promptsync left (.*) unpinned in the new file/.exec(message)?.[1],
    ]);
    expect(listed).toEqual([
      ['import/unpinned', GREETING, '"production"'],
      ['import/unpinned', 'prompts/refund.md', '"canary" and "production"'],
    ]);
    expect(stderr).not.toContain('serves no version');
    git(folder, 'add', '--all');
    git(folder, 'commit', '--quiet', '--message', 'Import');
    service.takeWrites();
    expect((await json('validate')).exitCode).toBe(0);
    const plan = await json('plan');
    expect(plan.report.summary).toMatchObject({ set_active: 0, create_version: 0, baselines: 2 });
    expect((await json('sync', '--yes')).exitCode).toBe(0);
    expect((await json('plan', '--exit-code')).exitCode).toBe(0);
  });

  test('import does not pin an environment with `allow_latest: false`, even if it serves the text of the file', async () => {
    const { importAll, read } = await makeAdoption({ greeting: { production: 'One.', staging: 'One.' } }, PORTABLE);
    const { report } = await importAll();
    expect(pinsIn(read(GREETING))).toEqual(['staging: latest']);
    expect(report.problems.map(({ code }) => code)).toEqual(['import/unpinned']);
  });

  test('import --environment pins only the environments with the text of the chosen environment', async () => {
    const { importAll, read } = await makeAdoption({ greeting: { canary: 'One.', staging: 'Two.' } }, PORTABLE);
    const { exitCode, stderr } = await importAll('--environment', 'canary');
    expect(exitCode).toBe(0);
    expect(pinsIn(read(GREETING))).toEqual(['canary: latest']);
    expect(stderr).not.toContain('serves no version');
  });

  test('the intermediate files of import --commit pin only the environments whose text they hold', async () => {
    const { importAll, folder, subjects } = await makeAdoption(SERVED, PORTABLE);
    expect((await importAll('--commit')).exitCode).toBe(0);
    expect(subjects()).toEqual([
      'Import prompts as production serves them',
      'Import prompts as canary serves them',
      'Import 2 prompts',
    ]);
    expect(textOf(readAt(folder, 'HEAD~2', GREETING))).toBe('One.');
    expect(pinsIn(readAt(folder, 'HEAD~2', GREETING))).toEqual([]);
    expect(textOf(readAt(folder, 'HEAD~1', 'prompts/refund.md'))).toBe('Refund?');
    expect(pinsIn(readAt(folder, 'HEAD~1', 'prompts/refund.md'))).toEqual(['canary: latest']);
  });

  test('an environment is in sync after its file pins an intermediate commit with `git:<commit>`', async () => {
    const { importAll, folder, json, read, service } = await makeAdoption(SERVED, PORTABLE);
    await importAll('--commit');
    const served = git(folder, 'rev-parse', 'HEAD~2');
    writeFiles(folder, { [GREETING]: read(GREETING).replace('pins:\n', `pins:\n  production: git:${served}\n`) });
    git(folder, 'commit', '--quiet', '--all', '--message', 'Pin production');
    service.takeWrites();
    const { report } = await json('plan');
    expect(report.summary).toMatchObject({ set_active: 0, blocked: 0 });
  });

  test('pull before the first sync takes an edit cleanly, although intermediate commits hold other texts', async () => {
    const { importAll, json, change, read } = await makeAdoption(SERVED, PORTABLE);
    await importAll('--commit');
    change('greeting', 'staging', 'Two!');
    const { exitCode, report } = await json('pull', 'greeting');
    expect({ exitCode, problems: report.prompts[0]?.problems }).toEqual({ exitCode: 0, problems: [] });
    expect(textOf(read(GREETING))).toBe('Two!');
  });
});
