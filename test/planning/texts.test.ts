import { expect, test } from 'vitest';
import { isNewVersionRef } from '../../src/domain/plan.ts';
import { collectTextChanges } from '../../src/planning/collect-text-changes.ts';
import {
  content,
  file,
  observed,
  outside,
  parseFile,
  parseRules,
  parseVersion,
  planPrompt,
  rules,
  type RulesParts,
} from './support.ts';

const ACTIVE = {
  dev: null,
  staging: parseVersion('2:Two{"model":"x"}(1:One,5:Five,6:Six)'),
  production: outside(1, 'One\r\nby them'),
};

/** Collects the changes of a file, and formats each like `staging: Two {"model":"x"} → New`. */
function formatChanges(words: string, given: RulesParts) {
  const prompt = planPrompt(file(parseFile(words)), observed({ active: ACTIVE }), rules(given));
  const changes = collectTextChanges([prompt], rules(given), rules(given).planningHistory).get('p1')!;
  expect(changes.map(({ change }) => change)).toStrictEqual(prompt.changes.filter(({ kind }) => kind === 'set-active'));
  return changes
    .map(({ environment, before, after }) => `${environment}: ${format(before)} → ${format(after)}`)
    .join('; ');
}

type Shown = { readonly type: string; readonly text?: string; readonly metadata?: unknown } | 'unknown' | null;

function format(shown: Shown): string {
  if (shown === null || shown === 'unknown') return shown ?? 'none';
  const { type, text, metadata, ...rest } = shown;
  expect([type, rest]).toStrictEqual(['text', {}]);
  return metadata === undefined ? `${text}` : `${text} ${JSON.stringify(metadata)}`;
}

/** Rows `title: 'FILE | CHANGES | RULES'`, in the notation of `support.ts`. */
const rows = {
  'no changes for a prompt that is in sync': 'Two staging=latest | ',
  'the new text with the served text, or with null if no version is served':
    'New dev=latest production=latest | dev: none → New; production: One\nby them {} → New',
  'metadata with the new text if the file has metadata': 'New{"model":"y"} dev=latest | dev: none → New {"model":"y"}',
  'the text of a version that promptsync read from the service':
    'production=2 | production: One\nby them {} → Two {"model":"x"}',
  'the text of a version from the file or a git ref if that version is known only from a ledger':
    'Five{} dev=latest staging=git:v6 | dev: none → Five {}; staging: Two {"model":"x"} → Six | git:v6=Six',
  'unknown if the text of a version is not available': 'dev=6 | dev: none → unknown',
  'unknown for a version id that is in no ledger': 'dev=version:theirs | dev: none → unknown',
};

test.each(Object.entries(rows))('collectTextChanges returns %s', (_, row) => {
  const [words = '', expected, given = ''] = row.split(' | ');
  expect(formatChanges(words, parseRules(given))).toBe(expected);
});

test('collectTextChanges takes the text of a version from git if that version is known only from a ledger', () => {
  const history = { contents: new Map([['ver_5', content('Five')]]) };
  expect(formatChanges('dev=5', { history })).toBe('dev: none → Five');
});

test('collectTextChanges returns no changes for a prompt that promptsync did not read from the service', () => {
  const prompt = planPrompt(file({ text: 'New', pins: { dev: 'latest' } }), observed({ active: ACTIVE }), rules());
  expect(prompt.changes.some((change) => change.kind === 'set-active' && isNewVersionRef(change.after))).toBe(true);
  const changes = collectTextChanges([{ ...prompt, observed: null }], rules(), rules().planningHistory);
  expect(changes.get('p1')).toStrictEqual([]);
});
