import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, makeRepository, makeWorkspace } from '../support/folder.ts';
import { type PromptParts, workspaceFiles } from '../support/prompts.ts';
import { makePromotionScene, PROMOTION, type Scene } from '../support/promotion.ts';
import { run } from '../support/run.ts';
import { changeOutside } from '../commands/pull/pulling.ts';

/** Creates prompts with versions that promptsync did not create, and imports them. Does not commit the new files. */
async function importPrompts(count: number, options?: { readonly columns: number }): Promise<Scene> {
  const ids = Array.from({ length: count }, (_, index) => `p${String(index + 1).padStart(2, '0')}`);
  const scene = await makePromotionScene(
    {},
    {
      others: Object.fromEntries(ids.map((id) => [id, {}])),
      makeFolder: () => makeRepository({ 'promptsync.yaml': PROMOTION }),
      ...(options && { options: { terminal: true, environment: { NO_COLOR: '1' }, ...options } }),
    },
  );
  for (const id of ids) changeOutside(scene, { id, content: 'One.', environments: ['staging', 'production'] });
  expect(await scene.run('import', ...ids.map((id) => `prm_${id}`))).toMatchObject({ exitCode: 0 });
  return scene;
}

const countLines = (text: string): number => text.trimEnd().split('\n').length;
const KEYS = ['p01', 'p02', 'p03', 'p04', 'p05'];
const OUTCOME = 'Plan: 5 baselines (nothing that is served changes).';

test('plan reports a missing database of the embedded service only when a file pins a version', async () => {
  const config = 'service: { embedded: db/service.db }\n';
  const planWith = async (pins: NonNullable<PromptParts['pins']>) =>
    (await run(makeWorkspace(workspaceFiles({ greeting: { pins } }, config)), ['plan'])).stderr;
  const notice = `The database ${join('db', 'service.db')} does not exist`;
  expect(await planWith({ staging: 1 })).toContain(notice);
  expect(await planWith({ staging: 'latest' })).not.toContain(notice);
});

describe('the first plan after an import', () => {
  test('The first plan after an import of 40 prompts fits on a terminal with 80 columns and 24 rows', async () => {
    const { stdout, stderr } = await (await importPrompts(40, { columns: 80 })).run('plan');
    expect(stdout).toContain('p09, p10, and 30 more\n');
    expect(stdout).toContain('Plan: 40 baselines (nothing that is served changes).\n');
    expect(countLines(stdout) + countLines(stderr)).toBeLessThan(20);
  });

  test('plan lists all baselines on one line if there are more than three', async () => {
    const scene = await importPrompts(5);
    const { stdout } = await scene.run('plan');
    expect(stdout).toBe(
      `+ 5 baselines (versions for promptsync's records): ${KEYS.join(', ')}\n\n${OUTCOME}\n${originOf(scene, stdout)}`,
    );
    const page = await scene.run('plan', '--format', 'markdown');
    const names = KEYS.map((key) => `\`${key}\``).join(', ');
    expect(page.stdout).toContain(`${OUTCOME}\n\n5 baselines (versions for promptsync's records): ${names}\n\n`);
    expect(page.stdout).not.toContain('What would change');
  });

  test('plan shows each baseline on its own line, like other changes, if there are at most three', async () => {
    const { stdout } = await (await importPrompts(3)).run('plan');
    expect(stdout.match(/^ {2}\+ baseline: .*$/gm)).toHaveLength(3);
    expect(stdout).toContain('Plan: 3 baselines (nothing that is served changes).');
  });

  test('plan counts baselines separately from other new versions', async () => {
    const scene = await importPrompts(5);
    commitAll(scene.folder, 'Import');
    scene.write({ text: 'Two.' }, 'p05');
    const { report } = await scene.runJson('plan');
    expect(report.summary).toMatchObject({ prompts: 5, create_version: 1, baselines: 4, set_active: 1 });
    const { stdout } = await scene.run('plan');
    expect(stdout).toContain("+ 4 baselines (versions for promptsync's records): p01, p02, p03, p04\n");
    expect(stdout).toContain('\nPlan: 1 of 5 prompts changes (1 new version, 1 activation). 4 baselines.\n');
  });

  test('sync lists on one line all the baselines that it created', async () => {
    const scene = await importPrompts(5);
    commitAll(scene.folder, 'Import');
    const { stdout } = await scene.run('sync', '--yes');
    expect(stdout).toContain(
      `+ created 5 baselines: ${KEYS.join(', ')}\n\nApplied: 5 baselines (nothing that is served changed).\n`,
    );
  });

  test('plan shows a blocked baseline together with its problem, not in the list of baselines', async () => {
    const scene = await importPrompts(5);
    commitAll(scene.folder, 'Import');
    scene.write({ text: 'One.', pins: { staging: 99 } }, 'p01');
    const { stdout, exitCode } = await scene.run('plan');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('p01  prompts/p01.md  blocked\n');
    expect(stdout).toContain('+ 4 baselines');
  });
});

/** Returns the last line of a text report, and expects it to name the service, the commit and the plan digest. */
function originOf({ service }: Scene, stdout: string): string {
  const [line = ''] = stdout.split('\n').slice(-2);
  expect(line).toMatch(/ · commit [0-9a-f]{12} · plan sha256:[0-9a-f]{12}$/);
  expect(line.startsWith(service.baseUrl)).toBe(true);
  return `${line}\n`;
}

describe('many warnings of one kind', () => {
  const files = KEYS.map((key) => `prompts/${key}.md`);
  const moreFiles = ['06', '07', '08', '09', '10', '11', '12'].map((number) => `prompts/p${number}.md`);

  test('plan prints a single warning that lists all files if many files are uncommitted', async () => {
    const { stderr } = await (await importPrompts(12)).run('plan');
    expect(stderr).toBe(
      [
        'warning: The prompt file has uncommitted changes, so a sync would reject the file. [git/uncommitted]',
        ...[...files, ...moreFiles].map((file) => `  ${file}`),
        '  Commit the changes before you sync, or use `--allow-dirty`.',
        '',
      ].join('\n'),
    );
  });

  test('On a terminal, plan lists only the first ten of twelve uncommitted files', async () => {
    const { stderr } = await (await importPrompts(12, { columns: 200 })).run('plan');
    expect(stderr).toContain('\n  prompts/p10.md\n  … and 2 more\n');
  });

  test.each([
    ['markdown', /^ {2}prompts\/p\d\d\.md$/gm],
    ['html', /<br><code>prompts\/p\d\d\.md<\/code>/g],
  ])('plan --format %s shows a single warning that lists all twelve uncommitted files', async (format, line) => {
    const { stdout } = await (await importPrompts(12)).run('plan', '--format', format);
    expect(stdout.split('has uncommitted changes')).toHaveLength(2);
    expect(stdout.match(line)).toHaveLength(12);
  });

  test('The JSON report of a plan contains a separate problem for each uncommitted file', async () => {
    const { report } = await (await importPrompts(5)).runJson('plan');
    expect(report.problems.map(({ code, path }) => `${code} ${path}`)).toEqual(
      files.map((path) => `git/uncommitted ${path}`),
    );
  });
});
