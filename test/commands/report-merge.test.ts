import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { shardOf } from '../../src/domain/shard-of.ts';
import type { Shard } from '../../src/domain/shard.ts';
import { makeProblem } from '../../src/problem.ts';
import type { Report, ReportPrompt } from '../../src/report/schema.ts';
import { makeFolder } from '../support/folder.ts';
import { run, runJson } from '../support/run.ts';

const DIGEST = `sha256:${'0a'.repeat(32)}`;
const NOTHING = {
  ...{ prompts: 0, unchanged: 0, create_version: 0, update_prompt: 0, set_active: 0 },
  ...{ blocked: 0, applied: 0, failed: 0, not_attempted: 0 },
};

function promptOf(id: string, status: ReportPrompt['status'], service?: string): ReportPrompt {
  const named = service === undefined ? {} : { service };
  return { path: `prompts/${id}.md`, id, key: id, ...named, status, changes: [], drift: [], problems: [] };
}

type Parts = Partial<Omit<Report, 'prompts'>> & { readonly prompts?: readonly ReportPrompt[] };

/** A plan of one shard of three, with a prompt that is in sync. The ids are made to be of the shard. */
function shard(index: number, { prompts = [promptOf(`prm_${index}`, 'unchanged')], ...parts }: Parts = {}): Report {
  const own = parts.shard ?? { index, of: 3 };
  const summary = { ...NOTHING, prompts: prompts.length };
  for (const { status } of prompts) if (status !== 'pending') summary[status] += 1;
  return {
    ...{ schema_version: 1, mode: 'dry-run', service: 'https://a.example', commit: 'c1', plan_digest: DIGEST },
    ...{ shard: own, summary, prompts: prompts.map((one) => ({ ...one, id: idIn(own, one.id) })), problems: [] },
    ...parts,
  };
}

function idIn({ index, of }: Shard, name: string): string {
  for (let number = 0; ; number += 1) if (shardOf(`${name}_${number}`, of) === index) return `${name}_${number}`;
}

function whole(parts: Parts = {}): Report {
  const { shard: _, ...report } = shard(1, parts);
  return report;
}

async function merge(files: readonly (Report | string)[], ...flags: readonly string[]) {
  const { folder, names } = write(files);
  return runJson(folder, ['report', 'merge', ...names, ...flags]);
}

/** Writes a.json, b.json, …; reports as JSON. */
function write(files: readonly (Report | string)[]) {
  const folder = makeFolder();
  const names = files.map((file, index) => {
    const name = `${String.fromCharCode(97 + index)}.json`;
    writeFileSync(join(folder, name), typeof file === 'string' ? file : JSON.stringify(file));
    return name;
  });
  return { folder, names };
}

/** The places and codes of what is said about the merge. */
function said({ problems }: Report): readonly string[] {
  return problems.map(({ path, code }) => `${path ?? ''} ${code}`.trim());
}

describe('reports that do not fit together', () => {
  const [one, two, three] = [shard(1), shard(2), shard(3)];
  test.each<[string, readonly (Report | string)[], readonly string[], string]>([
    ['a shard is missing', [one, three], ['merge/missing-shards'], 'Of 3 shards the reports of these are missing: 2.'],
    ['all but one are missing', [two], ['merge/missing-shards'], 'are missing: 1, 3.'],
    [
      'a great many are missing',
      [shard(1, { shard: { index: 1, of: 1000 } })],
      ['merge/missing-shards'],
      'are missing: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, and 979 more.',
    ],
    [
      'a shard is there twice',
      [one, two, three, two],
      ['d.json merge/repeated-shard'],
      'Shard 2 of 3 is reported by b.json as well.',
    ],
    [
      'one is there twice and one is missing',
      [one, one, three],
      ['merge/missing-shards', 'b.json merge/repeated-shard'],
      'are missing: 2.',
    ],
    [
      'shards of different numbers',
      [one, shard(2, { shard: { index: 2, of: 2 } }), three],
      ['b.json merge/differs'],
      'The number of shards is "2" here and "3" in a.json.',
    ],
    [
      'a plan and a sync',
      [one, shard(2, { mode: 'apply' }), three],
      ['b.json merge/differs'],
      'The mode is "apply" here and "dry-run" in a.json.',
    ],
    [
      'two commits',
      [shard(1, { commit: null }), two, shard(3, { commit: 'c2' })],
      ['c.json merge/differs'],
      'The commit is "c2" here and "c1" in b.json.',
    ],
    [
      'one that has not looked at all prompts',
      [one, shard(2, { changed_since: 'c0' }), three],
      ['b.json merge/differs'],
      'The base of --changed-since is "c0" here and "none" in a.json.',
    ],
    [
      'two services',
      [one, two, shard(3, { service: 'https://b.example' })],
      ['c.json merge/differs'],
      'The service is "https://b.example" here and "https://a.example" in a.json.',
    ],
    [
      'a service that is another one elsewhere',
      [
        shard(1, { service: 'eu: https://a.example', prompts: [promptOf('a', 'unchanged', 'eu')] }),
        shard(2, { service: 'eu: https://b.example', prompts: [promptOf('b', 'unchanged', 'eu')] }),
        shard(3, { service: null, prompts: [] }),
      ],
      ['b.json merge/differs'],
      'The service "eu" is "https://b.example" here and "https://a.example" in a.json.',
    ],
    [
      'one service and several',
      [one, two, shard(3, { service: 'eu: https://b.example', prompts: [promptOf('b', 'unchanged', 'eu')] })],
      ['c.json merge/differs'],
      'The kind of services is "named" here and "one" in a.json.',
    ],
    [
      'a prompt in two shards',
      [one, { ...two, prompts: one.prompts }, three],
      ['b.json merge/repeated-prompt'],
      'is in a.json as well.',
    ],
    [
      'a prompt of another shard',
      [one, { ...two, prompts: [] }, { ...three, prompts: [...two.prompts, ...three.prompts] }],
      ['c.json merge/stray-prompt'],
      'is not one of shard 3 of 3.',
    ],
    ['one of several is of no shard', [one, whole(), three], ['b.json merge/no-shard'], 'The report is of no shard.'],
    [
      'several are of no shard',
      [whole(), whole({ prompts: [] })],
      ['a.json merge/no-shard', 'b.json merge/no-shard'],
      'of no shard',
    ],
    [
      'one that is about files',
      [whole({ mode: 'pull' })],
      ['a.json merge/mode'],
      'Reports of the mode "pull" are not merged.',
    ],
    ['a merge that was refused', [whole({ mode: 'report' })], ['a.json merge/mode'], '"report"'],
  ])('are refused: %s', async (_, files, problems, message) => {
    const { exitCode, report } = await merge(files);
    expect(said(report)).toEqual(problems);
    expect(report.problems[0]?.message).toContain(message);
    expect(report).toMatchObject({ mode: 'report', prompts: [], plan_digest: null });
    expect(exitCode).toBe(1);
  });

  test('are all told at once, and nobody reads that nothing was written', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'a.json'), '{');
    const { exitCode, stdout } = await run(folder, ['report', 'merge', 'a.json', 'none.json']);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^a\.json: error: The file is not JSON\. \[merge\/not-json\]$/m);
    expect(stdout).toMatch(/^none\.json: error: The report cannot be read \(ENOENT\)\. \[merge\/unreadable\]$/m);
    expect(stdout).toMatch(/^2 errors; nothing was merged\.$/m);
  });

  test('no file at all is a matter of usage', async () => {
    const { exitCode, report } = await merge([]);
    expect(exitCode).toBe(1);
    expect(report).toMatchObject({ mode: 'report', problems: [{ code: 'usage/invalid' }] });
  });
});

describe('a file that is no report', () => {
  const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  test.each<[string, string, string, string]>([
    ['empty', '', 'merge/not-json', 'The file is not JSON'],
    ['cut off', JSON.stringify(shard(1)).slice(0, -20), 'merge/not-json', 'The file is not JSON'],
    ['text', 'Plan: nothing.', 'merge/not-json', 'The file is not JSON'],
    ['nested a hundred thousand times', nested, 'merge/no', 'The file is not'],
    ['null', 'null', 'merge/not-a-report', 'the report: Invalid input: expected object'],
    ['a list of reports', JSON.stringify([shard(1)]), 'merge/not-a-report', 'the report: '],
    ['an empty object', '{}', 'merge/not-a-report', 'schema_version: '],
    [
      'of a later schema',
      '{"schema_version":2}',
      'merge/other-schema',
      'the schema version 2; this promptsync reads 1.',
    ],
    ['of the schema "1"', '{"schema_version":"1"}', 'merge/not-a-report', 'schema_version: '],
    ['of no mode', JSON.stringify({ ...shard(1), mode: 'push' }), 'merge/not-a-report', 'mode: '],
    ['a count below zero', textWith({ prompts: -1 }), 'merge/not-a-report', 'summary.prompts: '],
    ['a count that is none', textWith({ failed: null }), 'merge/not-a-report', 'summary.failed: '],
    ['a shard zero', textOf({ shard: { index: 0, of: 3 } }), 'merge/not-a-report', 'shard.index: '],
    ['a shard of more than there may be', textOf({ shard: { index: 1, of: 1e9 } }), 'merge/not-a-report', 'shard.of: '],
    ['a shard beyond the last', textOf({ shard: { index: 4, of: 3 } }), 'merge/not-a-report', 'shard: '],
    ['a digest that is none', textOf({ plan_digest: 'sha256:x' }), 'merge/not-a-report', 'plan_digest: '],
    ['prompts as an object', textOf({ prompts: { __proto__: null } }), 'merge/not-a-report', 'prompts: '],
    ['a prompt without an id', textOf({ prompts: [{ path: 'a' }] }), 'merge/not-a-report', 'prompts.0.id: '],
    ['a severity of its own', textOf({ problems: [{ severity: 'fatal' }] }), 'merge/not-a-report', 'problems.0.'],
  ])('is told with what is wrong: %s', async (_, text, code, message) => {
    const { exitCode, report } = await merge([shard(1), text, shard(3)]);
    expect(exitCode).toBe(1);
    expect(report.problems).toMatchObject([{ code: expect.stringContaining(code), path: 'b.json' }]);
    expect(report.problems[0]?.message).toContain(message);
    expect(report.problems[0]?.message).not.toContain('\n    at ');
  });

  function textOf(parts: object): string {
    return JSON.stringify({ ...shard(2), ...parts });
  }

  function textWith(counts: object): string {
    return textOf({ summary: { ...NOTHING, ...counts } });
  }

  test.each<[string, (folder: string) => void, string]>([
    ['is not there', () => {}, 'ENOENT'],
    ['is a folder', (folder) => mkdirSync(join(folder, 'r.json')), 'it is no file'],
  ])('%s', async (_, prepare, reason) => {
    const folder = makeFolder();
    prepare(folder);
    const { exitCode, report } = await runJson(folder, ['report', 'merge', 'r.json']);
    expect(exitCode).toBe(1);
    expect(report.problems).toMatchObject([{ code: 'merge/unreadable', path: 'r.json' }]);
    expect(report.problems[0]?.message).toContain(reason);
  });

  test('is inert, whatever it says', async () => {
    const evil = '\u001b[2J::error::x\n::set-output name=a::b';
    const reports = [1, 2, 3].map((index) => shard(index, { prompts: [promptOf(`${evil}${index}`, 'failed')] }));
    const folder = makeFolder();
    reports.forEach((one, index) => writeFileSync(join(folder, `${index}.json`), JSON.stringify(one)));
    for (const format of ['text', 'markdown', 'json']) {
      const ran = await run(folder, ['report', 'merge', '0.json', '1.json', '2.json', '--format', format]);
      expect(ran.stdout + ran.stderr).not.toContain('\u001b');
      expect(ran.stdout + ran.stderr).not.toMatch(/^\s*::/m);
    }
  });
});

describe('a merged report', () => {
  test('has the shards in order, whatever the order of the files, and no digest of its own', async () => {
    const digests = ['1', '2', '3'].map((digit) => `sha256:${digit.repeat(64)}`);
    const reports = digests.map((plan_digest, index) => shard(index + 1, { plan_digest })).toReversed();
    const { exitCode, report } = await merge(reports);
    expect(exitCode).toBe(0);
    expect(report.plan_digest).toBeNull();
    expect(report.shards).toEqual(digests.map((plan_digest, index) => ({ index: index + 1, of: 3, plan_digest })));
    expect(report.shard).toBeUndefined();
    expect(report.prompts.map(({ key }) => key)).toEqual(['prm_1', 'prm_2', 'prm_3']);
    expect(report.summary.prompts).toBe(3);
  });

  test('of a run in one shard keeps the digest', async () => {
    const { report } = await merge([shard(1, { shard: { index: 1, of: 1 } })]);
    expect(report.plan_digest).toBe(DIGEST);
  });

  test('tells once what each shard has found', async () => {
    const shallow = makeProblem('git/shallow');
    const hidden = makeProblem('prompt/hidden-character', { character: 'x', count: 1 }, { path: 'prompts/a.md' });
    const own = makeProblem('prompt/gone', { id: 'b', base: 'HEAD', serves: '.' }, { path: 'prompts/b.md' });
    const { report } = await merge([
      shard(1, { problems: [shallow, own] }),
      shard(2, { problems: [shallow, hidden] }),
      shard(3, { problems: [shallow, hidden] }),
    ]);
    expect(report.problems).toEqual([shallow, hidden, own]);
  });

  test('counts what was not looked at, also where a shard could not begin', async () => {
    const narrowed = (count: number): Parts => ({
      changed_since: 'c0',
      summary: { ...NOTHING, unchanged: 1, prompts: 1, not_looked_at: count },
    });
    const { report } = await merge([shard(1, cannotRun), shard(2, narrowed(5)), shard(3, narrowed(7))]);
    expect(report).toMatchObject({ changed_since: 'c0', summary: { not_looked_at: 12, unchanged: 2 } });
  });

  test('names all services, each once', async () => {
    const { report } = await merge([
      shard(1, { service: 'us: https://us.example', prompts: [promptOf('a', 'unchanged', 'us')] }),
      shard(2, { service: null, prompts: [] }),
      shard(3, {
        service: 'eu, old: https://eu.example, us: https://us.example',
        prompts: [promptOf('c', 'unchanged', 'us'), promptOf('b', 'unchanged', 'eu, old')],
      }),
    ]);
    expect(report.service).toBe('eu, old: https://eu.example, us: https://us.example');
  });

  test('of one run without shards is that report', async () => {
    const report = whole({ mode: 'status' });
    expect((await merge([report])).report).toEqual(report);
  });

  test('of merged reports is the same again', async () => {
    const merged = (await merge([shard(1), shard(2), shard(3)])).report;
    expect((await merge([merged])).report).toEqual(merged);
  });

  const cannotRun: Parts = {
    ...{ service: null, commit: null, plan_digest: null, prompts: [promptOf('x', 'not_attempted')] },
    problems: [makeProblem('config/missing-key', { variable: 'KEY' })],
  };
  const blind: Parts = { plan_digest: null, prompts: [promptOf('y', 'failed')] };
  const interrupted: ReportPrompt = {
    ...promptOf('z', 'not_attempted'),
    problems: [makeProblem('apply/interrupted')],
  };

  test.each<[number, string, readonly [Parts, Parts, Parts], string]>([
    [0, 'all is in sync', [{}, {}, {}], 'nothing to do: 3 prompts in sync. 3 shards.'],
    [0, 'shards are empty', [{ prompts: [] }, {}, { prompts: [] }], 'nothing to do: 1 prompt in sync'],
    [2, 'one has changes', [{}, { prompts: [promptOf('a', 'pending')] }, {}], ''],
    [3, 'one was refused', [{}, { prompts: [promptOf('a', 'pending'), promptOf('b', 'blocked')] }, {}], '1 blocked'],
    [4, 'one prompt could not be read', [{}, { prompts: [promptOf('a', 'failed')] }, {}], '1 failed'],
    [4, 'no prompt of one shard could be read', [{}, blind, {}], '1 failed'],
    [
      1,
      'none of any could',
      [blind, { ...blind, prompts: [promptOf('a', 'failed')] }, { prompts: [] }],
      'could be observed',
    ],
    [4, 'one shard could not run', [{}, cannotRun, {}], '1 error. Plan: 1 not attempted'],
    [
      4,
      'one shard could not run and one was refused',
      [{}, cannotRun, { prompts: [promptOf('b', 'blocked')] }],
      '1 error. ',
    ],
    [
      1,
      'none could run',
      [cannotRun, { ...cannotRun, prompts: [] }, { ...cannotRun, prompts: [] }],
      'nothing was written',
    ],
    [
      1,
      'one could not run, the others have nothing',
      [cannotRun, { prompts: [] }, { prompts: [] }],
      'nothing was written',
    ],
    [130, 'one was interrupted', [blind, cannotRun, { prompts: [interrupted] }], ''],
  ])('comes to %i where %s', async (code, _, parts, line) => {
    const reports = parts.map((one, index) => shard(index + 1, one));
    expect((await merge(reports, '--exit-code')).exitCode).toBe(code);
    expect((await merge(reports)).exitCode).toBe(code === 2 ? 0 : code);
    const { folder, names } = write(reports);
    expect((await run(folder, ['report', 'merge', ...names])).stdout).toContain(line);
  });
});
