import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderJson } from '../rendering/render-json.ts';
import { renderMarkdown } from '../rendering/render-markdown.ts';
import type { HidingActionHost } from './host.ts';
import type { Telling } from './telling.ts';

/** Writes the whole report, without a limit, where later steps can read it; resolves to the paths. */
export async function writeReports(
  { report, page, hide }: Telling,
  { environment, newId }: HidingActionHost,
): Promise<{ readonly json: string; readonly markdown: string }> {
  const folder = join(environment['RUNNER_TEMP'] || tmpdir(), `promptsync-${newId()}`);
  const paths = { json: join(folder, 'report.json'), markdown: join(folder, 'report.md') };
  await mkdir(folder, { recursive: true });
  await writeFile(paths.json, hide(renderJson(report)));
  await writeFile(paths.markdown, hide(renderMarkdown(report, page).text));
  return paths;
}
