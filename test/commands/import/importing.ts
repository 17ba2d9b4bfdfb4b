import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { git, makeRepository } from '../../support/folder.ts';
import { CONFIG } from '../../support/prompts.ts';
import { run, runJson, type RunOptions } from '../../support/run.ts';
import { startTestService } from '../../support/service.ts';
import { changeOutside } from '../pull/pulling.ts';

/** Three environments in promotion order. Only staging may be pinned to `latest`. */
export const STAGES = `${CONFIG}environments:
  staging: {}
  canary: { promote_from: staging, allow_latest: false }
  production: { promote_from: canary, allow_latest: false }
`;

/** The text that each environment of each prompt serves. Each new text becomes the next version of its prompt. */
export type ServedTexts = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Makes a repository without prompt files, and a service whose environments serve these texts. */
export async function makeAdoption(served: ServedTexts, config = STAGES) {
  const folder = makeRepository({ 'promptsync.yaml': config });
  const service = await startTestService(Object.keys(served));
  const { store } = service;
  for (const [prompt, texts] of Object.entries(served)) {
    const versionIds = new Map<string, string>();
    for (const [environment, content] of Object.entries(texts)) {
      const versionId = versionIds.get(content) ?? store.createVersion(`prm_${prompt}`, { content })?.id ?? '';
      versionIds.set(content, versionId);
      store.setActive(`prm_${prompt}`, { environment, versionId });
    }
  }
  const ids = Object.keys(served).map((prompt) => `prm_${prompt}`);
  return {
    folder,
    service,
    ids,
    run: (words: readonly string[], options: RunOptions = {}) => run(folder, words, { ...service, ...options }),
    json: (...words: readonly string[]) => runJson(folder, words, service),
    importAll: (...flags: readonly string[]) => runJson(folder, ['import', ...ids, ...flags], service),
    read: (path: string) => readFileSync(join(folder, path), 'utf8'),
    /** Returns the id of the version that an environment serves. */
    idIn: (prompt: string, environment: string) =>
      store.readPrompt(`prm_${prompt}`, environment)?.active_version?.id ?? '',
    /** Creates a version in the service without promptsync, and activates it in an environment. */
    change: (id: string, environment: string, content: string): void =>
      changeOutside({ service }, { id, content, environments: [environment] }),
    subjects: () => git(folder, 'log', '--format=%s', '--reverse').split('\n').slice(1),
  };
}

/** Returns a prompt file at a commit, such as `HEAD~1`. */
export function readAt(folder: string, commit: string, path: string): string {
  return git(folder, 'show', `${commit}:${path}`);
}

/** Returns the text of a prompt file. */
export function textOf(source: string): string {
  return source.replace(/^---\n[^]*?\n---\n\n/, '').replace(/\n$/, '');
}
