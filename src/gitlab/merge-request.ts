import { z } from 'zod';
import { hasSameText, type StickyText, upsertStickyText } from '../commands/upsert-sticky-text.ts';
import type { World } from '../domain/world.ts';
import { ServiceError } from '../service/prompt-service.ts';
import type { GitLab } from './client.ts';

/** The project is the one that the merge request is in, which for a fork's is not the one of the pipeline. */
export type MergeRequest = { readonly project: string; readonly number: string; readonly address: string };

const MergeRequestShape = z.object({
  iid: z.int(),
  project_id: z.int(),
  state: z.string(),
  target_branch: z.string(),
  source_branch: z.string().nullish(),
  sha: z.string().nullish(),
  merge_commit_sha: z.string().nullish(),
  squash_commit_sha: z.string().nullish(),
  web_url: z.string().nullish(),
});

/**
 * The merge request of this pipeline: the one that GitLab's variables name, or the one that the commit of the branch
 * belongs to. Null where there is none. Throws a `ServiceError`.
 */
export async function findMergeRequest(
  gitlab: GitLab,
  environment: World['environment'],
): Promise<MergeRequest | null> {
  // What is no number could lead to another place of the API.
  const numberIn = (name: string): string | null => /^\d+$/.exec(environment[name] ?? '')?.[0] ?? null;
  const [project, number] = [numberIn('CI_MERGE_REQUEST_PROJECT_ID'), numberIn('CI_MERGE_REQUEST_IID')];
  if (project !== null && number !== null) {
    const url = environment['CI_MERGE_REQUEST_PROJECT_URL'] ?? '';
    return { project, number, address: `${url}/-/merge_requests/${number}` };
  }
  const home = numberIn('CI_PROJECT_ID');
  const { CI_COMMIT_BRANCH: branch = '', CI_COMMIT_SHA: commit = '' } = environment;
  if (home === null || branch === '' || !/^[0-9a-f]{40,64}$/.test(commit)) return null;
  const path = `/projects/${home}/repository/commits/${commit}/merge_requests`;
  const found = chooseMergeRequest(await Array.fromAsync(gitlab.list(path, MergeRequestShape)), branch, commit);
  if (found === undefined) return null;
  return { project: `${found.project_id}`, number: `${found.iid}`, address: found.web_url ?? `!${found.iid}` };
}

/** The one that was merged into the branch, by this commit if there are several; else one that is open. */
function chooseMergeRequest(all: readonly z.infer<typeof MergeRequestShape>[], branch: string, commit: string) {
  const merged = all.filter((one) => one.state === 'merged' && one.target_branch === branch);
  const opened = all.filter(({ state }) => state === 'opened');
  const made = merged.find((one) => [one.merge_commit_sha, one.squash_commit_sha, one.sha].includes(commit));
  return made ?? merged[0] ?? opened.find((one) => one.source_branch === branch) ?? opened[0];
}

const NoteShape = z.object({ id: z.int(), body: z.string(), author: z.object({ id: z.int() }).nullish() });
type GitLabNote = z.infer<typeof NoteShape>;

export type StickyNote = StickyText<GitLabNote>;

/** A note on a merge request, and what promptsync did with it. */
export type KeptNote = { readonly id: number; readonly how: 'is unchanged' | 'updated' | 'made' };

/** Keeps the note of promptsync up to date. Returns null if no note is wanted. Throws a `ServiceError`. */
export async function upsertNote(
  gitlab: GitLab,
  { project, number }: MergeRequest,
  note: StickyNote,
): Promise<KeptNote | null> {
  const { marker, body, mustWrite } = note;
  const path = `/projects/${project}/merge_requests/${number}/notes`;
  return upsertStickyText<GitLabNote, KeptNote>({
    find: () => findNote(gitlab, path, marker),
    mustWrite,
    update: async (found) => {
      if (hasSameText(found.body, body)) return { id: found.id, how: 'is unchanged' };
      await gitlab.send({ method: 'PUT', path: `${path}/${found.id}`, body: { body }, shape: NoteShape });
      return { id: found.id, how: 'updated' };
    },
    create: async () => {
      const { id } = await gitlab.send({ method: 'POST', path, body: { body }, shape: NoteShape });
      return { id, how: 'made' };
    },
    mayHaveWorked: (error) => error instanceof ServiceError && error.effect === 'unknown',
  });
}

/** The note that begins with the marker and is by the token's own user. The oldest come first, so that no page shifts. */
async function findNote(gitlab: GitLab, path: string, marker: string): Promise<GitLabNote | null> {
  let me: number | null = null;
  for await (const note of gitlab.list(`${path}?sort=asc&order_by=created_at`, NoteShape)) {
    if (!note.body.startsWith(marker)) continue;
    me ??= (await gitlab.send({ method: 'GET', path: '/user', shape: z.object({ id: z.int() }) })).id;
    if (note.author?.id === me) return note;
  }
  return null;
}
