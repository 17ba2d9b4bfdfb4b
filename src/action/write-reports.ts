import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderHtml } from '../report/html/page.ts';
import { renderJson } from '../report/escape.ts';
import { renderMarkdown } from '../report/markdown.ts';
import type { HidingActionHost } from './host.ts';
import type { Telling } from './telling.ts';

/** Writes the whole report, without a limit, where later steps can read it; resolves to the paths. */
export async function writeReports(
  { report, page, hide }: Telling,
  { environment, newId }: HidingActionHost,
): Promise<{ readonly json: string; readonly markdown: string; readonly html: string }> {
  const folder = join(environment['RUNNER_TEMP'] || tmpdir(), `promptsync-${newId()}`);
  const inFolder = (name: string) => join(folder, name);
  const paths = { json: inFolder('report.json'), markdown: inFolder('report.md'), html: inFolder('report.html') };
  await mkdir(folder, { recursive: true });
  await writeFile(paths.json, hide(renderJson(report)));
  await writeFile(paths.markdown, hide(renderMarkdown(report, page).text));
  await writeFile(paths.html, hide(renderHtml(report, page.title)));
  return paths;
}
