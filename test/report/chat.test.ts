import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatMessageName,
  listMarkers,
  parseMarkerLine,
  renderChatText,
  renderMarker,
} from '../../src/domain/chat.ts';
import { type Block, type MarkedLine, markWords } from '../../src/report/text-diff.ts';
import { escapeLine, renderJson } from '../../src/report/escape.ts';
import { renderHtml } from '../../src/report/formats/html-page.ts';
import { renderMarkdown } from '../../src/report/formats/markdown.ts';
import type { Report, ReportPrompt } from '../../src/report/schema/report-schema.ts';
import { renderText } from '../../src/report/formats/terminal-text.ts';
import { showHidden } from '../../src/text.ts';
import { runs } from '../support/seed.ts';
import { commandsIn, HOSTILE, INVISIBLE } from './corpus.ts';
import { anyText, promptOf, ref, reportOf, setActive, testTexts } from './support.ts';

const FORMATS = {
  text: (report: Report) => renderText(report, { colour: false, quiet: false }),
  Markdown: (report: Report) =>
    renderMarkdown(report, { title: 'plan', workspace: null, commit: null, runUrl: null, limit: null }),
  HTML: (report: Report) => renderHtml(report, 'plan'),
} as const;

/** Returns a report in which environments change from the messages of one text to those of another. */
function reportOfChat(before: string, after: string, environments = ['staging']): Report {
  const messages = { before: listNames(before), after: listNames(after) };
  const changes = environments.map((environment) =>
    setActive({ environment, before: ref(6), before_text: before, after_text: after, messages }),
  );
  return reportOf([promptOf({ type: 'chat', status: 'pending', changes })]);
}

function listNames(text: string): readonly string[] {
  return listMarkers(text).map(formatMessageName);
}

/** Returns the section of one environment in a Markdown page. */
function findSection(markdown: string, environment: string): string | undefined {
  return markdown.split('\n#### ').find((section) => section.startsWith(`${environment}: `));
}

const BEFORE = '{{role "system"}}\nBe kind.\n\n{{role "user"}}\n{{question}}';
const AFTER = '{{role "system"}}\nBe kind.\n\n{{placeholder "history"}}\n\n{{role "user"}}\n{{question}}';

describe('the line about changed messages', () => {
  test.each(Object.entries(FORMATS))('The %s format shows changed messages in one line', (_, render) => {
    const line = 'messages: system, user → system, history*, user';
    expect(render(reportOfChat(BEFORE, AFTER, ['staging', 'production'])).split(line)).toHaveLength(2);
  });

  test.each(Object.entries(FORMATS))(
    'The %s format names each environment if the messages of the environments differ',
    (name, render) => {
      const [first, second] = [reportOfChat(BEFORE, AFTER), reportOfChat(AFTER, BEFORE, ['production'])];
      const changes = [first, second].flatMap(({ prompts: [prompt] }) => prompt!.changes);
      const shown = render(reportOf([{ ...first.prompts[0]!, changes }]));
      const lines = [
        ['staging', 'messages: system, user → system, history*, user'],
        ['production', 'messages: system, history*, user → system, user'],
      ] as const;
      for (const [environment, line] of lines) {
        // In Markdown, the headline above the table names the environment.
        if (name === 'Markdown') expect(findSection(shown, environment)).toContain(line);
        else expect(shown).toContain(`${line} (${environment})`);
      }
    },
  );

  test.each(Object.entries(FORMATS))(
    'The %s format shows no line about messages if only their content changes',
    (_, render) => {
      const changes = [
        setActive({ before: ref(6), before_text: BEFORE, after_text: BEFORE.replace('kind', 'polite'), breaking: [] }),
      ];
      expect(render(reportOf([promptOf({ type: 'chat', status: 'pending', changes })]))).not.toContain('messages:');
    },
  );

  test('The JSON report lists the messages before and after a change', () => {
    const { prompts } = JSON.parse(renderJson(reportOfChat(BEFORE, AFTER))) as Report;
    expect(prompts).toMatchObject([
      {
        type: 'chat',
        changes: [{ messages: { before: ['system', 'user'], after: ['system', 'history*', 'user'] } }],
      },
    ]);
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

  testTexts('Text and HTML reports show changed messages in one escaped line for', corpus, anyText, (text) => {
    const report = reportOfChat(renderMarker('role', text), renderMarker('placeholder', text));
    const name = formatMessageName({ kind: 'role', name: text });
    const line = escapeLine(`messages: ${name} → ${name}*`);
    const item = /<li class="messages">(.*)<\/li>/.exec(FORMATS.HTML(report))?.[1] ?? '';
    return {
      found: {
        text: FORMATS.text(report).split('\n'),
        html: decode(item),
      },
      wanted: {
        text: expect.arrayContaining([`  ~ ${line}`]),
        html: line,
      },
    };
  });

  testTexts('An HTML report shows marker lines as escaped headings for', corpus, anyText, (text) => {
    const [role, placeholder] = [renderMarker('role', text), renderMarker('placeholder', text)];
    const html = FORMATS.HTML(reportOfChat(`${role}\nold`, `${role}\nnew\n\n${placeholder}`));
    return {
      found: { headings: readHeadings(html), commands: commandsIn(html), invisible: INVISIBLE.exec(html) },
      wanted: { headings: [role, placeholder].map(showHidden), commands: [], invisible: null },
    };
  });
});

describe('the headings of messages in an HTML report', () => {
  const marker = '{{role "system"}}';
  const headingsOf = (type: ReportPrompt['type'], [before, after]: readonly [string, string]) => {
    const changes = [setActive({ before: ref(1), before_text: before, after_text: after })];
    return readHeadings(FORMATS.HTML(reportOf([promptOf({ status: 'pending', type, changes })])));
  };

  test('An HTML report shows unchanged, removed and added marker lines of a chat prompt as headings', () => {
    const texts = [`${marker}\na\n\n{{role "user"}}\nb`, `${marker}\na\n\n{{placeholder "history"}}`] as const;
    expect(headingsOf('chat', texts)).toEqual([marker, '{{role "user"}}', '{{placeholder "history"}}']);
  });

  test.each<readonly [string, ReportPrompt['type']]>([
    ['An HTML report shows a marker line of a text prompt as ordinary text', 'text'],
    ['An HTML report shows marker lines as ordinary text if the type of the prompt is unknown', null],
  ])('%s', (_, type) => {
    expect(headingsOf(type, [`${marker}\na`, `${marker}\nb`])).toEqual([]);
  });

  test('An HTML report shows content that looks like a marker as ordinary text', () => {
    const texts = [`${marker}\n\\{{role "x"}}\na`, `${marker}\n\\{{role "x"}}\nb`] as const;
    expect(headingsOf('chat', texts)).toEqual([marker]);
  });
});

const removed = (...lines: readonly string[]): Block => ({ kind: 'removed', lines });
const added = (...lines: readonly string[]): Block => ({ kind: 'added', lines });

/** Returns the line with its changed words in brackets. */
function showMarks(line: MarkedLine): string {
  return line.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('');
}

const USER = '{{role "user"}}';
const AGENT = '{{role "assistant"}}';

describe('markWords for a chat prompt', () => {
  test.each<[string, Block, Block, string]>([
    [
      'markWords marks a changed word in one message',
      removed('Be kind to customers.'),
      added('Be kind to buyers.'),
      'Be kind to [customers].\nBe kind to [buyers].',
    ],
    [
      'markWords does not mark any words in a message if its marker has changed',
      removed(USER, 'Greet them by name.'),
      added(AGENT, 'Greet them by title.'),
      `${USER}\nGreet them by name.\n${AGENT}\nGreet them by title.`,
    ],
    [
      'markWords compares the last line of a message with its old version even if a new message was added below it',
      removed('Be kind to all.'),
      added('Be kind to everyone.', '', USER, 'Be kind to all.'),
      `Be kind to [all].\nBe kind to [everyone].\n\n${USER}\nBe kind to all.`,
    ],
    [
      'markWords compares each message with its old version if the markers have not changed',
      removed('Be kind.', USER, 'Greet them by name.', AGENT, 'Thank you.'),
      added('Be very kind.', USER, 'Greet them by title.', AGENT, 'Thank you all.'),
      [
        ...['Be kind.', USER, 'Greet them by [name].', AGENT, 'Thank you.'],
        ...['Be [very ]kind.', USER, 'Greet them by [title].', AGENT, 'Thank you[ all].'],
      ].join('\n'),
    ],
    [
      'markWords does not mark any words below the first marker that has changed',
      removed('Be kind.', USER, 'Greet them by name.'),
      added('Be very kind.', AGENT, 'Greet them by title.', USER, 'Greet them by rank.'),
      [
        ...['Be kind.', USER, 'Greet them by name.'],
        ...['Be [very ]kind.', AGENT, 'Greet them by title.', USER, 'Greet them by rank.'],
      ].join('\n'),
    ],
    [
      'markWords does not mark any words if a marker line without content replaces a whole message',
      removed('Be kind.'),
      added(USER),
      `Be kind.\n${USER}`,
    ],
  ])('%s', (_, old, fresh, expected) => {
    const lines = markWords([old, fresh], 'chat').flatMap((block) => block.lines);
    expect(lines.map(showMarks).join('\n')).toBe(expected);
  });

  test('markWords treats marker lines in a text prompt like all other lines', () => {
    const lines = markWords([removed('Act as', USER), added('Act as', AGENT)], 'text').flatMap((block) => block.lines);
    expect(lines.map(showMarks)).toEqual(['Act as', '{{role "[user]"}}', 'Act as', '{{role "[assistant]"}}']);
  });

  test.each([
    ['Terminal output does not mark any words in a message if its marker has changed', /\u001b\[7m/, 'text'],
    ['The HTML page does not mark any words in a message if its marker has changed', /<mark>/, 'HTML'],
  ] as const)('%s', (_, mark, format) => {
    const report = reportOfChat(`${USER}\nGreet them by name.`, `${AGENT}\nGreet them by title.`);
    const renderAs = (type: ReportPrompt['type']) => {
      const typed = { ...report, prompts: report.prompts.map((prompt) => ({ ...prompt, type })) };
      return format === 'HTML' ? FORMATS.HTML(typed) : renderText(typed, { colour: true, quiet: false });
    };
    expect(renderAs('chat')).not.toMatch(mark);
    expect(renderAs('text')).toMatch(mark);
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

  test('A change in one message never marks words in another message', () => {
    const content = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
    const contents = fc.array(content, { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(contents, content, fc.nat(), (before, edited, at) => {
        const changedAt = at % before.length;
        const after = before.with(changedAt, edited);
        const blocks = [removed(...renderMessages(before)), added(...renderMessages(after))];
        const marked = markWords(blocks, 'chat').flatMap((block) => block.lines);
        const roles = listRolesOfMarks(marked);
        expect(roles.filter((role) => role !== `r${changedAt}`)).toEqual([]);
      }),
      { numRuns: runs(200) },
    );
  });

  function renderMessages(contents: readonly string[]): readonly string[] {
    return renderChatText(contents.map((text, index) => ({ role: `r${index}`, content: text }))).split('\n');
  }

  /** Returns the role of the message that each marked line belongs to. */
  function listRolesOfMarks(marked: readonly MarkedLine[]): readonly string[] {
    let role = '';
    return marked.flatMap((segments) => {
      role = parseMarkerLine(joinTexts(segments))?.name ?? role;
      return segments.some(({ changed }) => changed) ? [role] : [];
    });
  }
});
