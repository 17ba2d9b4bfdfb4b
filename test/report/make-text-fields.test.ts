import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/domain/json.ts';
import { makeTextFields, omitLargeTexts } from '../../src/report/make-text-fields.ts';
import { promptOf, ref, setActive } from './support.ts';

describe('makeTextFields', () => {
  const side = (text: string, metadata?: JsonValue) => ({ type: 'text' as const, text, metadata });

  test('A report sorts metadata keys', () => {
    const [before, after] = [side('old', { z: 1, m: 'x' }), side('new', { m: ['y'], 'a\nb': 1 })];
    const after_metadata = '"a\\nb": 1\nm: ["y"]';
    expect(makeTextFields({ before, after })).toMatchObject({ before_metadata: 'm: "x"\nz: 1', after_metadata });
    expect(makeTextFields({ before: null, after })).toMatchObject({ after_metadata });
  });

  test.each([
    ['A report shows no metadata if the text before is unknown', 'unknown' as const, side('a', { a: 1 })],
    ['A report shows no metadata if one side does not manage metadata', side('a', { a: 1 }), side('b')],
    ['A report shows no metadata if the metadata of both sides is empty', side('a', {}), side('b', {})],
  ])('%s', (_, before, after) => {
    expect(JSON.stringify(makeTextFields({ before, after }))).not.toContain('_metadata');
  });
});

describe('omitLargeTexts', () => {
  const MEGABYTE = 'é'.repeat(500_000);
  const to = (text: string) => setActive({ before: ref(1), before_text: '', after_text: text });
  const omitted = { after_text: null, text_omitted: true };

  test('A report omits the text of the change that would make the total exceed 32 MB, and of all later changes', () => {
    const changes = [...Array.from({ length: 31 }, () => to(MEGABYTE)), to('y'.repeat(999_990)), to(MEGABYTE), to('z')];
    const [prompt, last] = omitLargeTexts([promptOf({ changes }), promptOf({ changes: [to('a'), setActive({})] })]);
    expect(prompt?.changes.slice(0, 32)).toEqual(changes.slice(0, 32));
    expect(prompt?.changes.slice(32)).toMatchObject([omitted, omitted]);
    expect(last?.changes).toMatchObject([{ ...omitted, before_text: '' }, setActive({})]);
  });

  test('A report that omits a text over 1 MB on one side of a change shows the text on the other side, but no metadata', () => {
    const metadata = { before_metadata: 'a: 1', after_metadata: 'a: 2' };
    const change = { ...to(`${MEGABYTE}x`), before_text: 'before', ...metadata };
    const [prompt] = omitLargeTexts([promptOf({ changes: [change] })]);
    expect(prompt?.changes).toMatchObject([{ before_text: 'before', ...omitted }]);
    expect(JSON.stringify(prompt)).not.toContain('_metadata');
  });

  test('A report omits text over 1 MB from edits, and omits metadata over 1 MB that a new version keeps', () => {
    const { kind: _, environment, ...serves } = to(`${MEGABYTE}x`);
    const pin = { kind: 'set-pin', environment, before: '1', after: '2', serves } as const;
    const text = { kind: 'set-text', from: 'v2', conflicts: 0, texts: { ...serves, environment } } as const;
    const version = { kind: 'create-version', digest: 'sha256:0', change_summary: null } as const;
    const changes = [{ ...version, kept_metadata: `${MEGABYTE}x` }];
    expect(omitLargeTexts([promptOf({ changes, edits: [pin, text] })])).toMatchObject([
      {
        changes: [{ kept_metadata: undefined, metadata_omitted: true }],
        edits: [{ serves: omitted }, { texts: omitted }],
      },
    ]);
  });
});
