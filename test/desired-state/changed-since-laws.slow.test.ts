import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeFiles } from '../support/folder.ts';
import { promptText, type PromptParts } from '../support/prompts.ts';
import { makeSyncedTeam, NAMES, pathOf, type Team } from './since-team.ts';

/** The random changes to a workspace. The number selects the prompt and the variant of the change. */
const STEPS = {
  edit: (team, at) => (edit(team, at, { text: `Text ${at}.` }), team.commit()),
  pin: (team, at) => (edit(team, at, { pins: PINS[at % PINS.length] ?? {} }), team.commit()),
  rename: (team, at) => {
    const [from, to] = placesOf(nameOf(at)).toSorted((a) => (existsSync(join(team.folder, a)) ? -1 : 1));
    if (from === undefined || to === undefined || !existsSync(join(team.folder, from))) return;
    writeFiles(team.folder, { [to]: readFileSync(join(team.folder, from)) });
    rmSync(join(team.folder, from));
    team.commit();
  },
  remove: (team, at) => (rmSync(join(team.folder, placeOf(team, nameOf(at))), { force: true }), team.commit()),
  back: ({ git }) => git('reset', '--quiet', '--hard', git('rev-list', '--max-count=2', 'HEAD').slice(-40)),
  // Git refuses to switch if that would overwrite edited files.
  switch: ({ git }, at) => ignoreFailure(() => git('checkout', '--quiet', '-B', `branch-${at}`, 'main')),
  'edit without a commit': (team, at) => edit(team, at, { text: `Dirty ${at}.` }),
  'drop what is not committed': ({ git }) => (git('reset', '--quiet', '--hard'), git('clean', '-fdq')),
  // Never reverts the first commit, because that one adds the configuration.
  'revert the last commit': ({ git }) =>
    ignoreFailure(() => (git('rev-parse', 'HEAD~1'), git('revert', '--no-edit', 'HEAD'))),
} as const satisfies Record<string, (team: Team, at: number) => unknown>;

/** Runs a git command that may fail, for example a revert when there is nothing to revert. */
function ignoreFailure(act: () => unknown): void {
  try {
    act();
  } catch {
    // The sequence goes on as if this step were not in it.
  }
}

const PINS = [{ staging: 'latest' }, { staging: 'latest', production: 'latest' }, {}, { production: 1 }];

/** Returns the two paths that the file of a prompt can have. */
function placesOf(name: string): readonly string[] {
  return [pathOf(name), pathOf(`other/${name}`)];
}

function placeOf({ folder }: Team, name: string): string {
  return placesOf(name).find((path) => existsSync(join(folder, path))) ?? pathOf(name);
}

function edit(team: Team, at: number, parts: PromptParts): void {
  writeFiles(team.folder, { [placeOf(team, nameOf(at))]: promptText(nameOf(at), parts) });
}

function nameOf(at: number): string {
  return NAMES[at % NAMES.length] ?? '';
}

const words = Object.keys(STEPS) as (keyof typeof STEPS)[];
const steps = fc.array(fc.tuple(fc.constantFrom(...words), fc.nat(11)), { minLength: 1, maxLength: 7 });

test('After sync --changed-since, plan finds nothing left to do, no matter how the files and the git history changed before', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const team = await makeSyncedTeam();
      const synced = team.git('rev-parse', 'HEAD');
      for (const [word, at] of sequence) await STEPS[word](team, at);
      ignoreFailure(() => team.git('revert', '--abort'));
      const existing = NAMES.filter((name) => existsSync(join(team.folder, placeOf(team, name))));
      fc.pre(existing.length > 0);
      const { report, exitCode } = await team.runJson('sync', '--yes', '--allow-dirty', '--changed-since', synced);
      expect(exitCode).toBe(0);
      const { report: all } = await team.runJson('plan');
      expect(all.summary).toMatchObject({ prompts: existing.length, unchanged: existing.length });
      expect(report.summary.prompts + (report.summary.not_looked_at ?? 0)).toBe(existing.length);
    }),
    { numRuns: 10 },
  );
});
