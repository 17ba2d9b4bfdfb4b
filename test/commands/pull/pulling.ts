import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { JsonObject } from '../../../src/domain/json.ts';
import type { ReportPrompt } from '../../../src/report/schema/report-schema.ts';
import { commitAll, makeRepository, writeFiles } from '../../support/folder.ts';
import { CONFIG, promptText, workspaceFiles, type PromptParts } from '../../support/prompts.ts';
import { run, runJson, type Reported } from '../../support/run.ts';
import { startTestService, type TestService } from '../../support/service.ts';

export const PATH = 'prompts/greeting.md';
export const TEXT = 'One.\n\nTwo.\n\nThree.';

export type Scene = { readonly folder: string; readonly service: TestService };

/** Makes a repository with one prompt and syncs it. */
export async function makeSynced(parts: PromptParts = {}): Promise<Scene> {
  const folder = makeRepository(workspaceFiles({ greeting: { text: TEXT, ...parts } }));
  const scene = { folder, service: await startTestService(['greeting']) };
  await sync(scene);
  return scene;
}

/** Reads a file of the workspace. */
export function source({ folder }: Pick<Scene, 'folder'>, path = PATH): string {
  return readFileSync(join(folder, path), 'utf8');
}

/** Reads the text of a prompt file without its front matter. */
export function textIn(scene: Pick<Scene, 'folder'>, path = PATH): string {
  return source(scene, path)
    .replace(/^---\n[^]*?\n---\n\n/, '')
    .replace(/\n$/, '');
}

/** Returns the text with some lines replaced. */
export function change(text: string, lines: Readonly<Record<string, string>>): string {
  return Object.entries(lines).reduce((now, [line, other]) => now.replace(line, other), text);
}

export function writeSource({ folder }: Pick<Scene, 'folder'>, text: string, path = PATH): void {
  writeFiles(folder, { [path]: text });
}

/** Edits the file and commits it. */
export function edit(scene: Scene, parts: PromptParts): string {
  writeSource(scene, promptText('greeting', { text: TEXT, ...parts }));
  return commitAll(scene.folder, 'Edit');
}

export async function sync({ folder, service }: Scene): Promise<void> {
  const { exitCode, stdout, stderr } = await run(folder, ['sync', '--yes'], service);
  expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 0 });
}

export type OutsideChange = {
  readonly content: string;
  readonly metadata?: JsonObject;
  readonly environments?: readonly string[];
  readonly id?: string;
};

/** Creates and activates a version in the service without promptsync. */
export function changeOutside(
  { service }: Pick<Scene, 'service'>,
  { environments = ['staging'], id, ...draft }: OutsideChange,
): void {
  const promptId = `prm_${id ?? 'greeting'}`;
  const version = service.store.createVersion(promptId, draft);
  for (const environment of environments) {
    service.store.setActive(promptId, { environment, versionId: version?.id ?? '' });
  }
}

/** Returns both sides between the conflict markers of git. */
export function conflict(ours: string, theirs: string, from = 'staging v2', path = PATH): string {
  return `<<<<<<< ${path}\n${ours}\n=======\n${theirs}\n>>>>>>> ${from}`;
}

export async function pull({ folder, service }: Scene, ...words: readonly string[]): Promise<Reported> {
  service.takeWrites();
  const ran = await runJson(folder, ['pull', ...words], service);
  expect(service.takeWrites()).toEqual([]);
  return ran;
}

export function only({ report }: Reported): ReportPrompt {
  const [prompt, ...others] = report.prompts;
  if (prompt === undefined || others.length > 0) throw new Error('there is not one prompt');
  return prompt;
}

/** Commits and syncs the pulled changes, and checks that nothing is left to do. */
export async function settle(scene: Scene): Promise<void> {
  const { folder, service } = scene;
  commitAll(folder, 'Pull');
  await sync(scene);
  expect(await run(folder, ['plan', '--exit-code'], service)).toMatchObject({ exitCode: 0 });
  const { report } = await pull(scene);
  expect(report.prompts.filter(({ status, problems }) => status !== 'unchanged' || problems.length > 0)).toEqual([]);
}

/** What a row of a table knows about its prompt. */
export type RowContext = {
  readonly id: string;
  readonly path: string;
};

/** A prompt file as its parts, with the text `TEXT` by default, or as its whole source. */
export type FileState = PromptParts | ((row: RowContext) => string);

/** What somebody does to the prompt of a row in the service. */
type Outside = {
  /** Creates a version, and activates it. */
  readonly edit: (content: string, environments?: readonly string[], metadata?: JsonObject) => void;
  /** Activates in an environment a version that promptsync created. */
  readonly move: (environment: string, number: number) => void;
  readonly setFields: (fields: Readonly<Record<string, string>>) => void;
};

/** One prompt with its history. All rows of a table share a repository, a service and each run of promptsync. */
export type PullRow = {
  readonly path?: string;
  /** The states of the file that are committed and synced, oldest first. */
  readonly synced?: readonly FileState[];
  readonly outside?: (service: Outside) => void;
  /** The state of the file that is committed after the last sync. */
  readonly committed?: FileState;
  readonly uncommitted?: FileState;
};

/** What a pull did with a row: its prompt in the report, and its file afterward. */
export type Pulled = { readonly prompt: ReportPrompt; readonly source: string };

/** The pulls of a row. Each starts from the file before the first one. */
export type PulledRow = {
  readonly context: RowContext;
  readonly before: string;
  readonly plain: Pulled;
  readonly ours: Pulled;
  readonly theirs: Pulled;
};

export function renderState(state: FileState, row: RowContext): string {
  return typeof state === 'function' ? state(row) : promptText(row.id, { text: TEXT, ...state });
}

/** Makes one repository of all rows, and pulls three times: without a side, with `--ours` and with `--theirs`. */
export async function pullRows(rows: readonly PullRow[]): Promise<readonly PulledRow[]> {
  const service = await startTestService(rows.map((_, index) => `p${index}`));
  const scene = { folder: makeRepository({ 'promptsync.yaml': CONFIG }), service };
  const made = rows.map((row, index) => ({ row, ...openRow(scene, `p${index}`, row) }));
  const readState = (stage: number, { synced = [{}] }: PullRow) => synced[stage];
  const stages = Math.max(...rows.map(({ synced = [{}] }) => synced.length));
  for (let stage = 0; stage < stages; stage += 1) {
    for (const { row, write } of made) write(readState(stage, row));
    commitAll(scene.folder, `State ${stage}`);
    await sync(scene);
    for (const { rememberVersion } of made) rememberVersion();
  }
  for (const { row, outside } of made) row.outside?.(outside);
  for (const { row, write } of made) write(row.committed);
  commitAll(scene.folder, 'Not synced');
  for (const { row, write } of made) write(row.uncommitted);
  const before = made.map(({ context }) => source(scene, context.path));
  const pullFrom = async (...words: readonly string[]): Promise<readonly Pulled[]> => {
    made.forEach(({ context }, index) => writeSource(scene, before[index] ?? '', context.path));
    const { report } = await pull(scene, ...words);
    return made.map(({ context }) => ({
      prompt: report.prompts.find(({ id }) => id === `prm_${context.id}`)!,
      source: source(scene, context.path),
    }));
  };
  const [plain, ours, theirs] = [await pullFrom(), await pullFrom('--ours'), await pullFrom('--theirs')];
  await settle(scene);
  return made.map(({ context }, index) => ({
    ...{ context, before: before[index]!, plain: plain[index]!, ours: ours[index]!, theirs: theirs[index]! },
  }));
}

function openRow(scene: Scene, id: string, { path = `prompts/${id}.md` }: PullRow) {
  const { store } = scene.service;
  const promptId = `prm_${id}`;
  const ids = new Map<number, string>();
  const rememberVersion = (): void => {
    const version = store.readPrompt(promptId, 'promptsync')?.active_version ?? null;
    if (version !== null) ids.set(version.version_number, version.id);
  };
  const context: RowContext = { id, path };
  const outside: Outside = {
    edit: (content, environments = ['staging'], metadata) =>
      changeOutside(scene, { id, content, environments, ...(metadata && { metadata }) }),
    move: (environment, number) => {
      expect(store.setActive(promptId, { environment, versionId: ids.get(number) ?? '' })).toBe(true);
    },
    setFields: (fields) => void store.updatePrompt(promptId, fields),
  };
  const write = (state: FileState | undefined): void => {
    if (state !== undefined) writeSource(scene, renderState(state, context), path);
  };
  return { context, outside, rememberVersion, write };
}
