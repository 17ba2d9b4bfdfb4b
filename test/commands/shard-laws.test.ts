import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Report } from '../../src/report/schema.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { CONFIG, promptText } from '../support/prompts.ts';
import { run, runJson, type RunOptions } from '../support/run.ts';
import { OTHER_KEY, startTestService } from '../support/service.ts';

/** What becomes of a prompt between the first sync and the plan. */
const states = fc.constantFrom('kept', 'kept', 'edited', 'new', 'blocked', 'unknown', 'hidden');
type State = 'kept' | 'edited' | 'new' | 'blocked' | 'unknown' | 'hidden';

const scenes = fc.record({
  states: fc.array(states, { minLength: 1, maxLength: 9 }),
  of: fc.integer({ min: 1, max: 7 }),
  several: fc.boolean(),
  order: fc.infiniteStream(fc.nat()),
});

type Scene = { readonly folder: string; readonly options: RunOptions };

/** Paths of files to their texts, before or after. */
function filesOf(all: readonly State[], several: boolean, after: boolean): Readonly<Record<string, string>> {
  return Object.fromEntries(
    all.flatMap((state, index) => {
      if (!after && (state === 'new' || state === 'unknown')) return [];
      const edited = after && state === 'edited' ? ' Edited.' : after && state === 'hidden' ? ' Hidden\u200b.' : '';
      const pins = { staging: after && state === 'blocked' ? 99 : 'latest' };
      const text = promptText(String(index), { pins, text: `Text.${edited}` });
      const service = index % 2 === 0 ? 'eu' : 'us';
      return [[`prompts/${index}.md`, several ? text.replace('---\n', `---\nservice: ${service}\n`) : text]];
    }),
  );
}

/** A workspace that was synced, and edited since; the service knows all prompts but those that it does not know. */
async function begin(all: readonly State[], several: boolean): Promise<Scene> {
  const known = all.flatMap((state, index) => (state === 'unknown' ? [] : [String(index)]));
  const [one, other] = [await startTestService(known), await startTestService(known, OTHER_KEY)];
  const [eu, us] = [one.environment['PROMPTSYNC_API_KEY'] ?? '', OTHER_KEY];
  const services = `services: { eu: { base_url: "${one.baseUrl}", api_key_env: EU }, us: { base_url: "${other.baseUrl}", api_key_env: US } }\n`;
  const folder = makeFolder();
  const options = { environment: several ? { EU: eu, US: us } : one.environment };
  writeFiles(folder, {
    'promptsync.yaml': several ? `${CONFIG}${services}` : CONFIG,
    ...filesOf(all, several, false),
  });
  await run(folder, ['sync', '--yes'], options);
  writeFiles(folder, filesOf(all, several, true));
  return { folder, options };
}

/** The merged report of what a command finds or does in each shard, in the order given. */
async function inShards({ folder, options }: Scene, words: readonly string[], order: readonly number[]) {
  const names: string[] = [];
  for (const index of order) {
    const { report } = await runJson(folder, [...words, '--shard', `${index}/${order.length}`], options);
    names.push(`report-${index}.json`);
    writeFileSync(join(folder, `report-${index}.json`), JSON.stringify(report));
  }
  return runJson(folder, ['report', 'merge', ...names, '--exit-code']);
}

function withoutDigests({ plan_digest: _, shards: __, ...report }: Report) {
  return report;
}

test('All shards together find what a run without shards finds, and leave nothing to do', { timeout: 120_000 }, () =>
  fc.assert(
    fc.asyncProperty(scenes, async ({ states: all, of, several, order: chance }) => {
      const scene = await begin(all, several);
      const { folder, options } = scene;
      const order = shuffled(of, chance);
      const whole = await runJson(folder, ['plan', '--exit-code'], options);
      const merged = await inShards(scene, ['plan'], order);
      expect(withoutDigests(merged.report)).toEqual(withoutDigests(whole.report));
      expect(merged.exitCode).toBe(whole.exitCode);
      expect(merged.report.shards?.map(({ index }) => index)).toEqual(order.toSorted((a, b) => a - b));
      const statuses = await runJson(folder, ['status'], options);
      const mergedStatus = await inShards(scene, ['status'], order);
      expect(withoutDigests(mergedStatus.report)).toEqual(withoutDigests(statuses.report));
      expect(mergedStatus.exitCode).toBe(statuses.exitCode);
      const applied = await inShards(scene, ['sync', '--yes'], order);
      expect(applied.report.summary.set_active).toBe(whole.report.summary.set_active);
      const after = await runJson(folder, ['plan', '--exit-code'], options);
      expect(after.report.summary).toMatchObject({ create_version: 0, update_prompt: 0, set_active: 0 });
      expect(after.exitCode).toBe(applied.exitCode);
    }),
    { numRuns: 12 },
  ),
);

/** The numbers from 1 to `of`, in any order. */
function shuffled(of: number, chance: fc.Stream<number>): readonly number[] {
  const keys = [...chance.take(of)];
  return keys.map((_, index) => index + 1).toSorted((a, b) => (keys[a - 1] ?? 0) - (keys[b - 1] ?? 0));
}
