import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inShard } from '../../src/domain/shard-of.ts';
import { commitAll, git, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
const SHARDS = [1, 2, 3] as const;

function namesIn(index: number): readonly string[] {
  const prompts = NAMES.map((name) => ({ name, id: `prm_${name}` }));
  return inShard(prompts, { index, of: SHARDS.length }).map(({ name }) => name);
}

function filesOf(parts = {}) {
  return workspaceFiles(Object.fromEntries(NAMES.map((name) => [name, parts])));
}

type Stage = {
  readonly service: TestService;
  readonly folder: string;
  /** Runs a command in one shard, and keeps its report. */
  readonly inShard: (index: number, words: readonly string[], environment?: object) => ReturnType<typeof runJson>;
  /** Merges the reports that were kept last. */
  readonly merge: (...flags: readonly string[]) => ReturnType<typeof runJson>;
};

async function begin(folder: string): Promise<Stage> {
  const service = await startTestService(NAMES);
  const names = SHARDS.map((index) => `report-${index}.json`);
  return {
    ...{ service, folder },
    inShard: async (index, words, environment = {}) => {
      const options = { environment: { ...service.environment, ...environment } };
      const ran = await runJson(folder, [...words, '--shard', `${index}/${SHARDS.length}`], options);
      writeFileSync(join(folder, `report-${index}.json`), ran.stdout);
      return ran;
    },
    merge: (...flags) => runJson(folder, ['report', 'merge', ...names, ...flags]),
  };
}

const SYNC = ['sync', '--yes', '--allow-dirty'];

test('Three jobs plan, apply what was reviewed, and one report tells all of it', async () => {
  const { folder, service, inShard: inOne, merge } = await begin(makeRepository(filesOf()));
  for (const index of SHARDS) {
    const { report, exitCode } = await inOne(index, ['plan', '--exit-code']);
    expect(exitCode).toBe(2);
    expect(report.shard).toEqual({ index, of: 3 });
    expect(report.prompts.map(({ key }) => key)).toEqual(namesIn(index));
    expect(report.summary.prompts).toBe(namesIn(index).length);
  }
  const planned = await merge('--exit-code');
  expect(planned.exitCode).toBe(2);
  expect(planned.report.prompts.map(({ key }) => key)).toEqual(NAMES);
  expect(service.takeWrites()).toEqual([]);

  for (const { index, plan_digest: digest } of planned.report.shards ?? []) {
    const { exitCode } = await inOne(index, [...SYNC, '--expect-plan', digest ?? '']);
    expect(exitCode).toBe(0);
    const writes = service.takeWrites().filter((write) => write.endsWith('versions'));
    expect(writes.toSorted()).toEqual(namesIn(index).map((name) => `POST prm_${name} versions`));
  }
  const applied = await merge();
  expect(applied.exitCode).toBe(0);
  expect(applied.report.summary).toMatchObject({ prompts: 9, applied: 9, create_version: 9, set_active: 9 });
  const after = await runJson(folder, ['plan', '--exit-code'], service);
  expect([after.exitCode, after.report.summary.unchanged]).toEqual([0, 9]);
});

test('A plan of another shard is not the one that was reviewed', async () => {
  const { inShard: inOne } = await begin(makeRepository(filesOf()));
  const { report } = await inOne(1, ['plan']);
  const refused = await inOne(2, [...SYNC, '--expect-plan', report.plan_digest ?? '']);
  expect(refused.exitCode).toBe(3);
});

test.each<[string, object, string, number, number, string]>([
  ['whose key is refused', { PROMPTSYNC_API_KEY: 'wrong' }, '', 1, 4, 'failed'],
  ['that has no key', { PROMPTSYNC_API_KEY: '' }, '', 1, 4, 'not_attempted'],
  ['that a guard refuses', {}, '--max-changes=0', 3, 3, 'blocked'],
])('A shard %s does not stop the others, and the whole says so', async (_, environment, flag, own, whole, status) => {
  const { folder, service, inShard: inOne, merge } = await begin(makeRepository(filesOf()));
  for (const index of [1, 3]) expect((await inOne(index, SYNC)).exitCode).toBe(0);
  const words = flag === '' ? SYNC : [...SYNC, flag];
  expect((await inOne(2, words, environment)).exitCode).toBe(own);
  const { exitCode, report } = await merge();
  expect(exitCode).toBe(whole);
  const ofSecond = report.prompts.filter((prompt) => prompt.status === status).map(({ key }) => key);
  expect(ofSecond).toEqual(namesIn(2));
  expect(report.summary.applied).toBe(NAMES.length - ofSecond.length);
  const { stdout } = await run(folder, ['report', 'merge', ...SHARDS.map((index) => `report-${index}.json`)]);
  expect(stdout).toContain(`${report.summary.create_version} created`);
  expect(stdout).not.toContain('nothing was written');
  expect((await inOne(2, SYNC)).exitCode).toBe(0);
  expect((await runJson(folder, ['plan', '--exit-code'], service)).exitCode).toBe(0);
});

test('A file that is gone is told by the one shard that its id falls into', async () => {
  const stage = await begin(makeRepository(filesOf()));
  const { folder, service } = stage;
  git(folder, 'rm', '--quiet', 'prompts/a.md', 'prompts/f.md');
  commitAll(folder, 'Remove two');
  for (const index of SHARDS) {
    const { report } = await stage.inShard(index, ['plan', '--base', 'HEAD^']);
    const gone = report.problems.filter(({ code }) => code === 'prompt/gone').map(({ path }) => path);
    const expected = ['a', 'f'].filter((name) => namesIn(index).includes(name)).map((name) => `prompts/${name}.md`);
    expect(gone).toEqual(expected);
  }
  const whole = await runJson(folder, ['plan', '--base', 'HEAD^'], service);
  expect((await stage.merge()).report.problems).toEqual(whole.report.problems);
});

test('A file that only another shard or --only leaves out is not gone', async () => {
  const stage = await begin(makeRepository(filesOf()));
  writeFiles(stage.folder, filesOf({ text: 'Edited' }));
  commitAll(stage.folder, 'Edit all');
  for (const index of SHARDS) {
    for (const more of [[], ['--only', 'a'], ['--only', '{a,b,c,d}']]) {
      const { report } = await stage.inShard(index, ['plan', '--base', 'HEAD^', ...more]);
      expect(report.problems).toEqual([]);
    }
  }
});

describe('all files are checked by each shard', () => {
  test('so a key that is there twice is found by all, and told once', async () => {
    const twice = { 'prompts/z.md': promptText('z', { key: 'a' }) };
    const stage = await begin(makeWorkspace({ ...filesOf(), ...twice }));
    for (const index of SHARDS) {
      const { exitCode, report } = await stage.inShard(index, ['plan']);
      expect(exitCode).toBe(1);
      expect(report.problems).toMatchObject([{ code: 'prompt/duplicate-key' }, { code: 'prompt/duplicate-key' }]);
      expect(report.shard).toEqual({ index, of: 3 });
    }
    const { exitCode, report } = await stage.merge();
    expect(exitCode).toBe(1);
    expect(report.problems.length).toBe(2);
  });

  test('and so is what --only names', async () => {
    const stage = await begin(makeWorkspace(filesOf()));
    const planned = await Promise.all(SHARDS.map((index) => stage.inShard(index, ['plan', '--only', '[ab]'])));
    expect(planned.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    expect(planned.flatMap(({ report }) => report.prompts.map(({ key }) => key)).toSorted()).toEqual(['a', 'b']);
    for (const index of SHARDS) {
      const { exitCode, report } = await stage.inShard(index, ['plan', '--only', 'nothing']);
      expect([exitCode, report.problems[0]?.code]).toEqual([1, 'usage/nothing-selected']);
    }
  });
});

describe('a shard without prompts', () => {
  test.each([['plan'], ['status'], ['sync', '--yes']])('has nothing to do: %s', async (...words) => {
    const service = await startTestService(['a']);
    const folder = makeWorkspace(workspaceFiles({ a: {} }));
    const empty = [1, 2, 3].find((index) => inShard([{ id: 'prm_a' }], { index, of: 3 }).length === 0);
    const { exitCode, stdout, stderr } = await run(folder, [...words, '--shard', `${empty}/3`], service);
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: `nothing to do: 0 prompts in sync. Shard ${empty} of 3.\n`,
      stderr: '',
    });
    expect(service.requests).toEqual([]);
  });

  test('is another thing than a repository without any', async () => {
    const service = await startTestService([]);
    const { exitCode, report } = await runJson(makeWorkspace(workspaceFiles({})), ['plan', '--shard', '1/3'], service);
    expect([exitCode, report.problems[0]?.code]).toEqual([1, 'prompt/none-found']);
  });
});

test('With --changed-since each shard knows what it has completed itself', async () => {
  const stage = await begin(makeRepository(filesOf()));
  for (const index of [1, 2]) expect((await stage.inShard(index, SYNC)).exitCode).toBe(0);
  const [edited = ''] = namesIn(2);
  writeFiles(stage.folder, { [`prompts/${edited}.md`]: promptText(edited, { text: 'Edited' }) });
  commitAll(stage.folder, 'Edit one');
  const looked = [];
  for (const index of SHARDS) {
    const { report } = await stage.inShard(index, [...SYNC, '--changed-since', 'HEAD^', '--base', 'HEAD^']);
    looked.push(report.prompts.map(({ key }) => key));
    expect(report.problems).toEqual([]);
  }
  expect(looked).toEqual([[], [edited], namesIn(3)]);
  const { exitCode, report } = await stage.merge();
  const left = namesIn(1).length + namesIn(2).length - 1;
  expect(exitCode).toBe(0);
  expect(report.summary).toMatchObject({ prompts: 1 + namesIn(3).length, not_looked_at: left });
  expect((await runJson(stage.folder, ['plan', '--exit-code'], stage.service)).exitCode).toBe(0);
});

test('A percentage of changes is one of the prompts of the shard', async () => {
  const stage = await begin(makeRepository(filesOf()));
  const [first] = namesIn(1);
  await runJson(stage.folder, SYNC, stage.service);
  writeFiles(stage.folder, { [`prompts/${first}.md`]: promptText(first ?? '', { text: 'Edited' }) });
  commitAll(stage.folder, 'Edit one');
  const percent = Math.floor(100 / namesIn(1).length);
  const allowed = await stage.inShard(1, ['plan', '--max-changes', `${percent}%`]);
  expect(allowed.exitCode).toBe(0);
  const refused = await stage.inShard(1, ['plan', '--max-changes', '0%']);
  expect(refused.exitCode).toBe(3);
  expect(refused.report.prompts.map(({ key }) => key)).toEqual(namesIn(1));
});

test.each(['0/3', '4/3', '1/1001', '3', 'a/b', ''])('--shard %j is a matter of usage', async (shard) => {
  const { exitCode, report } = await runJson(makeWorkspace(filesOf()), ['plan', `--shard=${shard}`]);
  expect(exitCode).toBe(1);
  expect(report.problems[0]?.message).toContain('Expected I/N such as 2/5, where I is 1 to N and N at most 1000.');
});

test('The question before a sync says which shard it is of', async () => {
  const stage = await begin(makeWorkspace(filesOf()));
  const answer = { ...stage.service, terminal: true, input: 'n\n' };
  const { stderr } = await run(stage.folder, ['sync', '--shard', '2/3', '--no-color'], answer);
  expect(stderr).toMatch(/^Plan: .*\. Shard 2 of 3\.$/m);
});
