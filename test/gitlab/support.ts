import { expect } from 'vitest';
import type { Report } from '../../src/report/schema.ts';
import { promptOf, reportOf } from '../report/support.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { startGitLab, TOKEN } from '../support/gitlab-api.ts';
import { run, type Ran, type RunOptions } from '../support/run.ts';

export const PLAN = reportOf([promptOf()]);
export const NOW = Date.parse('2026-01-02T03:04:05Z');

export type Job = Awaited<ReturnType<typeof makeJob>>;
type Options = RunOptions & { readonly words?: readonly string[]; readonly in?: string };

/** A job of GitLab CI, the checkout of which is a folder of its own, with a merge request that is open. */
export async function makeJob() {
  const gitlab = await startGitLab();
  gitlab.addMergeRequest({ iid: 1, state: 'opened' });
  const checkout = makeFolder();
  /** Runs `promptsync comment` on a report; on the pipeline of the merge request where no variables are given. */
  const publish = async (report: Report = PLAN, { words = [], in: folder = '', ...options }: Options = {}) => {
    const place = `${checkout}/${folder}`;
    writeFiles(place, { 'report.json': JSON.stringify(report) });
    const environment = { ...(options.environment ?? gitlab.mergeRequestVariables(1)), CI_PROJECT_DIR: checkout };
    const ran = await run(place, ['comment', 'report.json', ...words], { now: () => NOW, ...options, environment });
    expect(ran.stdout + ran.stderr + JSON.stringify(gitlab.notes(1))).not.toContain(TOKEN);
    return ran;
  };
  /** Of each note on the merge request the line below its marker. */
  const titles = () => gitlab.notes(1).map(({ body }) => body.split('\n')[1]?.replace('### promptsync ', ''));
  return { gitlab, checkout, publish, titles };
}

/** An exit code, and what a run has said, without the address of the stand-in. */
export function said({ exitCode, stdout, stderr }: Ran): string {
  const text = `${stdout}${stderr}`.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://gitlab');
  return `${exitCode} ${text.trim()}`;
}
