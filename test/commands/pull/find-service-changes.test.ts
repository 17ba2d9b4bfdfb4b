import { describe, expect, test } from 'vitest';
import { findContestedPins, findServiceChanges } from '../../../src/commands/pull/find-service-changes.ts';
import {
  type Drift,
  isNewVersionRef,
  type ObservedPromptPlan,
  type WantedVersionRef,
} from '../../../src/domain/plan.ts';
import { canPullDrift } from '../../../src/planning/choose-pull.ts';
import { content, file, line, observed, parseVersion, planPrompt, rules } from '../../planning/support.ts';

const ENVIRONMENT = 'production';

/** Makes the parts of a file with this pin. The file does not pin the environment if the pin is `-`. */
function makeParts(pin: string) {
  return { text: 'file', pins: pin === '-' ? {} : { [ENVIRONMENT]: pin } };
}

/** The state of an environment. `wanted` is null if the environment has no drift. */
type Scene = {
  readonly pin: string;
  readonly served: string;
  readonly wanted: WantedVersionRef | null;
  readonly kind: Drift['kind'];
};

function makePlan({ pin, served, wanted, kind }: Scene): ObservedPromptPlan {
  const [environment, subject] = [ENVIRONMENT, 'environment' as const];
  const seen = observed({ active: { [environment]: parseVersion(served) } });
  const active = seen.active.get(environment) ?? null;
  const before = active && { id: active.id, number: active.number };
  const isManaged = active?.isManaged === true;
  const current = before && { ...before, isManaged, isInGit: isManaged || active?.digest === content('file').digest };
  const after = wanted !== null && (isNewVersionRef(wanted) || wanted.id !== null) ? wanted : undefined;
  return {
    ...planPrompt(file(makeParts(pin)), seen, rules()),
    observed: seen,
    changes: after === undefined ? [] : [{ kind: 'set-active', environment, before, after }],
    drift:
      wanted === null ? [] : [{ subject, environment, kind, restoresBase: true, expected: wanted, observed: current }],
  };
}

function parseWanted(word: string): WantedVersionRef | null {
  if (word === '-') return null;
  if (word === 'new') return { newContent: content('new') };
  return word.startsWith('?')
    ? { id: null, number: Number(word.slice(1)) }
    : { id: `ver_${word}`, number: Number(word) };
}

/**
 * Rows `title: 'PIN | SERVED VERSION | WANTED VERSION | changes | FLAGS'`, with versions in the notation of
 * `planning/support.ts`. promptsync knows no version such as `?9`.
 */
const ROWS: Readonly<Record<string, string>> = {
  'pull merges the text of a foreign version under latest': 'latest | ~4:Edit | 3 | textEdits',
  'pull merges the text of a foreign version under a number and updates the pin':
    '9 | ~10:Edit | 9 | textEdits pinEdits',
  'pull only updates the pin for a managed version under a number': '9 | 10:Own | 9 | pinEdits',
  'pull only updates the pin for a served text that git has': '9 | ~10:file | 9 | pinEdits',
  'pull changes nothing for a managed version under latest': 'latest | 4:Own | new | textsInGit',
  'pull only pins an older version': 'latest | ~2:Edit | 3 | pinEdits',
  'pull reports an environment that serves no version': 'latest | - | 3 | deactivated',
  'pull takes the text of an older version with portable_pins': 'latest | 2:Own | 3 | textEdits | portable',
  'pull leaves an environment with a git: pin alone with portable_pins': 'git:v1 | ~4:Edit | 3 | leftAlone | portable',
  'pull changes nothing for a difference from an unfinished sync': 'latest | ~4:Edit | 3 |  | unfinished',
  'pull merges the text of any difference without a base commit':
    'latest | ~4:Edit | 3 | textEdits | baseless unfinished',
  'pull reports no missing version without a base commit': 'latest | - | 3 |  | baseless',
  'pull pins the served version and merges its text under an unknown number': '9 | ~10:Edit | ?9 | textEdits pinEdits',
  'pull pins the served version and merges its text under an unknown number without a base commit':
    '9 | ~10:Edit | ?9 | textEdits pinEdits | baseless',
  'pull merges the text of the unpinned environment of --environment even if git has the text':
    '- | ~10:file | - | textEdits | --environment production',
  'pull changes nothing in an unpinned environment without --environment': '- | ~4:Edit | - | ',
  'pull changes nothing in an environment other than that of --environment':
    'latest | ~4:Edit | 3 |  | --environment staging',
};

function parseRow(row: string) {
  const [pin = '', served = '', wanted = '', lists = '', flags = ''] = row.split(' | ');
  const kind = flags.includes('unfinished') ? 'unfinished' : 'outside';
  const environment = /^--environment (.*)$/.exec(flags)?.[1];
  return {
    plan: makePlan({ pin, served, wanted: parseWanted(wanted), kind }),
    rules: { hasBase: !flags.includes('baseless'), portablePins: flags === 'portable', environment },
    lists: lists.split(' ').filter(Boolean),
    isPlain: flags === '' || flags === 'portable',
  };
}

describe('the changes that a pull takes over', () => {
  test.each(Object.entries(ROWS))('%s', (_, row) => {
    const { plan, rules, lists } = parseRow(row);
    const { fields, ...changes } = findServiceChanges(plan, line([makeParts('-')]), rules);
    const found = Object.entries(changes).flatMap(([name, list]) => (list.length > 0 ? [name] : []));
    expect({ found, fields }).toEqual({ found: lists, fields: [] });
  });

  test('canPullDrift returns true exactly when findServiceChanges finds an edit for the prompt file', () => {
    for (const [title, row] of Object.entries(ROWS)) {
      const { plan, rules, lists, isPlain } = parseRow(row);
      if (!isPlain) continue;
      const helps = plan.drift.some((one) => canPullDrift(one, plan.file, rules.portablePins));
      expect([title, helps]).toEqual([title, lists.some((list) => ['textEdits', 'pinEdits'].includes(list))]);
    }
  });

  test.each<[string, boolean, Drift['kind'], readonly string[]]>([
    ['pull updates a field that somebody changed in the service', true, 'outside', ['name']],
    ['pull updates a field only if the difference does not come from an unfinished sync', true, 'unfinished', []],
    ['pull updates a field that differs if there is no base commit', false, 'unfinished', ['name']],
  ])('%s', (_, hasBase, kind, expected) => {
    const drift: Drift = { subject: 'field', field: 'name', kind, restoresBase: true, expected: 'p', observed: 'q' };
    const update = { kind: 'update-prompt' as const, fields: { name: { before: 'q', after: 'p' } } };
    const plan = { ...parseRow('latest | - | - | ').plan, changes: [update], drift: [drift] };
    const { fields } = findServiceChanges(plan, line([]), { hasBase, portablePins: false });
    expect(fields).toEqual(expected);
  });
});

test.each<[string, string, number]>([
  ['pull overwrites a pin even without --theirs if HEAD contains the same pin', '9', 0],
  ['pull overwrites a pin that differs from the pin at HEAD only with --theirs', '8', 1],
  ['pull overwrites a pin only with --theirs if HEAD contains no pin for the environment', '-', 1],
])('%s', (_, committed, count) => {
  const { plan, rules } = parseRow('9 | ~10:Edit | 9 | ');
  const history = line([makeParts(committed)]);
  expect(findContestedPins(findServiceChanges(plan, history, rules), history)).toHaveLength(count);
});
