import { makeProblem } from '../../../../src/problem.ts';
import { renderHtml } from '../../../../src/report/formats/html-page.ts';
import { REPORTS } from '../recorded-reports.ts';
import { pageOf, type PagePrompt } from './pages.ts';

const LINES = Array.from(
  { length: 20 },
  (_, index) => `${index + 1}. Answer politely, and ask for the order number first.`,
);

/** Returns a text of twenty lines before and after these changes. */
export function edited(changes: Readonly<Record<number, string>>): readonly [string, string] {
  return [LINES.join('\n'), LINES.map((line, index) => changes[index + 1] ?? line).join('\n')];
}

/** Returns so many environments that change. */
export const makeServes = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`environment-${index}`, [1, 2] as const]));

/** Prompts with everything that a plan can show, and texts of all kinds. */
export const everything: Readonly<Record<string, PagePrompt>> = {
  'support/greeting': {
    serves: { staging: [6, 'new'], production: 6 },
    text: edited({ 2: '2. Answer politely and briefly, and ask for the order number first.', 19: '19. Stop here.' }),
  },
  'support/refund': {
    serves: { staging: [3, 4], production: [2, 3] },
    text: ['Hello {{name}}.', 'Hello {{customer}}.'],
    drift: ['production'],
  },
  'support/returns': {
    serves: { staging: 5, production: [2, 4] },
    text: ['Old text.', 'New text.'],
    more: {
      status: 'blocked',
      problems: [makeProblem('guard/drift', { key: 'support/returns', what: ['production'], canPull: true })],
    },
  },
  'support/unfinished': {
    serves: { staging: [1, 2] },
    text: [null, 'A first text.'],
    more: {
      drift: [{ environment: 'staging', kind: 'unfinished', restores: true, expected: { new: true }, observed: null }],
    },
  },
  'support/unreachable': {
    serves: { staging: null, production: null },
    more: { status: 'failed', problems: [makeProblem('service/timeout', { seconds: 15 })] },
  },
  'support/warned': {
    serves: { staging: 1, production: 1 },
    more: { problems: [makeProblem('service/drops-metadata', { environment: 'staging' })] },
  },
  'text/japanese': {
    serves: { staging: [1, 'new'] },
    text: [
      'お客様に丁寧に挨拶し、注文番号をお尋ねください。',
      'お客様に簡潔に挨拶し、注文番号とお名前をお尋ねください。',
    ],
  },
  'text/arabic': {
    serves: { staging: [1, 'new'] },
    text: ['مرحبا بكم في خدمة العملاء.\nSecond line.', 'أهلا وسهلا بكم في خدمة العملاء.\nSecond line.'],
  },
  'text/long-lines': {
    serves: { staging: [1, 'new'] },
    text: ['word '.repeat(200).trim(), `${'word '.repeat(150)}and ${'x'.repeat(400)}`],
  },
  'text/another': {
    serves: { staging: [1, 'new'] },
    text: ['One thing.', 'Something else altogether, in many more words.'],
  },
  'many/environments': { serves: makeServes(12), text: ['a', 'b'] },
  'quiet/one': { serves: { staging: 1, production: 1 } },
  'quiet/two': { serves: { staging: 1 } },
};

/** Pages that together have everything that a page can show. The keys complete test titles. */
export const PAGES: Readonly<Record<string, string>> = {
  'a plan with everything': pageOf(everything),
  ...Object.fromEntries(
    Object.entries(REPORTS).map(([name, report]) => [`the recorded report ${name}`, renderHtml(report, name)]),
  ),
};
