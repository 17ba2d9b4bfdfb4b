import { saysTheSame, upsert } from '../commands/sticky.ts';
import { CONFIG_NAME } from '../config/config.ts';
import { parseApproval, type Shown } from '../review/approval.ts';
import { pathsFromRoot } from './checkout.ts';
import { whoAmI, type GitHub } from './client.ts';
import { mayHaveWorked } from './sticky.ts';

/** A check run that says how a review has ended, and holds what an apply may do by it. */
export type Check = {
  readonly name: string;
  readonly head: string;
  readonly conclusion: 'success' | 'neutral' | 'failure';
  /** Markdown, but for the title. GitHub takes 65,535 bytes of each text. */
  readonly output: { readonly title: string; readonly summary: string; readonly text: string };
};

/** One for each configuration; that at the root has no path in its name. */
export function checkName(folder: string, config: string | undefined): string {
  const path = pathsFromRoot(folder, config)(config ?? CONFIG_NAME);
  return path === CONFIG_NAME ? 'promptsync' : `promptsync (${path})`;
}

/** Keeps the check of a commit up to date. Throws what Octokit throws. */
export async function publishCheck(github: GitHub, { head, ...check }: Check): Promise<void> {
  const { octokit, names } = github;
  const { name } = check;
  await upsert({
    find: () => findCheck(github, head, name),
    mayHaveWorked,
    update: async (found) => {
      const { text, summary } = check.output;
      const same = found.conclusion === check.conclusion && found.output.text === text;
      if (same && saysTheSame(found.output.summary, summary)) return;
      const call = 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}';
      await octokit.request(call, { ...names, check_run_id: found.id, ...check });
    },
    create: async () => {
      const call = 'POST /repos/{owner}/{repo}/check-runs';
      const done = { ...names, head_sha: head, status: 'completed', request: { retries: 0 } } as const;
      await octokit.request(call, { ...done, ...check });
    },
  });
}

/** What a review of a commit has shown; null where there is none that can be applied. Throws what Octokit throws. */
export async function shownIn(github: GitHub, head: string, name: string): Promise<Shown | null> {
  const ask = () => findCheck(github, head, name);
  return parseApproval((await github.once(`check of ${head}`, ask))?.output.text ?? '');
}

/** The newest that was made with the app of this run's own token: other apps can make one of the same name. */
async function findCheck(github: GitHub, head: string, name: string) {
  const { octokit, names } = github;
  const call = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
  const runs = await octokit.paginate(call, { ...names, ref: head, check_name: name, per_page: 100 });
  if (runs.length === 0) return null;
  const me = (await whoAmI(github)).replace(/\[bot\]$/, '');
  const own = runs.filter((run) => run.name === name && run.head_sha === head && run.app?.slug === me);
  return own.toSorted((a, b) => b.id - a.id)[0] ?? null;
}
