import { expect, test } from 'vitest';
import { startFront } from '../support/front.ts';
import { git } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { begin, PROMOTION, told, type Scene } from '../support/promotion.ts';
import { runJson, type Reported } from '../support/run.ts';

const BEFORE = { text: 'Two.', pins: { staging: 'latest', production: 1 } } as const;

/** Staging serves version 2 of both prompts. */
async function ready(): Promise<Scene> {
  const scene = await begin(BEFORE, { config: `${PROMOTION}concurrency: 1\n`, others: { later: BEFORE } });
  for (const id of ['greeting', 'later']) {
    scene.make(['One.', 'Two.'], id);
    scene.activate('staging', 2, id);
    scene.activate('production', 1, id);
  }
  return scene;
}

/** Runs a command that is interrupted as soon as the second prompt is asked for. */
async function interrupt({ folder, service }: Scene, words: readonly string[]): Promise<Reported> {
  let interruptNow = (): void => {};
  const front = await startFront({
    target: service.baseUrl,
    answer: ({ path }) => {
      if (path.includes('prm_later')) interruptNow();
      return null;
    },
  });
  return runJson(folder, words, {
    environment: { ...service.environment, PROMPTSYNC_BASE_URL: front.baseUrl },
    onSignal: (signal) => (interruptNow = signal),
  });
}

test('edits that are interrupted while the service is read are not made for those that were read', async () => {
  const scene = await ready();
  const head = git(scene.folder, 'rev-parse', 'HEAD');
  const ran = await interrupt(scene, ['promote', '--all', '--to', 'production', '--branch', 'promotion']);
  expect(told(ran)).toBe('exit 130, greeting failed apply/interrupted, later failed apply/interrupted');
  expect(scene.read()).toBe(promptText('greeting', BEFORE));
  expect(git(scene.folder, 'rev-parse', 'HEAD')).toBe(head);
  expect(git(scene.folder, 'branch', '--show-current')).toBe('main');
});

test('a dry run that is interrupted shows how far it got', async () => {
  const ran = await interrupt(await ready(), ['promote', '--all', '--to', 'production', '--dry-run']);
  expect(told(ran)).toContain('exit 130, greeting pending, later ');
});
