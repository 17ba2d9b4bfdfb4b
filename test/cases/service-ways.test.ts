import { describe, expect, test } from 'vitest';
import {
  answers,
  beginOutsideGit,
  expectSettled,
  isCreate,
  keeps,
  numberedOddly,
  on,
  told,
  type Fault,
} from './support.ts';
import { KEY } from '../support/service.ts';

test.each(['a/b?&', 'ä #1+%2F', '..'])('an environment named %s', async (environment) => {
  const story = await beginOutsideGit({ text: 'A', pins: { [environment]: 'latest' } });
  expect(told(await story.sync())).toBe(`exit 0, applied, create made, ${environment} made`);
  expect([story.serves(environment), story.versions()]).toEqual(['v1 A', 1]);
  story.edit({ text: 'B' });
  await story.sync();
  expect([story.serves(environment), story.versions()]).toEqual(['v2 B', 2]);
  await expectSettled(story);
});

/** What the interface leaves open: each is a service that somebody may run. */
const dialects: readonly [string, Fault][] = [
  ['versions are numbered 100, 110, 120', answers(numberedOddly)],
  [
    'no active version is told by a field that is absent',
    answers((body) => body.replace(/,"active_version":null/, '')),
  ],
  [
    'no active version is told by 404',
    async (request, forward) => {
      const answer = await forward(request);
      return answer.body.includes('"active_version":null') ? { status: 404, body: '{}' } : answer;
    },
  ],
  ['no latest_version_id', answers((body) => body.replace(/"latest_version_id":"[^"]*",/, ''))],
  [
    'no created_at, and fields that nobody knows',
    answers((body) => body.replaceAll(/"created_at":"[^"]*"/g, '"x":{"y":[]}')),
  ],
];

test.each(dialects)('a service of another dialect (%s): A, B, back to A, and A pinned beside C', async (_, dialect) => {
  const story = await beginOutsideGit({ text: 'A' });
  await story.through(dialect);
  const made = 'exit 0, applied, create made, staging made';
  expect(told(await story.sync())).toBe(made);
  story.edit({ text: 'B' });
  expect(told(await story.sync())).toBe(made);
  story.edit({ text: 'A' });
  expect(told(await story.sync())).toBe('exit 0, applied, staging made');
  const { id } = story.active('staging')!;
  story.edit({ text: 'C', pins: { staging: 'latest', production: `version:${id}` } });
  expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made, production made');
  expect([story.serves('staging'), story.serves('production'), story.versions()]).toEqual(['v3 C', 'v1 A', 3]);
  await expectSettled(story);
});

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
];

test('a service that adds or takes line breaks at the end keeps what was sent', async () => {
  const story = await beginOutsideGit({ text: 'A' });
  await story.through(keeps(({ content, ...rest }) => ({ ...rest, content: `${content}\r\n\n` })));
  expect(await story.sync()).toMatchObject({ exitCode: 0 });
  await expectSettled(story);
  expect(story.versions()).toBe(1);
});

describe('a service that keeps another text than was sent', () => {
  test.each(rewriting)('it %s: reported, never live, and made once', async (_, { rewrite, harmless, sent, kept }) => {
    const story = await beginOutsideGit({ text: harmless, pins: { staging: 'latest', production: 'latest' } });
    await story.through(keeps(({ content, ...rest }) => ({ ...rest, content: rewrite(content) })));
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
      `v3 ${kept}`,
      `v3 ${kept}`,
      3,
    ]);
    await expectSettled(story);
  });
});

test('a service that repeats the key in its failures: it is in no output', async () => {
  const story = await beginOutsideGit({ text: 'A' });
  await story.through(on(isCreate, async () => ({ status: 422, body: JSON.stringify({ detail: `the key ${KEY}` }) })));
  const ran = await story.sync('--verbose');
  expect(ran.exitCode).toBe(4);
  expect(ran.stderr).toContain('/versions 422');
  expect(ran.stdout).toContain('the key ');
  expect(ran.stdout + ran.stderr).not.toContain(KEY);
});
