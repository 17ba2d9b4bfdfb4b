import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Report, ReportPrompt } from '../../src/report/schema.ts';
import { writeFiles } from '../support/folder.ts';
import { CONFIG, promptText, type PromptParts } from '../support/prompts.ts';
import { makeSyncedTeam, NAMES, pathOf, type Team } from './since-team.ts';

/** What may happen between two syncs, one word each; the number says to which prompt, or how. */
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
  // Not over files that are edited.
  switch: ({ git }, at) => tried(() => git('checkout', '--quiet', '-B', `branch-${at}`, 'main')),
  'edit without a commit': (team, at) => edit(team, at, { text: `Dirty ${at}.` }),
  'drop what is not committed': ({ git }) => (git('reset', '--quiet', '--hard'), git('clean', '-fdq')),
  'sync all': ({ run }) => run('sync', '--yes'),
  'sync all from dirty files': ({ run }) => run('sync', '--yes', '--allow-dirty'),
  'sync one': ({ run }, at) => run('sync', '--yes', '--only', nameOf(at)),
  'sync with another configuration': ({ run, folder }, at) => {
    writeFiles(folder, { 'other.yaml': `${CONFIG}concurrency: ${(at % 2) + 1}\n` });
    return run('sync', '--yes', '--config', 'other.yaml', ...(at % 3 === 0 ? ['--changed-since', 'HEAD'] : []));
  },
  // Not the first one, which the configuration is of.
  'revert the last commit': ({ git }) => tried(() => (git('rev-parse', 'HEAD~1'), git('revert', '--no-edit', 'HEAD'))),
  'sync what has changed': ({ run }) => run('sync', '--yes', '--changed-since', 'HEAD'),
  'sync with a fault': async ({ run, refuse }, at) => {
    let writes = 0;
    refuse(({ method }) => method !== 'GET' && ++writes > at % 4);
    await run('sync', '--yes', ...(at % 2 === 0 ? ['--changed-since', 'HEAD'] : []));
    refuse();
  },
} as const satisfies Record<string, (team: Team, at: number) => unknown>;

/** There may be nothing to do it with. */
function tried(act: () => unknown): void {
  try {
    act();
  } catch {
    // Then it is as if it had not happened.
  }
}

const PINS = [{ staging: 'latest' }, { staging: 'latest', production: 'latest' }, {}, { production: 'git:main' }];

/** Where a prompt's file may be. */
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

function idsOf({ prompts }: Report, which: (status: ReportPrompt['status']) => boolean): readonly string[] {
  return prompts.filter(({ status }) => which(status)).map(({ id }) => id);
}

const words = Object.keys(STEPS) as (keyof typeof STEPS)[];
const steps = fc.array(fc.tuple(fc.constantFrom(...words), fc.nat(11)), { minLength: 1, maxLength: 7 });

test('whatever happened before, a sync of what has changed leaves nothing that a sync of all would do', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const team = await makeSyncedTeam();
      team.commit();
      for (const [word, at] of sequence) await STEPS[word](team, at);
      tried(() => team.git('revert', '--abort'));
      team.git('reset', '--quiet', '--hard');
      team.git('clean', '-fdq');
      const there = NAMES.filter((name) => existsSync(join(team.folder, placeOf(team, name))));
      fc.pre(there.length > 0);
      const { report, exitCode } = await team.runJson('sync', '--yes', '--changed-since', 'HEAD');
      // The branch that a pin follows may not have the prompt: then nothing can be done, and both say so.
      const refused = idsOf(report, (status) => status === 'blocked');
      expect(exitCode).toBe(refused.length > 0 ? 3 : 0);
      const { report: all } = await team.runJson('plan');
      const { summary } = all;
      expect(idsOf(all, (status) => status !== 'unchanged')).toEqual(refused);
      expect(report.summary.prompts + (report.summary.not_looked_at ?? 0)).toBe(summary.prompts);
    }),
    { numRuns: 30 },
  );
});
