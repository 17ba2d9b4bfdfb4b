import { join } from 'node:path';
import { commitAll, git, makeFolder, writeFiles } from '../../support/folder.ts';
import { promptText } from '../../support/prompts.ts';
import { makePromotionScene, PATH, type Scene, type SceneOptions } from '../../support/promotion.ts';

export const NOW = ['rollback', 'greeting', '--environment', 'production', '--now'] as const;
export const BRANCH = 'rollback-production-greeting';
export const TEXTS = ['One.', 'Two.', 'Three.', 'Four.', 'Five.'];
export const APPLIED = 'exit 0, greeting applied';

export const pinned = (production: number | string) => ({ text: 'Five.', pins: { staging: 'latest', production } });

/** Adds a bare remote, and pushes the main branch to it. Returns its path. */
export function addOrigin(folder: string): string {
  const origin = join(makeFolder(), 'origin.git');
  git(folder, 'clone', '--quiet', '--bare', folder, origin);
  git(folder, 'remote', 'add', 'origin', `file://${origin}`);
  git(folder, 'fetch', '--quiet', 'origin');
  git(folder, 'branch', '--quiet', '--set-upstream-to', 'origin/main');
  return origin;
}

/** Makes a clone whose production has a bad version 4 after version 2, and which is up to date with its remote. */
export async function makeIncident(options: SceneOptions = {}): Promise<Scene & { readonly origin: string }> {
  const scene = await makePromotionScene(pinned(2), options);
  scene.make(TEXTS);
  scene.activate('staging', 5);
  scene.activate('production', 4);
  scene.commit(pinned(4));
  return { ...scene, origin: addOrigin(scene.folder) };
}

/** Pushes a commit from another clone. */
export function pushFromElsewhere(origin: string, parts: Parameters<typeof promptText>[1]): void {
  const clone = join(makeFolder(), 'colleague');
  git(makeFolder(), 'clone', '--quiet', origin, clone);
  writeFiles(clone, { [PATH]: promptText('greeting', parts) });
  commitAll(clone, 'Edit');
  git(clone, 'push', '--quiet');
}

/** Returns what a rollback must not change if it does nothing: the branches, the work tree and production. */
export function readState({ folder, read, serves }: Scene): readonly string[] {
  return [git(folder, 'branch'), git(folder, 'status', '--short'), read(), serves('production')];
}
