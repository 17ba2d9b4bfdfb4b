import { describe, expect, test } from 'vitest';
import { renderDoctorJson, renderDoctorText } from '../../../src/commands/doctor/render-doctor.ts';
import { DoctorReportShape } from '../../../src/commands/doctor/doctor-schema.ts';
import { type DoctorSection, makeErrorPoint, makeOkPoint, makeWarningPoint } from '../../../src/domain/doctor-point.ts';
import { makeScreen } from '../../../src/report/terminal-screen.ts';
import { makeOutputStyle, PLAIN_STYLE } from '../../../src/report/output-style.ts';

const SECTIONS: readonly DoctorSection[] = [
  { title: 'Machine', points: [makeOkPoint('git', '2.51.0'), makeWarningPoint('history', 'shallow', 'Fetch it.')] },
  { title: 'Service', points: [makeErrorPoint('key', 'refused', 'Check the key.')] },
];

describe('the text output of doctor', () => {
  test('the text output aligns the columns, puts hints below their points and counts the levels', () => {
    expect(renderDoctorText(SECTIONS, PLAIN_STYLE, false)).toBe(
      [
        ...['Machine', '  ok       git      2.51.0', '  warning  history  shallow', '           Fetch it.', ''],
        ...['Service', '  error    key      refused', '           Check the key.', ''],
        '1 ok, 1 warning, 1 error.\n',
      ].join('\n'),
    );
  });

  test('the quiet text output contains only the errors, what the check left behind in the service, and the summary', () => {
    const behavior = { title: 'Behavior', points: [makeOkPoint('text', 'ok'), makeOkPoint('left behind', 'v2')] };
    expect(renderDoctorText([...SECTIONS, behavior], PLAIN_STYLE, true)).toBe(
      [
        ...['Service', '  error    key          refused', '           Check the key.', ''],
        ...['Behavior', '  ok       left behind  v2', '', '3 ok, 1 warning, 1 error.\n'],
      ].join('\n'),
    );
  });

  test('the text output marks each level with a color', () => {
    const text = renderDoctorText(SECTIONS, makeOutputStyle({ colour: true }), false);
    expect(text).toContain('\u001b[32mok     \u001b[39m');
    expect(text).toContain('\u001b[33mwarning\u001b[39m');
    expect(text).toContain('\u001b[31merror  \u001b[39m');
  });

  test.each([40, 80, 120])('the text output fits into a terminal of %i columns', (columns) => {
    const long = 'word '.repeat(60).trim();
    const points = [makeWarningPoint('history', long, long), makeErrorPoint('key', long, long)];
    const style = makeOutputStyle({ colour: false, screen: makeScreen(columns) });
    const text = renderDoctorText([{ title: 'All', points }], style, false);
    expect(text.split('\n').filter((line) => line.length > columns)).toEqual([]);
    expect(text.split(/\s+/).filter((word) => word === 'word')).toHaveLength(4 * 60);
    expect(text).toContain('  warning  history  word word');
  });

  test('the text output makes hidden characters in values visible, and a value cannot begin a new line', () => {
    const points = [makeErrorPoint('prompt in "a\u202eb"', 'x\n::error::y\u001b[2J', 'do\u200b this')];
    const text = renderDoctorText([{ title: 'Service', points }], PLAIN_STYLE, false);
    expect(text).toContain('\\u{202e}');
    expect(text).toContain('x\\u{a}::error::y\\u{1b}[2J');
    expect(text).toContain('do\\u{200b} this');
    expect(text.split('\n')).toHaveLength(6);
  });
});

describe('the JSON output of doctor', () => {
  test('the JSON output lists the points of all sections in order and matches its schema', () => {
    const value: unknown = JSON.parse(renderDoctorJson(SECTIONS));
    const report = DoctorReportShape.strict().parse(value);
    expect(report).toEqual({
      schema_version: 1,
      points: [
        { name: 'git', level: 'ok', found: '2.51.0', hint: null },
        { name: 'history', level: 'warning', found: 'shallow', hint: 'Fetch it.' },
        { name: 'key', level: 'error', found: 'refused', hint: 'Check the key.' },
      ],
    });
  });

  test('the JSON output escapes invisible characters, and parsing it restores the original strings', () => {
    const points = [makeOkPoint('a', 'x\u202ey ##[error]')];
    const json = renderDoctorJson([{ title: 'All', points }]);
    expect(json).toContain('\\u202e');
    expect(json).not.toContain('##[');
    expect(JSON.parse(json)).toMatchObject({ points: [{ found: 'x\u202ey ##[error]' }] });
  });
});
