import { makeProblem } from '../../../src/problem.ts';
import type { Report, ReportChange, ReportDrift, ReportPrompt } from '../../../src/report/schema/report-schema.ts';
import { DIGEST, promptOf, ref, reportOf, setActive, type SetActive, summarize } from '../support.ts';

/** The versions that an environment serves before and after a change. */
const move = (environment: string, before: number | null, after: number | 'new', parts: Partial<SetActive> = {}) =>
  setActive({
    ...{ environment, before: before === null ? null : ref(before) },
    ...{ after: after === 'new' ? { new: true } : ref(after), ...parts },
  });
const create = { kind: 'create-version', digest: DIGEST, change_summary: 'Soften the tone' } as const;
const rename = (before: string, after: string, parts: object = {}): ReportChange => {
  return { kind: 'update-prompt', fields: { name: { before, after, ...parts } } };
};

const moved: ReportDrift = {
  ...{ environment: 'production', kind: 'outside', restores: true, expected: ref(7), pull: true },
  observed: { ...ref(9), made_by: 'outside' },
};
const named: ReportDrift = {
  ...{ field: 'name', kind: 'outside', restores: true, expected: 'Ours', observed: 'Theirs', pull: true },
};

const greeting = {
  ...{ before_text: 'Hi {{name}}\nBe kind.\nBye.', after_text: 'Hello {{town}}\nBe kind.\nBye.' },
  breaking: [
    { variable: 'town', kind: 'added' },
    { variable: 'name', kind: 'removed' },
  ],
} as const;
const agent = {
  ...{ before_text: '{{role "user"}}\nA', after_text: '{{role "system"}}\nA\n\n{{role "user"}}\nA' },
  messages: { before: ['user'], after: ['system', 'user'] },
};
const since = { commit: '1a2b3c4d5e6f7890', date: '2026-07-28' };

const tooMany = makeProblem('guard/max-changes', { changing: 2, allowed: 1 });
const oddPin = makeProblem('usage/invalid', { reason: `Odd pin, ${'and more '.repeat(9)}words.` });
const timeout = makeProblem('service/timeout', { seconds: 15 });
const hidden = (path: string, character: string) =>
  makeProblem('prompt/hidden-character', { character: `\\u{${character}}`, count: 1 }, { path, line: 7, column: 3 });

/** A prompt with changes. By default, a plan would make them. */
const of = (key: string, changes: readonly ReportChange[], parts: Partial<ReportPrompt> = {}) =>
  promptOf({ key, status: 'pending', changes, ...parts });

const PLANNED = [
  of('greeting', [
    { ...create, metadata_from: ref(6), kept_metadata: 'model: "m"\nlevels: [1]' },
    {
      kind: 'update-prompt',
      fields: { key: { before: 'hi', after: 'greeting' }, description: { before: '', after: 'Why' } },
    },
    move('dev', 5, 6),
    move('staging', 6, 'new', greeting),
    move('production', 6, 'new', greeting),
  ]),
  of(
    'agent',
    [move('staging', 3, 4, agent), move('production', 2, 4, { ...agent, messages: { before: [], after: ['user'] } })],
    { type: 'chat', url: 'https://prompts.example.com/agent' },
  ),
  of('first', [
    { ...create, ref: 'v1.4.0', change_summary: null },
    move('staging', null, 'new', { after_text: 'One.\nTwo.' }),
  ]),
  of('unused', [create]),
  of('baseline', [{ ...create, baseline: true }]),
  of('by-id', [move('staging', 1, 2, { after: { id: 'ver_x', version_number: null }, wanted_since: since })], {
    drift: [{ ...moved, environment: 'staging', kind: 'unfinished' }],
    affected: [{ path: 'whole.md', key: 'whole' }],
  }),
  of('behind', [rename('New', 'Old', { behind: true })]),
  of(
    'moved',
    [
      move('production', 9, 7, { ...agent, before_text: 'Theirs.', after_text: 'Ours.' }),
      move('staging', 6, 7, { before_text: 'Old.', after_text: 'Ours.' }),
    ],
    { type: 'chat', drift: [moved] },
  ),
  of('renamed', [rename('Theirs', 'Ours')], { drift: [named] }),
  of('replaced', [move('production', 9, 8)], { drift: [{ ...moved, restores: false }] }),
  of('unfinished', [move('production', 9, 7)], { drift: [{ ...moved, kind: 'unfinished' }] }),
  of('large', [move('production', 1, 2, { after_text: null, text_omitted: true })]),
  of('blocked', [move('staging', 1, 2)], { status: 'blocked', problems: [tooMany] }),
  of('blocked-too', [move('staging', 1, 2)], { status: 'blocked', problems: [tooMany] }),
  of('refused', [], {
    status: 'blocked',
    problems: [{ ...oddPin, path: 'refused.md', line: 4, column: 12 }],
  }),
  promptOf({ key: 'same', problems: [hidden('same.md', '200b')] }),
];

/** A prompt to which a sync made these changes. */
const applied = (key: string, changes: readonly ReportChange[], parts: Partial<ReportPrompt> = {}) =>
  of(key, changes, { status: 'applied', ...parts });
const created = { ...create, status: 'made', version: ref(8) } as const;
const adopted = { ...created, status: 'adopted' } as const;
const released = move('production', 7, 8, { status: 'made' });
const APPLIED = [
  applied('made', [created, released]),
  applied('adopted', [adopted, released]),
  applied('lost', [{ ...adopted, recovered: true }, released]),
  applied('restored', [move('production', 9, 7, { status: 'made' })], { drift: [moved] }),
  of(
    'half',
    [
      created,
      { ...rename('Old', 'New'), status: 'not_made' },
      move('production', 7, 8, { status: 'unknown', before_text: 'a', after_text: 'b' }),
    ],
    { status: 'failed', problems: [timeout] },
  ),
  of('not-restored', [move('production', 9, 7, { status: 'not_made' })], {
    status: 'failed',
    drift: [moved],
    problems: [{ ...timeout, path: 'elsewhere.md', line: 2 }],
  }),
  of('unsure', [move('production', 9, 7, { status: 'unknown' })], { status: 'failed', drift: [moved] }),
  promptOf({
    key: 'unread',
    status: 'failed',
    problems: [makeProblem('service/unexpected-status', { status: 503, said: '' })],
  }),
  promptOf({ key: 'next', status: 'not_attempted' }),
  promptOf({ key: 'same' }),
];

const row = (environment: string, parts: Partial<NonNullable<ReportPrompt['environments']>[number]> = {}) => {
  return { environment, pin: 'latest', active: ref(1), wanted: ref(1), in_sync: true, ...parts };
};
const STATUS = [
  promptOf({ key: 'in-sync', environments: [row('staging'), row('production')] }),
  promptOf({
    key: 'waiting',
    environments: [row('staging')],
    waiting: [{ environment: 'production', from: 'staging', versions: 2, since: null }],
  }),
  of('changed', [rename('a', 'b')], {
    environments: [row('staging', { wanted: { new: true }, in_sync: false }), row('production')],
  }),
  promptOf({ key: 'first', environments: [row('staging', { active: null, wanted: { new: true }, in_sync: false })] }),
  promptOf({ key: 'lost', environments: [row('production', { pin: '7', wanted: null, in_sync: false })] }),
  promptOf({ key: 'blocked', status: 'blocked', environments: [row('staging')], problems: [tooMany] }),
  promptOf({
    key: 'unread',
    status: 'failed',
    environments: [row('staging', { active: null, wanted: null, in_sync: false })],
    problems: [timeout],
  }),
  promptOf({ key: 'skipped', status: 'not_attempted', environments: [row('staging')] }),
];

const commit = { commit: '9f2c1ab04d3e'.padEnd(40, '0'), author: 'Ada', date: '2026-01-02T03:04:05+01:00' };
const version = (number: number, parts: object = {}) => {
  const made = { ...ref(number), digest: DIGEST, made_by: 'git', ...commit, subject: 'First' } as const;
  return { ...made, active_in: [], pinned: [], ...parts };
};
const time = { environment: 'production', from: { ...commit, subject: 'Promote' }, until: null, served: true };
const HISTORY = [
  promptOf({
    key: 'used',
    history: {
      versions: [
        version(6, { active_in: ['production', 'qa'], pinned: [{ ...time, served: false }, time] }),
        version(5, { pull_request: '#7' }),
        version(4, { subject: 'A (#7)', pull_request: '#7' }),
        version(3, { subject: '' }),
        version(2, { date: '2026-01-02T23:30:00-02:00' }),
        version(1, { date: 'soon' }),
      ],
    },
  }),
  promptOf({
    key: 'unused',
    history: { versions: [] },
    environments: [row('staging', { pin: '7', active: null, wanted: null, in_sync: false })],
  }),
  promptOf({ key: 'from', lineage: { environment: 'production', serves: version(6), pinned: commit } }),
];

const invalid = makeProblem('prompt/missing-id', {}, { path: 'bad.md', line: 2, column: 1 });
const gone = makeProblem('prompt/gone', {
  ...{ id: 'p', key: 'k', base: 'main', file: 'deleted', pins: [], serves: '', newPath: null },
});

const record = (prompts: readonly ReportPrompt[], parts: Partial<Report> = {}) =>
  reportOf(prompts, { summary: summarize(prompts), ...parts });

/** A run without a service. */
const WITHOUT_SERVICE = { service: null, plan_digest: null } as const;
const VALID = [promptOf({ key: 'valid', status: 'not_attempted' })];
const stopped = makeProblem('apply/interrupted');

/** Reports that together contain everything that a report shows. The keys are the names of the recorded files. */
export const REPORTS: Readonly<Record<string, Report>> = {
  plan: record(PLANNED, {
    ...{ base: 'main', branch: 'main', promotion_order: ['dev', 'staging', 'production'] },
    problems: [gone, hidden('a.md', '200b'), hidden('b.md', '200c'), makeProblem('git/shallow', { of: 'drift' })],
  }),
  sync: record(APPLIED, { mode: 'apply', base: 'main', branch: 'main' }),
  status: record(STATUS, { mode: 'status' }),
  history: record(HISTORY, { mode: 'history', plan_digest: null }),
  offline: record([of('greeting', [move('staging', null, 'new', { after_text: 'Hi' })])], {
    ...{ ...WITHOUT_SERVICE, problems: [makeProblem('service/not-asked', { reason: 'this run has no API key' })] },
  }),
  'same-problem': record(
    ['a', 'b'].map((key) => promptOf({ key, status: 'failed', problems: [timeout] })),
    { plan_digest: null },
  ),
  'invalid-files': record(VALID, { ...WITHOUT_SERVICE, mode: 'apply', problems: [invalid, { ...invalid, line: 9 }] }),
  'no-service': record([], {
    ...WITHOUT_SERVICE,
    problems: [makeProblem('config/missing-service', { variables: ['PROMPTSYNC_BASE_URL'], suggestedUrl: null })],
  }),
  validate: record(VALID, { ...WITHOUT_SERVICE, mode: 'validate', commit: null }),
  nothing: record([promptOf()]),
  interrupted: record(
    [
      applied('a', [move('staging', 1, 2, { status: 'made' })]),
      of('b', [move('staging', 1, 2, { status: 'not_made' })], { status: 'not_attempted', problems: [stopped] }),
    ],
    { mode: 'apply' },
  ),
  pull: record(
    [
      of('greeting', [], {
        edits: [
          { kind: 'set-pin', environment: 'dev', before: 'latest', after: '4' },
          { kind: 'set-pin', environment: 'qa', before: '3', after: '4' },
          { kind: 'set-field', field: 'name', before: '"a b"', after: '"a\u00a0b"', conflict: false },
        ],
        status: 'applied',
      }),
      promptOf({ key: 'other', status: 'failed', problems: [makeProblem('pull/conflict', { places: 1 })] }),
    ],
    { mode: 'pull', plan_digest: null },
  ),
};
