import { describe, expect, test } from 'vitest';
import { keeps } from './faults.ts';
import { beginOutsideGit, expectSettled, told, type Story } from './support.ts';

type Rewriting = {
  readonly rewrite: (content: string) => string;
  /** A text that it keeps as it is, one that it does not, and what becomes of that. */
  readonly harmless: string;
  readonly sent: string;
  readonly kept: string;
};

const rewriting: readonly [string, Rewriting][] = [
  ['trims', { rewrite: (content) => content.trim(), harmless: 'A', sent: 'Hello.  ', kept: 'Hello.' }],
  [
    'normalises to NFC',
    { rewrite: (content) => content.normalize('NFC'), harmless: 'A', sent: 'Cafe\u0301', kept: 'Caf\u00e9' },
  ],
  [
    'adds a line feed',
    { rewrite: (content) => content.replace(/\n?$/, '\n'), harmless: 'A\n', sent: 'Hello.', kept: 'Hello.\n' },
  ],
];

const rewritten = (rewrite: (content: string) => string) =>
  keeps(({ content, ...rest }) => ({ ...rest, content: rewrite(content) }));

describe('a service that keeps another text than was sent', () => {
  test.each(rewriting)('it %s: reported, never live, and made once', async (_, { rewrite, harmless, sent, kept }) => {
    const story = await beginOutsideGit({ text: harmless, pins: { staging: 'latest', production: 'latest' } });
    await story.through(rewritten(rewrite));
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    const before = `v1 ${harmless}`;

    story.edit({ text: sent });
    for (const _ of ['first', 'second', 'third']) {
      const ran = await story.sync();
      expect(ran.exitCode).toBe(4);
      expect(ran.report.prompts).toMatchObject([{ status: 'failed', problems: [{ code: 'apply/rewritten' }] }]);
      expect([story.serves('staging'), story.serves('production'), story.versions()]).toEqual([before, before, 2]);
    }

    story.edit({ text: kept });
    expect(await story.sync()).toMatchObject({ exitCode: 0 });
    expect([story.serves('staging'), story.serves('production'), story.versions()]).toEqual([
      `v2 ${kept}`,
      `v2 ${kept}`,
      2,
    ]);
    await expectSettled(story);
  });

  test.each<[string, (story: Story) => void]>([
    ['its number is pinned', ({ edit }) => edit({ pins: { staging: 'latest', production: 1 } })],
    ['somebody makes it active', ({ activate, newest }) => activate('staging', newest())],
  ])('and then %s: still no second version', async (_, then) => {
    const story = await beginOutsideGit({ text: 'Hello.  ' });
    await story.through(rewritten((content) => content.trim()));
    await story.sync();
    then(story);
    for (const _ of ['first', 'second']) {
      const ran = await story.sync();
      expect(ran.exitCode).toBe(4);
      expect(ran.report.prompts[0]!.problems.map(({ code }) => code)).toContain('apply/rewritten');
      expect(story.versions()).toBe(1);
    }
  });
});

describe('a service that drops metadata_ altogether', () => {
  const dropped = () => keeps(({ metadata_: _, ...rest }) => rest);
  const withoutWarning = (line: string) => line.replaceAll(', service/drops-metadata', '');

  test('a lost answer to create-version: the text tells it', async () => {
    const story = await beginOutsideGit({ text: 'A' });
    const drop = dropped();
    await story.through(async (request, forward) => {
      const answer = await drop(request, forward);
      if (answer !== null) throw new Error('cut');
      return null;
    });
    expect(withoutWarning(told(await story.sync()))).toBe('exit 0, applied, create adopted, staging made');
    expect([story.serves('staging'), story.versions()]).toEqual(['v1 A', 1]);
  });
});
