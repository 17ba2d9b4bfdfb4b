import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { computeContentDigest, EMPTY_METADATA_DIGEST } from '../../src/domain/content.ts';
import type { StoredVersion } from '../../src/embedded/prompt-store.ts';
import { renderVersionRecord, type LedgerEntry } from '../../src/providers/four-call/version-record.ts';
import { commitAll, commitEdits, makeRepository, makeWorkspace, writeFiles } from './folder.ts';
import { CONFIG, promptText, workspaceFiles, type PromptParts } from './prompts.ts';
import { run, runJson, type Reported, type RunOptions } from './run.ts';
import { startTestService, type TestService } from './service.ts';

/** Two environments, the second promoted from the first. */
export const PROMOTION = `${CONFIG}environments: { staging: {}, production: { promote_from: staging } }\n`;

export const PATH = 'prompts/greeting.md';

export type Scene = Awaited<ReturnType<typeof makePromotionScene>>;

export type SceneOptions = {
  readonly config?: string;
  /** Further prompts, by name. */
  readonly others?: Readonly<Record<string, PromptParts>>;
  /** Makes the folder with the files. The default is a new repository. */
  readonly makeFolder?: (files: ReturnType<typeof workspaceFiles>) => string;
  readonly options?: RunOptions;
};

/** Makes no git repository, for tests that do not need one. */
export const OUTSIDE_GIT: SceneOptions = { makeFolder: makeWorkspace };

/** Makes a repository with the prompt `greeting`, and a service that has the prompt. */
export async function makePromotionScene(greeting: PromptParts, scene: SceneOptions = {}) {
  const { config = PROMOTION, others = {}, makeFolder = makeRepository, options = {} } = scene;
  const folder = makeFolder(workspaceFiles({ greeting, ...others }, config));
  const service = await startTestService(['greeting', ...Object.keys(others)]);
  const given = { ...options, environment: { ...service.environment, ...options.environment } };
  const { make, activate, serves } = versionsIn(service);
  const write = (parts: PromptParts, id = 'greeting'): void =>
    writeFiles(folder, { [`prompts/${id}.md`]: promptText(id, parts) });
  return {
    ...{ folder, service, make, activate, serves, write },
    read: (path = PATH): string => readFileSync(join(folder, path), 'utf8'),
    /** Writes and commits the prompt file. Returns the commit. */
    commit: (parts: PromptParts, id = 'greeting'): string => {
      const isNew = !existsSync(join(folder, `prompts/${id}.md`));
      write(parts, id);
      return isNew ? commitAll(folder, 'Edit') : commitEdits(folder, 'Edit');
    },
    run: (...words: readonly string[]) => run(folder, words, given),
    runJson: (...words: readonly string[]) => runJson(folder, words, given),
  };
}

function versionsIn({ store }: TestService) {
  const made = new Map<string, readonly StoredVersion[]>();
  const versions = (id: string) => made.get(id) ?? [];
  const makeOne = (text: string, id: string): void => {
    const digest = computeContentDigest(text);
    const ledger = versions(id).map(entryOf);
    const record = { digest, metadataDigest: EMPTY_METADATA_DIGEST, operation: 'test', ledger };
    const stamp = renderVersionRecord(record);
    const version = store.createVersion(`prm_${id}`, { content: text, metadata: { promptsync: stamp } })!;
    made.set(id, [...versions(id), version]);
    store.setActive(`prm_${id}`, { environment: 'promptsync', versionId: version.id });
  };
  return {
    /** Creates managed versions with these texts. The ledger of the newest one lists all of them. */
    make: (texts: readonly string[], id = 'greeting') => texts.forEach((text) => makeOne(text, id)),
    /** Activates the version with this number. */
    activate: (environment: string, number: number, id = 'greeting') => {
      store.setActive(`prm_${id}`, { environment, versionId: versions(id)[number - 1]!.id });
    },
    /** Returns for example `v2`, or `nothing` if no version is active. */
    serves: (environment: string, id = 'greeting') => {
      const active = store.readPrompt(`prm_${id}`, environment)?.active_version ?? null;
      return active === null ? 'nothing' : `v${active.version_number}`;
    },
  };
}

function entryOf({ version_number: number, id, content }: StoredVersion): LedgerEntry {
  return { number, id, digest: computeContentDigest(content), metadataDigest: EMPTY_METADATA_DIGEST, isManaged: true };
}

/** Returns the run in one line: the exit code, each prompt with its problems, and the codes of all other problems. */
export function summarizeRun({ exitCode, report }: Reported): string {
  const prompts = report.prompts.map(({ key, status, problems }) =>
    [`${key} ${status}`, ...problems.map(({ code }) => code)].join(' '),
  );
  return [`exit ${exitCode}`, ...prompts, ...report.problems.map(({ code }) => code)].join(', ');
}
