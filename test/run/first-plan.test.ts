import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commitAll, makeRepository, makeWorkspace } from '../support/folder.ts';
import { type PromptParts, workspaceFiles } from '../support/prompts.ts';
import { makePromotionScene, PROMOTION } from '../support/promotion.ts';
import { run } from '../support/run.ts';
import { changeOutside } from '../commands/pull/pulling.ts';

const KEYS = Array.from({ length: 12 }, (_, index) => `p${String(index + 1).padStart(2, '0')}`);
const FILES = KEYS.map((key) => `prompts/${key}.md`);

/** Creates twelve prompts with versions that promptsync did not create, and imports them. Does not commit the files. */
async function importPrompts() {
  const scene = await makePromotionScene(
    {},
    {
      others: Object.fromEntries(KEYS.map((id) => [id, {}])),
      makeFolder: () => makeRepository({ 'promptsync.yaml': PROMOTION }),
    },
  );
  for (const id of KEYS) changeOutside(scene, { id, content: 'One.', environments: ['staging', 'production'] });
  expect(await scene.run('import', ...KEYS.map((id) => `prm_${id}`))).toMatchObject({ exitCode: 0 });
  return scene;
}

const countLines = (text: string): number => text.trimEnd().split('\n').length;

test('plan reports a missing database of the embedded service only when a file pins a version', async () => {
  const config = 'service: { embedded: db/service.db }\n';
  const planWith = async (pins: NonNullable<PromptParts['pins']>) =>
    (await run(makeWorkspace(workspaceFiles({ greeting: { pins } }, config)), ['plan'])).stderr;
  const notice = `The database ${join('db', 'service.db')} does not exist`;
  expect(await planWith({ staging: 1 })).toContain(notice);
  expect(await planWith({ staging: 'latest' })).not.toContain(notice);
});

test('The first plan after an import lists all baselines on one line, and all uncommitted files in one warning', async () => {
  const { folder, service, run: cli } = await importPrompts();
  const outcome = 'Plan: 12 baselines (nothing that is served changes).';
  const { stdout, stderr } = await cli('plan');
  const [origin = ''] = stdout.split('\n').slice(-2);
  expect(origin).toMatch(/ · commit [0-9a-f]{12} · plan sha256:[0-9a-f]{12}$/);
  expect(origin.startsWith(service.baseUrl)).toBe(true);
  expect(stdout).toBe(
    `+ 12 baselines (versions for promptsync's records): ${KEYS.join(', ')}\n\n${outcome}\n${origin}\n`,
  );
  expect(stderr).toBe(
    [
      'warning: The prompt file has uncommitted changes, so a sync would reject the file. [git/uncommitted]',
      ...FILES.map((file) => `  ${file}`),
      '  Commit the changes before you sync, or use `--allow-dirty`.',
      '',
    ].join('\n'),
  );
  expect(await cli('plan', '--allow-dirty')).toMatchObject({ stderr: '' });

  const environment = { ...service.environment, NO_COLOR: '1' };
  const narrow = await run(folder, ['plan'], { environment, terminal: true, columns: 80 });
  expect(narrow.stdout).toContain('p09, p10, and 2 more\n');
  expect(narrow.stderr).toContain('\n  prompts/p10.md\n  … and 2 more\n');
  expect(countLines(narrow.stdout) + countLines(narrow.stderr)).toBeLessThan(20);

  const page = (await cli('plan', '--format', 'markdown')).stdout;
  const names = KEYS.map((key) => `\`${key}\``).join(', ');
  expect(page).toContain(`${outcome}\n\n12 baselines (versions for promptsync's records): ${names}\n\n`);
  expect(page).not.toContain('What would change');
  expect(page.split('has uncommitted changes')).toHaveLength(2);
  expect(page.match(/^ {2}prompts\/p\d\d\.md$/gm)).toHaveLength(12);
});

test('plan and sync report baselines separately from other changes and from problems', async () => {
  const { folder, run: cli, runJson: json, write } = await importPrompts();
  commitAll(folder, 'Import');
  const few = await cli('plan', 'p01', 'p02', 'p03');
  expect(few.stdout.match(/^ {2}\+ baseline: .*$/gm)).toHaveLength(3);
  expect(few.stdout).toContain('Plan: 3 baselines (nothing that is served changes).');
  write({ text: 'Two.' }, 'p12');
  const { report } = await json('plan');
  expect(report.summary).toMatchObject({ prompts: 12, create_version: 1, baselines: 11, set_active: 1 });
  const { stdout } = await cli('plan');
  expect(stdout).toContain(`+ 11 baselines (versions for promptsync's records): ${KEYS.slice(0, -1).join(', ')}\n`);
  expect(stdout).toContain('\nPlan: 1 of 12 prompts changes (1 new version, 1 activation). 11 baselines.\n');
  write({ text: 'One.', pins: { staging: 99 } }, 'p12');
  const blocked = await cli('plan');
  expect(blocked.exitCode).toBe(3);
  expect(blocked.stdout).toContain('p12  prompts/p12.md  blocked\n');
  expect(blocked.stdout).toContain('+ 11 baselines');
  const synced = await cli('sync', '--yes', ...KEYS.slice(0, 5));
  expect(synced.stdout).toContain(
    '+ created 5 baselines: p01, p02, p03, p04, p05\n\nApplied: 5 baselines (nothing that is served changed).\n',
  );
});
