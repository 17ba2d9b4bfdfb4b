import type { ProviderName } from '../../src/providers/provider-list.ts';
import type { PromptOutcome } from '../../src/domain/plan.ts';
import type { ToolRun } from './tool.ts';
import type { World } from './world.ts';

/** Counts the situations of a run, to show that the generators reach them. */
export function noteRun({ statistics }: World, run: ToolRun): void {
  note(statistics, 'runs of the tool');
  if (run.files.length > 1) note(statistics, 'situation: several prompts in one run');
  for (const outcome of run.outcomes ?? []) {
    note(statistics, `prompt: ${outcome.status}`);
    for (const { change, status } of outcome.changes) note(statistics, `change: ${change.kind} ${status}`);
    for (const { code } of outcome.problems) note(statistics, `problem: ${code}`);
    for (const situation of situationsOf(outcome, run)) note(statistics, `situation: ${situation}`);
  }
}

function situationsOf({ plan, changes, status }: PromptOutcome, run: ToolRun): readonly string[] {
  const { id } = plan.file;
  const planned = run.plan.prompts.find(({ file }) => file.id === id);
  const isTouched = run.troubles.touched(id);
  const adopted = changes.some((one) => one.status === 'adopted');
  const created = run.port.writes.some((write) => write.kind === 'create' && write.promptId === id);
  const createsPrompt = changes.some(({ change }) => change.kind === 'create-version' && change.createsPrompt);
  const isChat = plan.file.type === 'chat';
  const isBack = changes.some(({ change }) => change.kind === 'set-active' && isOlder(change));
  return [
    ...(planned !== plan ? ['planned afresh'] : []),
    ...((planned?.pinsToFind.length ?? 0) > 0 ? ['looked at for a pin'] : []),
    ...(adopted && created ? ['a lost answer settled in the same run'] : []),
    ...(adopted && !created && !isTouched ? ['adopted by a later run'] : []),
    ...(created && status === 'applied' && isTouched ? ['applied in spite of trouble'] : []),
    ...(isBack && status === 'applied' ? ['an environment goes back to an older version'] : []),
    ...(isBack && status === 'applied' && isChat ? ['a label of a chat prompt goes back to an older version'] : []),
    ...(createsPrompt && status === 'applied' ? ['a new version creates its prompt'] : []),
    ...(created && status === 'applied' && isChat ? ['a chat prompt gets a new version'] : []),
    ...(plan.file.pins.every(({ pin }) => pin.kind !== 'latest') && created ? ['made without a pin that follows'] : []),
  ];
}

function isOlder({ before, after }: { readonly before: object | null; readonly after: object }): boolean {
  const [from, to] = [before, after].map((ref) => (ref !== null && 'number' in ref ? ref.number : null));
  return typeof from === 'number' && typeof to === 'number' && to < from;
}

/** The situations that the model must reach. If one never occurs, the generators need a fix. */
const EXPECTED = [
  ...['made', 'adopted', 'not_made', 'unknown'].map((status) => `change: create-version ${status}`),
  ...['made', 'not_made', 'unknown'].map((status) => `change: set-active ${status}`),
  ...['applied', 'unchanged', 'blocked', 'failed', 'not_attempted'].map((status) => `prompt: ${status}`),
  ...['outside', 'unfinished', 'none', 'somebody moved it to what git never wanted'].map((what) => `drift: ${what}`),
  ...['wanted-since', 'behind'].map((kind) => `note: ${kind}`),
  ...['the source serves it', 'it is a rollback', 'an earlier commit wanted it'].map((why) => `promoted: ${why}`),
  ...[
    'apply/interrupted',
    'apply/keeps-changing',
    'apply/outcome-unknown',
    'guard/drift',
    'guard/latest-not-allowed',
    'guard/promotion-order',
    'guard/stale-plan',
    'pin/unknown-number',
    'pin/unknown-ref',
  ].map((code) => `problem: ${code}`),
  ...[
    'planned afresh',
    'a lost answer settled in the same run',
    'applied in spite of trouble',
    'an environment goes back to an older version',
    'made without a pin that follows',
    'several prompts in one run',
  ].map((what) => `situation: ${what}`),
  ...['read', 'create', 'set'].flatMap(callTroubles),
  'trouble: create fails late (unknown)',
  'trouble: killed late create',
  'trouble: set answered and ignored',
  'trouble: somebody writes meanwhile',
  'trouble: stopped',
];

const EXPECTED_OF: Readonly<Record<ProviderName, readonly string[]>> = {
  integration: [
    ...['made', 'not_made', 'unknown'].map((status) => `change: update-prompt ${status}`),
    ...[
      'apply/changed-meanwhile',
      'apply/fields-differ',
      'apply/not-active',
      'apply/rewritten',
      'apply/somebody-else-wrote',
      'pin/unknown-version',
      'service/drops-metadata',
    ].map((code) => `problem: ${code}`),
    'situation: looked at for a pin',
    'situation: adopted by a later run',
    ...callTroubles('update'),
    'trouble: update answered and ignored',
    'baselines made',
    'made again: numbers more than 20 versions back that were never pinned',
    "made again: a lost create followed by somebody else's create",
  ],
  langfuse: [
    'problem: prompt/other-type',
    'situation: a new version creates its prompt',
    'situation: a chat prompt gets a new version',
    'situation: a label of a chat prompt goes back to an older version',
    'drift: moved back',
    'drift: somebody moved it back',
    'made again: without a label that stays, and not among the 20 newest versions',
    'accepted: a number used again between a look and a write',
  ],
};

function callTroubles(call: string): readonly string[] {
  return [
    `trouble: killed before ${call}`,
    `trouble: killed after ${call}`,
    `trouble: ${call} fails after (unknown)`,
    ...['not-sent', 'rejected', 'unknown'].map((effect) => `trouble: ${call} fails before (${effect})`),
  ];
}

export function unreached(provider: ProviderName, statistics: Statistics): readonly string[] {
  return [...EXPECTED, ...EXPECTED_OF[provider]].filter((what) => !statistics.has(what));
}

/** How often each command and each situation occurred. */
export type Statistics = Map<string, number>;

export function note(statistics: Statistics, what: string, times = 1): void {
  statistics.set(what, (statistics.get(what) ?? 0) + times);
}

export function addAll(to: Statistics, from: Iterable<readonly [what: string, times: number]>): void {
  for (const [what, times] of from) note(to, what, times);
}

export function rendered(statistics: Statistics): string {
  const rows = [...statistics].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return rows.map(([what, times]) => `${String(times).padStart(10)}  ${what}\n`).join('');
}
