import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ChatMessage } from '../../../src/domain/chat.ts';
import { isError } from '../../../src/problem.ts';
import { SECRET_KEY, startLangfuse } from '../../doubles/langfuse-server.ts';
import type { LangfuseEdit } from '../../doubles/langfuse-store.ts';
import { commitAll, makeRepository, writeFiles, type Files } from '../../support/folder.ts';
import { run, runJson, type Ran } from '../../support/run.ts';

export const CONFIG = `service: { provider: langfuse }
environments:
  staging: {}
  production: { promote_from: staging, allow_latest: false }
`;

export const system = (content: string): ChatMessage => ({ role: 'system', content });
export const user = (content: string): ChatMessage => ({ role: 'user', content });
export const history: ChatMessage = { type: 'placeholder', name: 'history' };

/** Renders the file of a chat prompt. The body is written as given. */
export function makeChatFile(id: string, body: string, pins = '{ staging: latest }'): string {
  return `---\nid: ${id}\ntype: chat\npins: ${pins}\n---\n\n${body}\n`;
}

/** Makes an empty Langfuse and a committed workspace with these files. */
export async function makeScene(files: Files = {}) {
  const langfuse = await startLangfuse();
  const { store } = langfuse;
  const folder = makeRepository({ 'promptsync.yaml': CONFIG, ...files });
  const checkSecret = <Result extends Ran>(ran: Result): Result => {
    expect(ran.stdout + ran.stderr).not.toContain(SECRET_KEY);
    return ran;
  };
  const json = async (...words: readonly string[]) => checkSecret(await runJson(folder, words, langfuse));
  return {
    langfuse,
    store,
    folder,
    json,
    run: async (...words: readonly string[]) => checkSecret(await run(folder, words, langfuse)),
    read: (path: string) => readFileSync(join(folder, path), 'utf8'),
    write: (changed: Files) => writeFiles(folder, changed),
    commit: (changed: Files, message = 'Change the prompts'): string => {
      writeFiles(folder, changed);
      return commitAll(folder, message);
    },
    /** Creates a version as somebody does in Langfuse. Langfuse removes the labels from earlier versions. */
    addVersion: (name: string, { labels = ['staging'], ...edit }: LangfuseEdit) =>
      void store.addVersion(name, { ...edit, labels }),
    /** Syncs, and checks that the next plan is empty. */
    sync: async (): Promise<void> => {
      const synced = await json('sync', '--yes');
      expect(synced.report.prompts.flatMap(({ problems }) => problems.filter(isError))).toEqual([]);
      expect(synced.exitCode).toBe(0);
      expect((await json('plan', '--exit-code')).exitCode).toBe(0);
    },
  };
}
