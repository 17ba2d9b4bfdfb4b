import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startCli } from '../support/cli.ts';
import { startFrontFor } from '../support/front.ts';
import { makePromotionScene, type Scene } from '../support/promotion.ts';

export const PULL = ['pull', 'greeting'];
export const PROMOTE = ['promote', 'greeting', '--to', 'production'];
export const LOCK = 'promptsync.lock';

/** Makes a workspace in which pull and promote each have one edit, because staging serves a foreign version. */
export async function makeScene(): Promise<Scene> {
  const scene = await makePromotionScene({ text: 'Two.', pins: { staging: 'latest', production: 1 } });
  scene.make(['One.', 'Two.']);
  scene.activate('production', 1);
  const version = scene.service.store.createVersion('prm_greeting', { content: 'Three.' });
  scene.service.store.setActive('prm_greeting', { environment: 'staging', versionId: version?.id ?? '' });
  return scene;
}

/** Returns which of the two edits the file contains. */
export function editsIn(scene: Scene): readonly string[] {
  const file = scene.read();
  const pulled = file.endsWith('\n\nThree.\n') ? ['pulled'] : [];
  return [...pulled, ...(/"production": ?"version:/.test(file) ? ['promoted'] : [])];
}

export function isLocked({ folder }: Scene): boolean {
  return existsSync(join(folder, LOCK));
}

/** Starts a pull in a separate process. It holds the lock until `letGo` lets the service answer. */
export async function startHeldPull({ folder, service }: Scene, flags: readonly string[] = []) {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const { environment } = await startFrontFor(service, async () => {
    asked.resolve();
    await answered.promise;
    return null;
  });
  const started = startCli(folder, [...PULL, ...flags], { environment });
  await asked.promise;
  return { ...started, letGo: answered.resolve };
}
