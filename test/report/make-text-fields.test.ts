import { expect, test } from 'vitest';
import { omitLargeTexts } from '../../src/report/make-text-fields.ts';
import { promptOf, setActive } from './support.ts';

const MEGABYTE = 'x'.repeat(1_000_000);
const to = (text: string) =>
  setActive({ before: { id: 'ver_1', version_number: 1 }, before_text: '', after_text: text });

test('A report omits the text of the change that would make the total exceed 32 MB, and of all later changes', () => {
  const changes = [...Array.from({ length: 31 }, () => to(MEGABYTE)), to('y'.repeat(999_990)), to(MEGABYTE), to('z')];
  const [prompt, last] = omitLargeTexts([promptOf({ changes }), promptOf({ changes: [to('a'), setActive({})] })]);
  expect(prompt?.changes.slice(0, 32)).toEqual(changes.slice(0, 32));
  const omitted = { before_text: '', after_text: null, text_omitted: true };
  expect(prompt?.changes.slice(32)).toMatchObject([omitted, omitted]);
  expect(last?.changes).toMatchObject([omitted, setActive({})]);
});

test('A report that omits the text on one side of a change shows the text on the other side, but no metadata', () => {
  const metadata = { before_metadata: 'a: 1', after_metadata: 'a: 2' };
  const change = { ...to(`${MEGABYTE}x`), before_text: 'before', ...metadata };
  expect(JSON.parse(JSON.stringify(omitLargeTexts([promptOf({ changes: [change] })])))).toMatchObject([
    { changes: [{ before_text: 'before', after_text: null, text_omitted: true }] },
  ]);
  expect(JSON.stringify(omitLargeTexts([promptOf({ changes: [change] })]))).not.toContain('_metadata');
});

test('A report omits text over 1 MB from edits, and omits metadata over 1 MB that a new version keeps', () => {
  const { kind: _, environment, ...serves } = to(`${MEGABYTE}x`);
  const pin = { kind: 'set-pin', environment, before: '1', after: '2', serves } as const;
  const text = { kind: 'set-text', from: 'v2', conflicts: 0, texts: { ...serves, environment } } as const;
  const kept = {
    kind: 'create-version',
    digest: 'sha256:0',
    kept_metadata: `${MEGABYTE}x`,
    change_summary: null,
  } as const;
  const omitted = { after_text: null, text_omitted: true };
  expect(omitLargeTexts([promptOf({ changes: [kept], edits: [pin, text] })])).toMatchObject([
    {
      changes: [{ kept_metadata: undefined, metadata_omitted: true }],
      edits: [{ serves: omitted }, { texts: omitted }],
    },
  ]);
});
