import { expect, test } from 'vitest';
import { describeInBrowser, openPage } from '../../support/browser.ts';
import { writeFiles } from '../../support/folder.ts';
import { startFront } from '../../support/front.ts';
import { begin, type Scene } from '../../support/promotion.ts';
import { run } from '../../support/run.ts';

const PINS = { staging: 'latest', production: 1 } as const;

/** The prompt `greeting` with two versions, the second in staging, and a new text in its file. */
async function beginEdited(): Promise<Scene> {
  const scene = await begin({ text: 'One.', pins: PINS });
  scene.make(['One.', 'Two.']);
  scene.activate('staging', 2);
  scene.activate('production', 1);
  scene.commit({ text: 'Three.', pins: PINS });
  return scene;
}

async function open(html: string) {
  const { page } = await openPage(html);
  return {
    page,
    heading: await page.locator('h1').innerText(),
    outcome: await page.locator('.outcome').innerText(),
    cells: await page.locator('.prompt .cell').allTextContents(),
    status: await page.locator('.prompt .status').allTextContents(),
  };
}

describeInBrowser('The page of', () => {
  test('plan has what changes and what stays', async () => {
    const { stdout } = await (await beginEdited()).run('plan', '--format', 'html');
    const { page, ...shown } = await open(stdout);
    expect(shown).toEqual({
      heading: 'promptsync plan',
      outcome: 'Plan: 1 to create, 1 to activate.',
      cells: ['staging v2 → new version', 'production v1'],
      status: ['changes +1 −1'],
    });
    expect(await page.locator('.text del').innerText()).toContain('Two.');
    expect(await page.locator('.text ins').innerText()).toContain('Three.');
  });

  test('sync has what was done', async () => {
    const { stdout } = await (await beginEdited()).run('sync', '--yes', '--format', 'html');
    const { page, ...shown } = await open(stdout);
    expect(shown).toEqual({
      heading: 'promptsync sync',
      outcome: 'Applied: 1 created, 1 activated.',
      cells: ['staging v2 → v3', 'production v1'],
      status: ['applied +1 −1'],
    });
    expect(await page.getByText('serves version 7 since this run').isVisible()).toBe(true);
  });

  test('a sync that failed has what was not done', async () => {
    const scene = await beginEdited();
    const front = await startFront({
      target: scene.service.baseUrl,
      answer: ({ path, method }) =>
        method !== 'GET' && path.endsWith('/set-active') ? { status: 403, body: '{}' } : null,
    });
    const environment = { ...scene.service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
    const { stdout, exitCode } = await run(scene.folder, ['sync', '--yes', '--format', 'html'], { environment });
    const { page, cells, status } = await open(stdout);
    expect({ exitCode, cells, status }).toEqual({
      exitCode: 4,
      cells: ['staging v2 → v3 (not made)', 'production v1'],
      status: ['failed +1 −1'],
    });
    expect(await page.locator('.problems .error').first().isVisible()).toBe(true);
  });

  test('status has what is active', async () => {
    const { stdout } = await (await beginEdited()).run('status', '--format', 'html');
    const { heading, cells } = await open(stdout);
    expect({ heading, cells }).toEqual({
      heading: 'promptsync status',
      cells: ['staging v2 → new version', 'production v1'],
    });
  });

  test('history has the versions, and says where the service is not as pinned', async () => {
    const { stdout } = await (await beginEdited()).run('history', 'greeting', '--format', 'html');
    const { page, heading, cells, status } = await open(stdout);
    expect({ heading, cells, status }).toEqual({
      heading: 'promptsync history',
      cells: ['staging v2 not as pinned', 'production v1'],
      status: ['not as pinned'],
    });
    expect(await page.getByRole('columnheader', { name: 'version' }).first().isVisible()).toBe(true);
  });

  test('history is open also where all is as pinned', async () => {
    const scene = await beginEdited();
    await scene.run('sync', '--yes');
    const { stdout } = await scene.run('history', 'greeting', '--format', 'html');
    const { page, status } = await open(stdout);
    expect(status).toEqual(['as pinned']);
    expect(await page.getByRole('columnheader', { name: 'version' }).first().isVisible()).toBe(true);
  });

  test('validate has every prompt, and none failed', async () => {
    const { stdout } = await (await beginEdited()).run('validate', '--format', 'html');
    const { page, outcome, status } = await open(stdout);
    expect({ outcome, status }).toEqual({ outcome: '1 prompt valid.', status: ['checked'] });
    expect(await page.locator('[name=show]').count()).toBe(0);
  });

  test('validate with errors has each with its place', async () => {
    const scene = await beginEdited();
    writeFiles(scene.folder, { 'prompts/greeting.md': '---\nid: prm_greeting\nnope: 1\n---\n\nText.\n' });
    const { stdout, exitCode } = await scene.run('validate', '--format', 'html');
    const { page, outcome } = await open(stdout);
    expect({ exitCode, outcome }).toEqual({
      exitCode: 1,
      outcome: expect.stringMatching(/^\d errors\.$/),
    });
    expect(await page.locator('.problems').innerText()).toContain('prompts/greeting.md:3:1');
  });

  test('promote --dry-run has what becomes of the pins', async () => {
    const scene = await beginEdited();
    const { stdout } = await scene.run('promote', 'greeting', '--to', 'production', '--dry-run', '--format', 'html');
    const { heading, cells, outcome } = await open(stdout);
    expect({ heading, cells, outcome }).toEqual({
      heading: 'promptsync promote',
      cells: ['production 1 → 2'],
      outcome: '1 file to edit.',
    });
  });
});
