import type { JsonObject } from '../domain/json.ts';

export type TextSample = {
  /** The label of the sample, such as `CRLF`. The name of the point contains it, as in `text: CRLF`. */
  readonly name: string;
  readonly text: string;
};

const LONG_TEXT_BYTES = 100_000;
const LONG_TEXT_LINE = 'A line of a long text, with the variable {{name}}.\n';

/** Each text contains the id of the run, so that no other run stores the same texts. */
export function listSamples(runId: string): readonly TextSample[] {
  const title = `promptsync doctor ${runId}`;
  const lines = LONG_TEXT_LINE.repeat(Math.ceil(LONG_TEXT_BYTES / LONG_TEXT_LINE.length));
  return [
    { name: 'white space', text: `\n  ${title}: white space at both ends \t\n\n` },
    { name: 'CRLF', text: `${title}: line breaks\r\nof\r\nWindows` },
    { name: 'Unicode', text: `${title}: decomposed u\u0308 and e\u0301, an emoji \u{1f469}\u200d\u{1f680}` },
    { name: '100 kB', text: `${`${title}\n${lines}`.slice(0, LONG_TEXT_BYTES - 1)}.` },
  ];
}

/**
 * The metadata of each sample, as large and as deeply nested as a version record. It omits the key of the record, so
 * that promptsync does not mistake the sample for one of its own versions.
 */
export const SAMPLE_METADATA: JsonObject = {
  'promptsync-doctor': {
    text: 'Zürich "quoted" \\ {{name}}',
    number: 0.25,
    truth: true,
    nothing: null,
    entries: Array.from({ length: 40 }, (_, index) => ({
      number: index + 1,
      digest: `sha256:${'0123456789abcdef'.repeat(4)}`,
      path: `prompts/support/greeting-${index + 1}.md`,
    })),
  },
};

/** The number of levels in which lists and objects are nested in `SAMPLE_METADATA`. */
export const SAMPLE_METADATA_DEPTH = 4;
