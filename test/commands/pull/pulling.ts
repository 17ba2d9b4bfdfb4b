import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { JsonObject } from '../../../src/domain/json.ts';
import type { ReportPrompt } from '../../../src/report/schema/report-schema.ts';
import { commitAll, makeRepository, writeFiles } from '../../support/folder.ts';
import { startFront } from '../../support/front.ts';
import { promptText, workspaceFiles, type PromptParts } from '../../support/prompts.ts';
import { run, runJson, type Reported } from '../../support/run.ts';
import { startTestService, type TestService } from '../../support/service.ts';

export const PATH = 'prompts/greeting.md';
export const TEXT = 'One.\n\nTwo.\n\nThree.';

export type Scene = { readonly folder: string; readonly service: TestService };

/** Makes a repository with one prompt and syncs it. The prompt file is the given source or made of the parts. */
export async function makeSynced(source: PromptParts | string, config?: string): Promise<Scene> {
  const files = workspaceFiles({ greeting: typeof source === 'string' ? {} : { text: TEXT, ...source } }, config);
  const folder = makeRepository(typeof source === 'string' ? { ...files, [PATH]: source } : files);
  const service = await startTestService(['greeting']);
  await sync({ folder, service });
  return { folder, service };
}

/** Starts a proxy that edits the answers to GET requests. Returns the options that point a command at it. */
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

export type OutsideChange = {
  readonly content: string;
  readonly metadata?: JsonObject;
  readonly environments?: readonly string[];
  readonly id?: string;
};

/** Creates and activates a version in the service without promptsync. Returns its number. */
export function changeOutside({ service }: Scene, { environments = ['staging'], id, ...draft }: OutsideChange): number {
  const promptId = `prm_${id ?? 'greeting'}`;
  const version = service.store.createVersion(promptId, draft);
  for (const environment of environments) {
    service.store.setActive(promptId, { environment, versionId: version?.id ?? '' });
  }
  return version?.version_number ?? 0;
}

/** Returns both sides between the conflict markers of git. */
export function conflict(ours: string, theirs: string, from = 'staging v2'): string {
  return `<<<<<<< ${PATH}\n${ours}\n=======\n${theirs}\n>>>>>>> ${from}`;
}

/** Activates in one environment the version that another environment serves. */
export function moveOutside({ service }: Scene, environment: string, from: string): void {
  const versionId = active({ service }, from)?.id ?? '';
  service.store.setActive('prm_greeting', { environment, versionId });
}

export function active({ service }: Pick<Scene, 'service'>, environment: string) {
  return service.store.readPrompt('prm_greeting', environment)?.active_version ?? null;
}

/** Returns the pin that pull writes for a served version that no ledger lists. */
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

/** Commits and syncs the pulled changes, and checks that nothing is left to do. */
export async function settle(scene: Scene): Promise<void> {
  const { folder, service } = scene;
  commitAll(folder, 'Pull');
  await sync(scene);
  const { report, exitCode } = await runJson(folder, ['plan', '--exit-code'], service);
  expect({ exitCode, summary: report.summary }).toMatchObject({ exitCode: 0, summary: { unchanged: 1 } });
  expect(only(await pull(scene))).toMatchObject({ status: 'unchanged', edits: [], problems: [] });
}
