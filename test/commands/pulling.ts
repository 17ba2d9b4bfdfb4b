import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { ReportPrompt } from '../../src/report/schema.ts';
import { commitAll, makeRepository, writeFiles } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { run, runJson, type Reported } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';

export const PATH = 'prompts/greeting.md';
export const TEXT = 'One.\n\nTwo.\n\nThree.';

export type Scene = { readonly folder: string; readonly service: TestService };

/** A repository whose one prompt was synced once, from the source that is given or made of the parts. */
export async function makeSynced(source: PromptParts | string, config?: string): Promise<Scene> {
  const files = workspaceFiles({ greeting: typeof source === 'string' ? {} : { text: TEXT, ...source } }, config);
  const folder = makeRepository(typeof source === 'string' ? { ...files, [PATH]: source } : files);
  const service = await startTestService(['greeting']);
  await sync({ folder, service });
  return { folder, service };
}

/** What points a command at a front that changes what the service answers of a prompt. */
export async function through({ service }: Scene, edit: (body: string, path: string) => string) {
  const headers = { 'x-api-key': service.environment['PROMPTSYNC_API_KEY'] ?? '' };
  const front = await startFront({
    target: service.baseUrl,
    answer: async ({ method, path }) => {
      if (method !== 'GET') return null;
      const answer = await fetch(service.baseUrl + path, { headers });
      return { status: answer.status, body: edit(await answer.text(), path) };
    },
  });
  return { environment: { ...service.environment, PROMPTSYNC_BASE_URL: front.baseUrl } };
}

/** Whatever stands in the file. */
export function source({ folder }: Pick<Scene, 'folder'>, path = PATH): string {
  return readFileSync(join(folder, path), 'utf8');
}

/** The text of a file without its front matter. */
export function textIn(scene: Pick<Scene, 'folder'>, path = PATH): string {
  return source(scene, path)
    .replace(/^---\n[^]*?\n---\n\n/, '')
    .replace(/\n$/, '');
}

/** A text with other lines in the place of some. */
export function change(text: string, lines: Readonly<Record<string, string>>): string {
  return Object.entries(lines).reduce((now, [line, other]) => now.replace(line, other), text);
}

export function writeSource({ folder }: Scene, text: string | Uint8Array, path = PATH): void {
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

export type Outside = {
  readonly content: string;
  readonly metadata?: JsonObject;
  readonly environments?: readonly string[];
  readonly id?: string;
};

/** Somebody makes a version in the service and makes it active, without promptsync. Returns its number. */
export function changeOutside({ service }: Scene, { environments = ['staging'], id, ...draft }: Outside): number {
  const promptId = `prm_${id ?? 'greeting'}`;
  const version = service.store.createVersion(promptId, draft);
  for (const environment of environments) {
    service.store.setActive(promptId, { environment, versionId: version?.id ?? '' });
  }
  return version?.version_number ?? 0;
}

/** A line in which both sides stand between git's markers. */
export function conflict(ours: string, theirs: string, from = 'staging v2'): string {
  return `<<<<<<< ${PATH}\n${ours}\n=======\n${theirs}\n>>>>>>> ${from}`;
}

/** Makes active in one environment what another one serves. */
export function moveOutside({ service }: Scene, environment: string, from: string): void {
  const versionId = active({ service }, from)?.id ?? '';
  service.store.setActive('prm_greeting', { environment, versionId });
}

export function active({ service }: Pick<Scene, 'service'>, environment: string) {
  return service.store.readPrompt('prm_greeting', environment)?.active_version ?? null;
}

/** The pin of what an environment serves, as it is written where no ledger names it. */
export function pinned(scene: Pick<Scene, 'service'>, environment = 'production'): string {
  return `version:${active(scene, environment)?.id}`;
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

/** Commits what was pulled and syncs it; then nothing is left to do. */
export async function settle(scene: Scene): Promise<void> {
  const { folder, service } = scene;
  commitAll(folder, 'Pull');
  await sync(scene);
  const { report, exitCode } = await runJson(folder, ['plan', '--exit-code'], service);
  expect({ exitCode, summary: report.summary }).toMatchObject({ exitCode: 0, summary: { unchanged: 1 } });
  expect(only(await pull(scene))).toMatchObject({ status: 'unchanged', edits: [], problems: [] });
}
