import { describe, expect, test } from 'vitest';
import { commitAll, makeRepository, writeFiles } from '../../support/folder.ts';
import { expectInert } from '../../support/markdown.ts';
import { promptText, workspaceFiles, type PromptParts } from '../../support/prompts.ts';
import { run, runJson } from '../../support/run.ts';
import { changeService, startTestService } from '../../support/service.ts';

const CONFIG = 'prompts: ["prompts/**/*.md"]\nenvironments:\n  dev: {}\n  staging: {}\n  production: {}\n';

type Prompts = Readonly<Record<string, PromptParts>>;

/** Makes a repository with synced prompts and a commit that edits them. `render` plans that commit as Markdown. */
async function makeReview(before: Prompts, after: Prompts) {
  const folder = makeRepository(workspaceFiles(before, CONFIG));
  const service = await startTestService(Object.keys(before));
  await run(folder, ['sync', '--yes'], service);
  const edits = Object.entries(after).map(([id, parts]) => [`prompts/${id}.md`, promptText(id, parts)]);
  writeFiles(folder, Object.fromEntries(edits));
  commitAll(folder, 'Shorten the time for returns');
  const plan = ['plan', '--base', 'HEAD~1'];
  return {
    service,
    render: async () => {
      const { stdout } = await run(folder, [...plan, '--format', 'markdown'], service);
      expectInert(stdout);
      return stdout;
    },
    readReport: async () => (await runJson(folder, plan, service)).report,
  };
}

/** Returns the section of the page that has this heading. */
function findSection(page: string, heading: string): string {
  return page.split(/^#### /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
}

function listHeadings(page: string): readonly string[] {
  return [...page.matchAll(/^#### (.*)$/gm)].map(([, title = '']) => title);
}

const RULES = [
  'Customers can return goods within 30 days of delivery, if the goods are unused and complete.',
  'Ask for the order number before anything else.',
  'Refunds are paid to the original payment method within five working days.',
  'Never offer vouchers instead of a refund.',
  'Apologize once if the goods arrived damaged.',
  'Forward questions about warranty law to the legal team.',
];
const PARAGRAPH = RULES.join(' ');

describe('the Markdown report of a plan', () => {
  test('In the diff of a long paragraph, a Markdown report marks only the changed sentence', async () => {
    const pins = { staging: 'latest' };
    const { render } = await makeReview(
      { refund: { pins, text: PARAGRAPH } },
      { refund: { pins, text: PARAGRAPH.replace('five', 'seven') } },
    );
    const page = await render();
    const section = findSection(page, 'staging: 1 prompt');
    expect(section.split('```')[1]?.split('\n')).toEqual([
      'diff',
      '…',
      '   and complete.',
      `   ${RULES[1]}`,
      '-  Refunds are paid to the original payment method within five working days.',
      '+  Refunds are paid to the original payment method within seven working days.',
      `   ${RULES[3]}`,
      `   ${RULES[4]}`,
      '…',
      '',
    ]);
  });

  test('A Markdown report has a section for each environment and begins with the last environment in promotion order', async () => {
    const { render, readReport } = await makeReview(
      {
        a: { pins: { production: 'latest' } },
        b: { pins: { dev: 'latest', staging: 'latest' } },
        c: { pins: { staging: 'latest' } },
      },
      {
        a: { pins: { production: 'latest' }, text: 'A two.' },
        b: { pins: { dev: 'latest', staging: 'latest' }, text: 'B two.' },
        c: { pins: { staging: 'latest' }, name: 'New name', text: 'C two.' },
      },
    );
    const page = await render();
    expect(listHeadings(page)).toEqual([
      'production: 1 prompt',
      'staging: 2 prompts',
      'dev: 1 prompt',
      'Other changes',
    ]);
    expect(findSection(page, 'dev: 1 prompt')).toContain(
      '| `b` | `dev`: `v1` → new version (same text change as in `staging`) |',
    );
    expect(page.split('B two.')).toHaveLength(2);
    expect(await readReport()).toMatchObject({ promotion_order: ['dev', 'staging', 'production'] });
  });

  test('A Markdown report lists added variables under "Breaking" and removed variables under "No longer used"', async () => {
    const pins = { staging: 'latest' };
    const { render } = await makeReview(
      { greeting: { pins, text: 'Greet {{name}}.' } },
      { greeting: { pins, text: 'Greet {{title}}.' } },
    );
    const page = await render();
    const breaking = findSection(page, 'Breaking');
    expect(breaking).toContain('`{{title}}` is added. Callers must supply it.');
    expect(breaking).not.toContain('{{name}}');
    expect(findSection(page, 'No longer used')).toContain(
      '`{{name}}` is removed. Callers no longer need to supply it.',
    );
  });

  test('A Markdown report has a separate section for changes that would overwrite edits in the service', async () => {
    const pins = { production: 'latest' };
    const { render, service } = await makeReview(
      { greeting: { pins, text: 'Greet.' }, farewell: { pins, text: 'Bye.' } },
      { farewell: { pins, text: 'Goodbye.' } },
    );
    await changeService(service.baseUrl, 'greeting', 'production', 'Greet warmly.');
    const page = await render();
    expect(listHeadings(page)).toEqual([
      'production: 1 prompt',
      'Other changes',
      'Overwrites changes made in the service',
    ]);
    const production = findSection(page, 'production: 1 prompt');
    expect(production).toContain('\n+Goodbye.\n');
    expect(production).not.toContain('greeting');
    const overwritten = findSection(page, 'Overwrites changes made in the service');
    expect(overwritten).toContain('- `greeting`: `production` serves `v2`, but');
    expect(overwritten).toContain('\n-Greet warmly.\n+Greet.\n');
    expect(overwritten).not.toContain('farewell');
  });
});
