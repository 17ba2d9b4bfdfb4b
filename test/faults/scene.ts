import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { commitAll, git, initRepository, writeFiles } from '../support/folder.ts';
import { CONFIG } from '../support/prompts.ts';
import { MAIN } from './calls.ts';
import type { Act } from './exchange.ts';
import { inPeace, type Trouble } from './faulty-front.ts';
import type { Write } from './kept-store.ts';
import { onStage } from './stage.ts';
import { filesOf, wantedOf, type Commit, type State, type Wanted } from './state.ts';

/** A state made ready: a repository, and what the service holds. Cells share it, because a sync leaves both as they are. */
export type Scene = {
  readonly state: State;
  readonly folder: string;
  /** What every pinned environment is to serve. */
  readonly wanted: readonly Wanted[];
  readonly writes: readonly Write[];
};

/** The configuration for runs that must not wait long for an answer. */
export const IMPATIENT = 'impatient.yaml';

export type Scenes = {
  readonly get: (state: State) => Promise<Scene>;
  /** Removes what was made. */
  readonly clear: () => void;
};

/** Scenes are made when they are first asked for, once each. */
export function makeScenes(): Scenes {
  const made = new Map<State, Promise<Scene>>();
  const folders: string[] = [];
  const make = (state: State): Promise<Scene> => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'promptsync-faults-')));
    folders.push(folder);
    return makeScene(state, folder);
  };
  return {
    get: (state) => {
      const scene = made.get(state) ?? make(state);
      made.set(state, scene);
      return scene;
    },
    clear: () => {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function makeScene(state: State, folder: string): Promise<Scene> {
  const { commits, settings = '' } = state;
  const config = CONFIG + settings;
  const impatient = `${config}timeout_seconds: 0.4\n`;
  writeFiles(folder, { 'promptsync.yaml': config, [IMPATIENT]: impatient });
  initRepository(folder);
  const wanted = wantedOf(state);
  let writes: readonly Write[] = [];
  for (const [index, commit] of commits.entries()) {
    writeFiles(folder, filesOf(commit));
    commitAll(folder, `Commit ${index + 1}`);
    if (commit.tag !== undefined) git(folder, 'tag', commit.tag);
    const synced = index < commits.length - 1 && commit.unsynced !== true;
    if (synced) writes = await syncedWrites({ state, folder, wanted, writes }, commit);
  }
  return { state, folder, wanted, writes };
}

/** All that was written to the service once the commit was synced, as far as that went. */
async function syncedWrites(scene: Scene, { drafts = [], cutOff }: Commit): Promise<readonly Write[]> {
  return onStage(scene, '', async ({ run, kept }) => {
    const ran = await run(['sync', '--yes'], cutOff ? cutAfterCreate() : inPeace);
    expect(ran.exitCode).toBe(cutOff ? 4 : 0);
    for (const content of drafts) kept.store.createVersion(MAIN, { content });
    return kept.writes;
  });
}

/** A version is made, and then the service is not heard of any more. */
function cutAfterCreate(): Trouble {
  let lost = false;
  const act: Act = async ({ commit, response }) => {
    if (!lost) await commit();
    lost = true;
    response.destroy();
  };
  return ({ call }) => (lost || call === 'create' ? act : null);
}
