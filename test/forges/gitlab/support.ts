import { expect } from 'vitest';
import type { Report } from '../../../src/report/schema/report-schema.ts';
import { promptOf, reportOf } from '../../report/support.ts';
import { makeFolder, writeFiles } from '../../support/folder.ts';
import { startGitLab, TOKEN } from '../../support/gitlab-api.ts';
import { run, type Ran, type RunOptions } from '../../support/run.ts';

export const PLAN = reportOf([promptOf()]);
export const NOW = Date.parse('2026-01-02T03:04:05Z');

export type Job = Awaited<ReturnType<typeof makeJob>>;
type Options = RunOptions & { readonly words?: readonly string[]; readonly in?: string };

/** Makes a GitLab CI job with a checkout in its own folder and an open merge request. */
export async function makeJob() {
  const gitlab = await startGitLab();
  gitlab.addMergeRequest({ iid: 1, state: 'opened' });
  const checkout = makeFolder();
  /** Runs `promptsync comment` on a report. The default variables are those of the merge request pipeline. */
  const publish = async (report: Report = PLAN, { words = [], in: folder = '', ...options }: Options = {}) => {
    const place = `${checkout}/${folder}`;
    writeFiles(place, { 'report.json': JSON.stringify(report) });
    const environment = { ...(options.environment ?? gitlab.mergeRequestVariables(1)), CI_PROJECT_DIR: checkout };
    const ran = await run(place, ['comment', 'report.json', ...words], { now: () => NOW, ...options, environment });
    expect(ran.stdout + ran.stderr + JSON.stringify(gitlab.notes(1))).not.toContain(TOKEN);
    return ran;
  };
  /** Returns the title of each note on the merge request, which is the line below the marker. */
  const titles = () => gitlab.notes(1).map(({ body }) => body.split('\n')[1]?.replace('### promptsync ', ''));
  return { gitlab, publish, titles };
}

/** Returns the exit code and the output of a run. Replaces the address of the GitLab double by `http://gitlab`. */
export function formatRun({ exitCode, stdout, stderr }: Ran): string {
  const text = `${stdout}${stderr}`.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://gitlab');
  return `${exitCode} ${text.trim()}`;
}
