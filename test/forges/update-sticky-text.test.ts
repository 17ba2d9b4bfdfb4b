import { describe, expect, test } from 'vitest';
import { makeStickySection } from '../../src/forges/make-sticky-section.ts';
import { makeMarker, makeWorkspacePath, upsertStickyText } from '../../src/forges/update-sticky-text.ts';
import { wrapSection } from '../../src/report/formats/comment-sections.ts';

test('The marker of a sticky comment is a single-line HTML comment, one for each folder and configuration', () => {
  const spellings: readonly (readonly (readonly [folder: string, config?: string])[])[] = [
    [['.'], ['./'], [''], ['./.'], ['sub/..']],
    [['sub'], ['./sub'], ['sub/'], ['sub/.'], ['sub//'], ['a/../sub']],
    [
      ['.', 'us.yaml'],
      ['.', './us.yaml'],
    ],
    ...[[['sub/deep']], [['Sub']], [['.', 'a.yaml']], [['sub', 'a.yaml']], [['a.yaml']]],
    [['--> a\n', '--> b\n']],
  ] as const;
  const markers = spellings.map((places) => new Set(places.map(([folder, config]) => makeMarker(folder, config))));
  expect(markers.map(({ size }) => size)).toEqual(spellings.map(() => 1));
  const all = markers.flatMap((one) => [...one]);
  expect(new Set(all).size).toBe(spellings.length);
  for (const marker of all) expect(marker).toMatch(/^<!-- promptsync [0-9a-f]{16} -->$/);
});

test.each<[string, config: string | undefined, string | null]>([
  ['./', undefined, null],
  ['./apps/chat/', '', 'apps/chat'],
  ['apps', './us.yaml', 'apps/us.yaml'],
  ['.', 'apps/promptsync.yaml', 'apps'],
  ['apps', '/etc/us.yaml', '/etc/us.yaml'],
])('makeWorkspacePath returns for the folder %j with the configuration %j the path %j', (folder, config, path) => {
  expect(makeWorkspacePath(folder, config)).toBe(path);
});

describe('two jobs that replace their sections of one comment', () => {
  const MARKER = makeMarker('.');
  const limit = { most: 10_000, measure: (text: string) => text.length };
  const sectionOf = (environment: string) =>
    makeStickySection({
      ...{ marker: MARKER, environments: [environment], promotionOrder: [], limit },
      render: () => wrapSection([environment], `\n#### ${environment}: applied\n`),
    });

  /** Publishes a section. `afterWrite` runs after each write, with the number of writes so far. */
  async function publish(comment: { body: string }, environment: string, afterWrite: (writes: number) => void) {
    const { makeBody, isComplete } = sectionOf(environment);
    let writes = 0;
    await upsertStickyText<{ readonly body: string }, number>({
      find: async () => [{ ...comment }],
      mustWrite: () => true,
      isComplete: ({ body }) => isComplete(body),
      update: async ({ body }) => {
        comment.body = makeBody(body);
        writes += 1;
        afterWrite(writes);
        return writes;
      },
      create: async () => expect.unreachable(),
      retire: async () => {},
      mayHaveWorked: () => false,
    });
    return writes;
  }

  test('A job writes its section again if the write of another job undid it', async () => {
    const comment = { body: MARKER };
    const stale = sectionOf('production').makeBody(comment.body);
    const writes = await publish(comment, 'staging', (count) => {
      if (count === 1) comment.body = stale;
    });
    expect(writes).toBe(2);
    expect(comment.body).toContain('#### staging: applied');
    expect(comment.body).toContain('#### production: applied');
  });

  test('A job stops after three writes if each of them is undone', async () => {
    const comment = { body: MARKER };
    expect(await publish(comment, 'staging', () => (comment.body = MARKER))).toBe(3);
  });

  test('A job that finds its section in the comment writes once', async () => {
    expect(await publish({ body: MARKER }, 'staging', () => {})).toBe(1);
  });
});

test('A section gets the room that the rest of the comment leaves', () => {
  const rooms: number[] = [];
  const { makeBody } = makeStickySection({
    marker: '<!-- a -->',
    environments: ['staging'],
    promotionOrder: [],
    limit: { most: 60_000, measure: (text) => text.length },
    render: ({ most }) => {
      rooms.push(most);
      return wrapSection(['staging'], '\n#### staging: applied\n');
    },
  });
  makeBody('x'.repeat(50_000));
  makeBody('x'.repeat(59_999));
  const [roomy = 0, full] = rooms;
  expect(roomy).toBeGreaterThan(9_900);
  expect(full).toBe(4_500);
});
