import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentDigest, EMPTY_METADATA_DIGEST } from '../../src/domain/digest.ts';
import type { StoredVersion } from '../../src/embedded/store.ts';
import { stampToWire, type LedgerEntry } from '../../src/ledger/stamp.ts';
import { commitAll, commitEdits, makeRepository, writeFiles } from './folder.ts';
import { CONFIG, promptText, workspaceFiles, type PromptParts } from './prompts.ts';
import { run, runJson, type Reported, type RunOptions } from './run.ts';
import { startTestService, type TestService } from './service.ts';

/** Two environments, the second promoted from the first. */
export const PROMOTION = `${CONFIG}environments: { staging: {}, production: { promote_from: staging } }\n`;

export const PATH = 'prompts/greeting.md';

export type Scene = Awaited<ReturnType<typeof begin>>;

export type SceneOptions = {
  readonly config?: string;
  /** Further prompts, by name. */
  readonly others?: Readonly<Record<string, PromptParts>>;
  /** Where the files are; a repository of their own by default. */
  readonly makeFolder?: (files: ReturnType<typeof workspaceFiles>) => string;
  readonly options?: RunOptions;
};

/** The prompt `greeting` in a repository, and a service that knows it. */
export async function begin(greeting: PromptParts, scene: SceneOptions = {}) {
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
    /** Writes these parts of the prompt's file, and commits it; the commit. */
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
    const digest = contentDigest(text);
    const ledger = versions(id).map(entryOf);
    const stamp = stampToWire({ digest, metadataDigest: EMPTY_METADATA_DIGEST, operation: 'test', ledger });
    const version = store.createVersion(`prm_${id}`, { content: text, metadata: { promptsync: stamp } })!;
    made.set(id, [...versions(id), version]);
    store.setActive(`prm_${id}`, { environment: 'promptsync', versionId: version.id });
  };
  return {
    /** Makes versions of these texts in the service, as promptsync would have: the newest knows of all of them. */
    make: (texts: readonly string[], id = 'greeting') => texts.forEach((text) => makeOne(text, id)),
    /** Makes a version of such a number active. */
    activate: (environment: string, number: number, id = 'greeting') => {
      store.setActive(`prm_${id}`, { environment, versionId: versions(id)[number - 1]!.id });
    },
    /** `v2`; `nothing` where none is active. */
    serves: (environment: string, id = 'greeting') => {
      const active = store.readPrompt(`prm_${id}`, environment)?.active_version ?? null;
      return active === null ? 'nothing' : `v${active.version_number}`;
    },
  };
}

function entryOf({ version_number: number, id, content }: StoredVersion): LedgerEntry {
  return { number, id, digest: contentDigest(content), metadataDigest: EMPTY_METADATA_DIGEST, ours: true };
}

/** A run in one line: exit code, each prompt with its problems, and the codes of all others. */
export function told({ exitCode, report }: Reported): string {
  const prompts = report.prompts.map(({ key, status, problems }) =>
    [`${key} ${status}`, ...problems.map(({ code }) => code)].join(' '),
  );
  return [`exit ${exitCode}`, ...prompts, ...report.problems.map(({ code }) => code)].join(', ');
}
