import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startLangfuse } from '../doubles/langfuse-server.ts';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { CONFIG, promptText, type PromptParts } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const PROMPT = 'prm_greeting';

/** A service with the prompt, and what people can do in it without promptsync. */
type EditableService = {
  /** The configuration of the service. */
  readonly config: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Creates a version and activates it in these environments. */
  readonly createVersion: (text: string, ...environments: readonly string[]) => void;
  readonly activate: (environment: string, number: number) => void;
  /** Returns the number of the active version. */
  readonly getActive: (environment: string) => number | undefined;
};

async function startEmbedded(): Promise<EditableService> {
  const { store, environment } = await startTestService(['greeting']);
  const ids = new Map<number, string>();
  const getActive = (name: string): number | undefined => {
    const active = store.readPrompt(PROMPT, name)?.active_version;
    if (active) ids.set(active.version_number, active.id);
    return active?.version_number;
  };
  return {
    config: '',
    environment,
    createVersion: (content, ...environments) => {
      const { id, version_number: number } = store.createVersion(PROMPT, { content })!;
      ids.set(number, id);
      for (const name of environments) store.setActive(PROMPT, { environment: name, versionId: id });
    },
    activate: (name, number) => {
      expect(store.setActive(PROMPT, { environment: name, versionId: ids.get(number)! })).toBe(true);
    },
    getActive,
  };
}

async function startLangfuseService(): Promise<EditableService> {
  const { store, environment } = await startLangfuse();
  return {
    config: 'service: { provider: langfuse }\n',
    environment,
    createVersion: (text, ...labels) => void store.addVersion(PROMPT, { text, labels }),
    activate: (label, number) => store.moveLabel(PROMPT, number, label),
    getActive: (label) => store.serves(PROMPT, label)?.version,
  };
}

const PROMOTION = 'environments: { staging: {}, production: { promote_from: staging } }\n';

function makeScene(service: EditableService, config = '') {
  const folder = makeRepository({ 'promptsync.yaml': `${CONFIG}${config}${service.config}` });
  const run = async (...words: readonly string[]) => {
    const { exitCode, report } = await runJson(folder, words, { environment: service.environment });
    const [prompt] = report.prompts;
    const drift = prompt?.drift.map((one) => `${'environment' in one ? one.environment : one.field} ${one.kind}`);
    const codes = prompt?.problems.map(({ code }) => code);
    return { exitCode, status: prompt?.status, drift, codes };
  };
  return {
    folder,
    run,
    commit: (parts: PromptParts) => {
      // An import may have given the file another name.
      rmSync(join(folder, 'prompts'), { recursive: true, force: true });
      writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', { key: PROMPT, name: PROMPT, ...parts }) });
      commitAll(folder, 'Change the prompt');
    },
  };
}

describe.each([
  ['a four-call service', startEmbedded],
  ['Langfuse', startLangfuseService],
])('a hot fix in %s', (_, start) => {
  test('plan reports a hot fix right after an import as drift caused outside git, and sync with on_drift: fail keeps the hot fix', async () => {
    const service = await start();
    const { folder, run, commit } = makeScene(service, `${PROMOTION}on_drift: fail\n`);
    service.createVersion('One.', 'staging', 'production');
    expect(await run('import', PROMPT)).toMatchObject({ exitCode: 0 });
    commitAll(folder, 'Import');
    service.createVersion('A fix.', 'production');
    const fix = service.getActive('production');
    const drift = ['production outside'];
    expect(await run('plan', '--on-drift', 'overwrite')).toMatchObject({ exitCode: 0, status: 'pending', drift });
    expect(await run('status')).toMatchObject({ drift });
    expect(await run('sync', '--yes')).toMatchObject({ exitCode: 3, status: 'blocked', drift, codes: ['guard/drift'] });
    expect(service.getActive('production')).toBe(fix);
    expect(await run('sync', '--yes', '--on-drift', 'overwrite')).toMatchObject({ exitCode: 0, status: 'applied' });
    expect(service.getActive('production')).toBe(1);
    expect(await run('plan', '--exit-code')).toMatchObject({ exitCode: 0, status: 'unchanged', drift: [] });

    service.createVersion('Another fix.', 'production');
    git(folder, 'checkout', '--quiet', '-b', 'promote');
    commit({ text: 'One.', pins: { staging: 'latest', production: service.getActive('staging')! } });
    expect(await run('plan', '--on-drift', 'overwrite')).toMatchObject({ status: 'pending', drift });
  });
});
