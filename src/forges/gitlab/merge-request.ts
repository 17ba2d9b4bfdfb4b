import { z } from 'zod';
import { hasSameText, renderRetiredBody, type StickyText, upsertStickyText } from '../update-sticky-text.ts';
import type { System } from '../../domain/system.ts';
import { ServiceError } from '../../http/service-error.ts';
import type { GitLab } from './gitlab-client.ts';

type MergeRequest = {
  /** The id of the project, which for a merge request from a fork is not the project of the pipeline. */
  readonly project: string;
  /** The number of the merge request in its project. */
  readonly number: string;
  /** The URL of the merge request. */
  readonly address: string;
};

const MergeRequestShape = z.object({
  iid: z.int(),
  project_id: z.int(),
  state: z.string(),
  target_branch: z.string(),
  source_branch: z.string().nullish(),
  sha: z.string().nullish(),
  merge_commit_sha: z.string().nullish(),
  squash_commit_sha: z.string().nullish(),
  web_url: z.string(),
});

/**
 * Finds the merge request of this pipeline by GitLab's CI variables or, in a branch pipeline, by the commit. Throws a
 * `ServiceError` if the request to GitLab fails.
 */
export async function findMergeRequest(
  gitlab: GitLab,
  environment: System['environment'],
): Promise<MergeRequest | null> {
  // Accept only digits, because any other value could make the request address a different part of the API.
  const readNumber = (name: string): string | null => /^\d+$/.exec(environment[name] ?? '')?.[0] ?? null;
  const project = readNumber('CI_MERGE_REQUEST_PROJECT_ID');
  const number = readNumber('CI_MERGE_REQUEST_IID');
  if (project !== null && number !== null) {
    const url = environment['CI_MERGE_REQUEST_PROJECT_URL'] ?? '';
    return { project, number, address: `${url}/-/merge_requests/${number}` };
  }
  const pipelineProject = readNumber('CI_PROJECT_ID');
  const { CI_COMMIT_BRANCH: branch = '', CI_COMMIT_SHA: commit = '' } = environment;
  if (pipelineProject === null || branch === '' || !/^[0-9a-f]{40,64}$/.test(commit)) return null;
  const path = `/projects/${pipelineProject}/repository/commits/${commit}/merge_requests`;
  const candidates = await Array.fromAsync(gitlab.list(path, MergeRequestShape));
  const request = chooseMergeRequest(candidates, branch, commit);
  if (request === undefined) return null;
  const { project_id: projectId, iid, web_url: address } = request;
  return { project: `${projectId}`, number: `${iid}`, address };
}

/**
 * Prefers a merge request whose merge into the branch created the commit, then any other that was merged into the
 * branch, then an open one from the branch, and finally any other open one.
 */
function chooseMergeRequest(candidates: readonly z.infer<typeof MergeRequestShape>[], branch: string, commit: string) {
  const merged = candidates.filter(({ state, target_branch: target }) => state === 'merged' && target === branch);
  const open = candidates.filter(({ state }) => state === 'opened');
  const mergedByCommit = merged.find((request) =>
    [request.merge_commit_sha, request.squash_commit_sha, request.sha].includes(commit),
  );
  const openFromBranch = open.find(({ source_branch: source }) => source === branch);
  return mergedByCommit ?? merged[0] ?? openFromBranch ?? open[0];
}

const NoteShape = z.object({ id: z.int(), body: z.string(), author: z.object({ id: z.int() }).nullish() });
type GitLabNote = z.infer<typeof NoteShape>;

export type StickyNote = StickyText<GitLabNote>;

type PublishedNote = { readonly id: number; readonly action: 'unchanged' | 'updated' | 'created' };

/**
 * Updates or creates promptsync's note, and replaces the body of each duplicate by a link to it. Returns null if
 * `mustWrite` returns false. Throws a `ServiceError` if a request to GitLab fails.
 */
export async function upsertNote(
  gitlab: GitLab,
  { project, number, address }: MergeRequest,
  note: StickyNote,
): Promise<PublishedNote | null> {
  const { marker, makeBody, mustWrite, isComplete } = note;
  const path = `/projects/${project}/merge_requests/${number}/notes`;
  const edit = async (id: number, text: string): Promise<void> => {
    await gitlab.send({ method: 'PUT', path: `${path}/${id}`, body: { body: text }, shape: NoteShape });
  };
  return upsertStickyText<GitLabNote, PublishedNote>({
    find: () => findNotes(gitlab, path, marker),
    mustWrite,
    isComplete,
    update: async (existing) => {
      const { id } = existing;
      const body = makeBody(existing.body);
      if (hasSameText(existing.body, body)) return { id, action: 'unchanged' };
      await edit(id, body);
      return { id, action: 'updated' };
    },
    create: async () => {
      const body = makeBody(null);
      const { id } = await gitlab.send({ method: 'POST', path, body: { body }, shape: NoteShape });
      return { id, action: 'created' };
    },
    retire: (duplicate, { id }) => edit(duplicate.id, renderRetiredBody(`${address}#note_${id}`)),
    mayHaveWorked: (error) => error instanceof ServiceError && error.effect === 'unknown',
  });
}

/** Finds promptsync's own notes. Reads the oldest first, so that a new note does not move others to another page. */
async function findNotes(gitlab: GitLab, path: string, marker: string): Promise<readonly GitLabNote[]> {
  const ownNotes: GitLabNote[] = [];
  let ownId: number | null = null;
  for await (const note of gitlab.list(`${path}?sort=asc&order_by=created_at`, NoteShape)) {
    if (!note.body.startsWith(marker)) continue;
    ownId ??= (await gitlab.send({ method: 'GET', path: '/user', shape: z.object({ id: z.int() }) })).id;
    if (note.author?.id === ownId) ownNotes.push(note);
  }
  return ownNotes;
}
