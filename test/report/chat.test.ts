import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatMessageName, listMarkers, parseMarkerLine, renderMarker } from '../../src/domain/chat.ts';
import { type Block, type MarkedLine, markWords } from '../../src/report/text-diff.ts';
import { escapeLine } from '../../src/report/escape.ts';
import type { Report, ReportPrompt } from '../../src/report/schema/report-schema.ts';
import { renderText } from '../../src/report/formats/terminal-text.ts';
import { showHidden } from '../../src/text.ts';
import { runs } from '../support/seed.ts';
import { commandsIn, HOSTILE, INVISIBLE } from './corpus.ts';
import { anyText, FORMATS, planOf, ref, setActive, testTexts } from './support.ts';

/** Returns a report in which environments change from the messages of one text to those of another. */
function reportOfChat(before: string, after: string, environments = ['staging']): Report {
  const messages = { before: listNames(before), after: listNames(after) };
  const changes = environments.map((environment) =>
    setActive({ environment, before: ref(6), before_text: before, after_text: after, messages }),
  );
  return planOf(changes, { type: 'chat' });
}

function listNames(text: string): readonly string[] {
  return listMarkers(text).map(formatMessageName);
}

const BEFORE = '{{role "system"}}\nBe kind.\n\n{{role "user"}}\n{{question}}';
const AFTER = '{{role "system"}}\nBe kind.\n\n{{placeholder "history"}}\n\n{{role "user"}}\n{{question}}';

// The recorded plan shows the lines of environments whose messages differ.
describe('the line about changed messages', () => {
  test.each(Object.entries(FORMATS))('The %s format shows changed messages in one line', (_, render) => {
    const line = 'messages: system, user → system, history*, user';
    expect(render(reportOfChat(BEFORE, AFTER, ['staging', 'production'])).split(line)).toHaveLength(2);
    const changes = [setActive({ before: ref(6), before_text: BEFORE, after_text: BEFORE.replace('kind', 'polite') })];
    expect(render(planOf(changes, { type: 'chat' }))).not.toContain('messages:');
  });
});

/** Decodes the numeric character references of HTML. */
function decode(html: string): string {
  return html.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

/** Returns the text of the headings of messages in an HTML page. */
function readHeadings(html: string): readonly string[] {
  return [...html.matchAll(/<b class="marker">([^<]*)<\/b>\n/g)].map(([, text = '']) => decode(text));
}

describe('reports of chat prompts with hostile texts', () => {
  const corpus = {
    ...HOSTILE,
    'backticks and markup': '``` <b>x</b> ]]> <!-- "\'&',
    'a runner command as a role': '::warning::forged',
    'a marker as a role': '{{role "x"}}',
  };

  testTexts(
    'Reports show changed messages in one escaped line and HTML reports escape headings for',
    corpus,
    anyText,
    (text) => {
      const [role, placeholder] = [renderMarker('role', text), renderMarker('placeholder', text)];
      const report = reportOfChat(`${role}\nold`, `${role}\nnew\n\n${placeholder}`);
      const html = FORMATS.HTML(report);
      const name = formatMessageName({ kind: 'role', name: text });
      const line = escapeLine(`messages: ${name} → ${name}, ${name}*`);
      return {
        found: {
          text: FORMATS.text(report).split('\n'),
          html: decode(/<li class="messages">(.*)<\/li>/.exec(html)?.[1] ?? ''),
          ...{ headings: readHeadings(html), commands: commandsIn(html), invisible: INVISIBLE.exec(html) },
        },
        wanted: {
          ...{ text: expect.arrayContaining([`  ~ ${line}`]), html: line },
          ...{ headings: [role, placeholder].map(showHidden), commands: [], invisible: null },
        },
      };
    },
  );
});

test('An HTML report shows the marker lines of a chat prompt as headings, but not content that looks like a marker', () => {
  const marker = '{{role "system"}}';
  const headingsOf = (type: ReportPrompt['type'], before_text: string, after_text: string) => {
    const changes = [setActive({ before: ref(1), before_text, after_text })];
    return readHeadings(FORMATS.HTML(planOf(changes, { type })));
  };
  const before = `${marker}\na\n\n{{role "user"}}\n\\{{role "x"}}`;
  const after = `${marker}\na\n\n{{placeholder "history"}}`;
  expect(headingsOf('chat', before, after)).toEqual([marker, '{{role "user"}}', '{{placeholder "history"}}']);
  expect(headingsOf('text', before, after)).toEqual([]);
  expect(headingsOf(null, before, after)).toEqual([]);
});

const removed = (...lines: readonly string[]): Block => ({ kind: 'removed', lines });
const added = (...lines: readonly string[]): Block => ({ kind: 'added', lines });

const USER = '{{role "user"}}';
const AGENT = '{{role "assistant"}}';

describe('markWords for a chat prompt', () => {
  test('Terminal output and HTML reports mark words by the type of the prompt', () => {
    const report = reportOfChat(`${USER}\nGreet them by name.`, `${AGENT}\nGreet them by title.`);
    for (const type of ['chat', 'text'] as const) {
      const typed = { ...report, prompts: report.prompts.map((prompt) => ({ ...prompt, type })) };
      const isMarked = type === 'text';
      expect(renderText(typed, { colour: true, quiet: false }).includes('\u001b[7m')).toBe(isMarked);
      expect(FORMATS.HTML(typed).includes('<mark>')).toBe(isMarked);
    }
  });

  const word = fc.constantFrom('Greet', 'them', 'by', 'name', 'role', '"user"', '{{role', '}}', '語', '');
  const line = fc.oneof(
    { weight: 3, arbitrary: fc.array(word, { maxLength: 6 }).map((words) => words.join(' ')) },
    { weight: 1, arbitrary: anyText.map((text) => renderMarker('role', text)) },
    { weight: 2, arbitrary: fc.constantFrom(USER, AGENT, '{{placeholder "history"}}') },
  );
  const lines = fc.array(line, { minLength: 1, maxLength: 12 });
  const joinTexts = (marked: MarkedLine) => marked.map(({ text }) => text).join('');

  test('markWords never marks part of a marker line, and never changes the text of a line', () => {
    fc.assert(
      fc.property(lines, lines, lines, (start, old, fresh) => {
        const blocks: readonly Block[] = [{ kind: 'same', lines: start }, removed(...old), added(...fresh)];
        const marked = markWords(blocks, 'chat');
        expect(marked.map(({ kind, lines: all }) => ({ kind, lines: all.map(joinTexts) }))).toEqual(blocks);
        const markers = marked
          .flatMap((block) => block.lines)
          .filter((all) => parseMarkerLine(joinTexts(all)) !== null);
        expect(markers.flat().filter(({ changed }) => changed)).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
  });
});
