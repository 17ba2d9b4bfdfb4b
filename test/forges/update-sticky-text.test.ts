import { describe, expect, test } from 'vitest';
import { makeStickySection } from '../../src/forges/make-sticky-section.ts';
import { makeMarker, makeWorkspacePath, upsertStickyText } from '../../src/forges/update-sticky-text.ts';
import { wrapSection } from '../../src/report/formats/comment-sections.ts';

describe('makeMarker', () => {
  test('the marker of a sticky comment is a single-line HTML comment', () => {
    expect(makeMarker('.')).toMatch(/^<!-- promptsync [0-9a-f]{16} -->$/);
    expect(makeMarker('--> a\n', '--> b\n')).toMatch(/^<!-- promptsync [0-9a-f]{16} -->$/);
  });

  test.each<[string, readonly string[]]>([
    ['all spellings of the root folder path produce the same sticky comment marker', ['.', './', '', './.', 'sub/..']],
    [
      'all spellings of a subfolder path produce the same sticky comment marker',
      ['sub', './sub', 'sub/', 'sub/.', 'sub//', 'a/../sub'],
    ],
  ])('%s', (_, folders) => {
    expect(new Set(folders.map((folder) => makeMarker(folder))).size).toBe(1);
  });

  test('all spellings of the path of a configuration produce the same sticky comment marker', () => {
    expect(makeMarker('.', './us.yaml')).toBe(makeMarker('.', 'us.yaml'));
  });

  test('each combination of folder and configuration produces a different sticky comment marker', () => {
    const places = [
      ['.'],
      ['sub'],
      ['sub/deep'],
      ['Sub'],
      ['.', 'a.yaml'],
      ['.', 'b.yaml'],
      ['sub', 'a.yaml'],
      ['a.yaml'],
    ];
    expect(new Set(places.map(([folder = '', config]) => makeMarker(folder, config))).size).toBe(places.length);
  });
});

describe('makeWorkspacePath', () => {
  test.each<[string, string, string | undefined, string | null]>([
    ['the path of a workspace in the repository root is null', './', undefined, null],
    ['the path of a workspace in a subfolder is the folder', './apps/chat/', '', 'apps/chat'],
    [
      'the path of a workspace with another configuration is the path of that file',
      'apps',
      './us.yaml',
      'apps/us.yaml',
    ],
    ['the path of a workspace omits a configuration with the usual name', '.', 'apps/promptsync.yaml', 'apps'],
    [
      'the path of a workspace is absolute if the path of the configuration is absolute',
      'apps',
      '/etc/us.yaml',
      '/etc/us.yaml',
    ],
  ])('%s', (_, folder, config, path) => {
    expect(makeWorkspacePath(folder, config)).toBe(path);
  });
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
    const write = (posted: string | null): void => {
      comment.body = makeBody(posted);
      writes += 1;
      afterWrite(writes);
    };
    await upsertStickyText<{ readonly body: string }, true>({
      find: async () => [{ ...comment }],
      mustWrite: () => true,
      isComplete: ({ body }) => isComplete(body),
      update: async ({ body }) => {
        write(body);
        return true;
      },
      create: async () => {
        write(null);
        return true;
      },
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

describe('makeStickySection', () => {
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
});
