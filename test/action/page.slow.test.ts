import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { promptText } from '../support/prompts.ts';
import { KEY } from '../support/service.ts';
import { makeTeam } from './team.ts';

test('A review, an apply and a broken file leave a page that a later step can keep as an artifact', async () => {
  const { push, pushMain, openPull, runPull, runPush } = await makeTeam({ greeting: { text: 'Hi.' }, tax: {} });
  const pageOf = (ran: { readonly outputs: Readonly<Record<string, string>> }) => {
    const page = readFileSync(ran.outputs['report-html'] ?? '', 'utf8');
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).not.toContain(KEY);
    return page;
  };

  const applied = pageOf(await runPush(pushMain({})));
  expect(applied).toContain('<h1>promptsync sync</h1>');
  expect(applied).toMatch(/Applied: 2 created/);

  push('change', { 'prompts/greeting.md': promptText('greeting', { text: `Hi ${KEY} there.` }) });
  const review = pageOf(await runPull(openPull('change')));
  expect(review).toContain('<h1>promptsync plan</h1>');
  expect(review).toMatch(/id="prompt:greeting" class="prompt pending review changed"/);
  // The one that stays as it is has its versions in the matrix as well.
  expect(review).toMatch(/id="prompt:tax" class="prompt unchanged".*<i>staging <\/i>v1/);

  push('broken', { 'prompts/greeting.md': 'no front matter' });
  expect(pageOf(await runPull(openPull('broken')))).toContain('prompt/no-front-matter');
});
