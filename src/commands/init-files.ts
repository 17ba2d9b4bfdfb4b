import { existsSync } from 'node:fs';
import { appendFile, lstat, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { conflictWith, newFileOf } from './import-file.ts';
import { readToImport } from './import.ts';
import type { InitAnswers } from './init-answers.ts';
import type { ServiceOptions } from './open-service.ts';
import type { Config } from '../config/config.ts';
import type { WrittenFile } from '../domain/edits.ts';
import type { Interview, World } from '../domain/world.ts';
import { findPromptPaths } from '../files/find.ts';
import { firstLink, slashed } from '../files/paths.ts';
import { createFile, replaceFile } from '../files/read-write.ts';
import { readPrompts } from '../files/read.ts';
import { writeYaml, type YamlValue } from '../files/write-yaml.ts';
import { isError, makeProblem, type Problem, systemCodeOf } from '../problem.ts';
import { WORKFLOWS } from './workflows.ts';

/** A file that init writes: the whole of it, or a line that it is to have. The path is relative to the new workspace. */
export type InitFile = {
  readonly path: string;
  readonly kind: 'whole' | 'line';
  readonly content: string;
  /** Paths of prompt files that it is for: it is of use where the configuration selects one of them. Absent: always. */
  readonly prompts?: readonly string[];
};

const EXAMPLE_ID = 'prm_example_greeting';

/** One of a prompt: it is of no use where its own path is not selected. */
export function promptFile(path: string, content: string): InitFile {
  return { path, kind: 'whole', content, prompts: [path] };
}

/** A first prompt file, for the embedded service or until the first prompt is imported. */
export function examplePrompt({ folder, environments }: InitAnswers): InitFile {
  const pins = writeYaml(new Map([['pins', new Map(environments.slice(0, 1).map((name) => [name, 'latest']))]]));
  const content = [
    '---',
    '# An example. The service has no call that creates a prompt: create one there, and replace this id by the one that',
    '# it shows. `promptsync import <id>` writes the file of a prompt that has a text already.',
    `id: ${EXAMPLE_ID}`,
    'key: example/greeting',
    'name: Example greeting',
    'description: First message a customer sees.',
    `${pins}---`,
    '',
    'You are a friendly assistant. Greet {{customer_name}} by name, in one sentence, and ask how you can help.',
    '',
  ];
  return promptFile(`${folder}/example/greeting.md`, content.join('\n'));
}

/** The workflows at the root of the repository. Where the workspace is not there, they name its folder. */
export function workflowFiles(workspace: string, root: string, { keyVariable }: InitAnswers): readonly InitFile[] {
  const up = slashed(relative(workspace, root));
  const folder = slashed(relative(root, workspace));
  return Object.entries(WORKFLOWS).map(([name, lines]) => ({
    path: `${up === '' ? '' : `${up}/`}.github/workflows/promptsync-${name}.yml`,
    kind: 'whole',
    content: lines.flatMap((line) => workflowLines(line, folder, keyVariable)).join('\n'),
  }));
}

/** The lines that git and the embedded service need. */
export function lineFiles({ folder, url }: InitAnswers): readonly InitFile[] {
  const pattern = patternOf(folder);
  const attributes = `${/\s|^#/.test(pattern) ? `"${pattern}"` : pattern} text eol=lf`;
  const ignored: InitFile = { path: '.gitignore', kind: 'line', content: '.promptsync/' };
  const prompts = [`${folder}/greeting.md`, `${folder}/example/greeting.md`];
  return [{ path: '.gitattributes', kind: 'line', content: attributes, prompts }, ...(url === null ? [ignored] : [])];
}

function workflowLines(line: string, folder: string, keyVariable: string): readonly string[] {
  const [indent] = /^ *(?=api-key:)/.exec(line) ?? [];
  if (indent === undefined) return [line];
  const key = line.replace('secrets.PROMPTSYNC_API_KEY', `secrets.${keyVariable}`);
  const where = writeYaml(new Map([['working-directory', folder]])).trimEnd();
  return folder === '' ? [key] : [key, `${indent}${where}`];
}

const EMBEDDED_DATABASE = '.promptsync/service.db';

/** The text of promptsync.yaml. Whatever the answers hold, it says just that: a fault is found when it is parsed. */
export function configText({ url, keyVariable, folder, environments }: InitAnswers): string {
  const service = url === null ? embedded() : remote(url, keyVariable);
  return [
    service,
    '# Patterns of prompt files, relative to this file.',
    mapping('prompts', [patternOf(folder)]),
    '# In promotion order. What is promoted is a version that the environment before serves already.',
    mapping('environments', promotions(environments)),
  ].join('\n');
}

export function patternOf(folder: string): string {
  return `${folder}/**/*.md`;
}

function remote(url: string, keyVariable: string): string {
  return [
    '# Where the prompts go. The variable PROMPTSYNC_BASE_URL goes before base_url, and api_key_env is the NAME of the',
    '# variable that holds the API key, never the key itself.',
    mapping('service', { base_url: url, api_key_env: keyVariable }),
  ].join('\n');
}

function embedded(): string {
  return [
    '# The embedded service, for a first try. For a real one put `base_url: https://…` in place of `embedded`, and the',
    '# API key into the variable PROMPTSYNC_API_KEY.',
    mapping('service', { embedded: EMBEDDED_DATABASE }),
  ].join('\n');
}

/** Each environment but the first is promoted to from the one before it. */
function promotions(names: readonly string[]): ReadonlyMap<string, YamlValue> {
  return new Map(
    names.map((name, index): [string, YamlValue] => {
      const before = names[index - 1];
      return [name, before === undefined ? {} : { promote_from: before, allow_latest: false }];
    }),
  );
}

function mapping(name: string, value: YamlValue): string {
  return writeYaml(new Map([[name, value]]));
}

/** The first prompt file of a workspace: none with an error among the problems, or where there are some already. */
export type FirstPrompt = {
  readonly files: readonly InitFile[];
  /** How reports call the service; null when it was not asked. */
  readonly service: string | null;
  readonly problems: readonly Problem[];
};

/** Makes the first prompt file: an imported prompt, which shows whether address and key are right, or an example. */
export async function firstPrompt(
  answers: InitAnswers,
  config: Config,
  options: ServiceOptions,
  world: World,
): Promise<FirstPrompt> {
  if (answers.id !== null) return importFirst(answers.id, answers.folder, config, options, world);
  const example = examplePrompt(answers);
  const { paths } = findPromptPaths(config);
  const files = paths.length === 0 || paths.includes(example.path) ? [example] : [];
  return { files, service: null, problems: [] };
}

async function importFirst(
  id: string,
  folder: string,
  config: Config,
  options: ServiceOptions,
  world: World,
): Promise<FirstPrompt> {
  const environments = config.environments ?? [];
  const { files } = await readPrompts(config, { known: null, reserved: [] });
  const names = environments.map(({ name }) => name);
  const read = await readToImport({ config, files, ids: [id], environments: names }, options, world);
  const observed = read.observation?.observed.get(id);
  const { service } = read;
  if (observed === undefined) {
    const failed = read.observation?.failed.get(id);
    return { files: [], service, problems: [...read.problems, ...(failed === undefined ? [] : [failed])] };
  }
  const { prompt, source, warnings } = newFileOf(observed, { config, folder, environments, environment: null });
  const others = files.filter(({ path }) => path !== prompt.path);
  const conflict = source === null ? null : conflictWith(prompt, others);
  const problems = [...prompt.problems, ...warnings, ...(conflict === null ? [] : [conflict])];
  if (source === null || problems.some(isError)) return { files: [], service, problems };
  return { files: [promptFile(prompt.path, source)], service, problems };
}

/** Where files are written, and what is done about one that is there and differs. */
export type InitTarget = {
  /** Absolute; the workspace and what must not be left. */
  readonly workspace: string;
  readonly root: string;
  /** Overwrite without a question. */
  readonly force: boolean;
  readonly interview: Interview | null;
};

/** What is to be done with one file. */
export type Decided = {
  readonly file: InitFile;
  readonly status: WrittenFile['status'];
  /** Empty where there is none. */
  readonly before: string;
};

/** Looks at what is there, and asks where something would be lost. Throws a `ProblemError` when somebody gives up. */
export async function decideOn(file: InitFile, target: InitTarget): Promise<Decided | Problem> {
  const full = resolve(target.workspace, file.path);
  const before = await readRegular(full, file.path, target);
  if (typeof before === 'object' && before !== null) return before;
  if (before === null) return { file, status: 'created', before: '' };
  return { file, status: await statusOf(file, before, target), before };
}

/** Writes what was decided. What stands in the way is returned. */
export async function writeDecided(
  { file, status, before }: Decided,
  { workspace }: InitTarget,
): Promise<Problem | null> {
  const { path, kind, content } = file;
  const full = resolve(workspace, path);
  const whole = kind === 'whole' ? content : `${content}\n`;
  try {
    if (status === 'extended') await appendFile(full, before === '' || before.endsWith('\n') ? whole : `\n${whole}`);
    if (status === 'overwritten') await replaceFile(full, whole);
    if (status !== 'created' || (await createFile(full, whole))) return null;
    return makeProblem('init/in-the-way', { path, what: 'it has come into being meanwhile' });
  } catch (error) {
    return makeProblem('edit/unwritable', { reason: systemCodeOf(error) }, { path });
  }
}

/** Null when there is no file. Links are not followed: they may lead out of the repository. */
async function readRegular(
  full: string,
  path: string,
  { workspace, root }: InitTarget,
): Promise<string | Problem | null> {
  const link = firstLink(root, dirname(full));
  const shown = link === null ? path : slashed(relative(workspace, link));
  const stats = await lstat(full).catch(() => null);
  if (link !== null || stats?.isSymbolicLink() === true) {
    return makeProblem('init/in-the-way', { path: shown, what: 'it is a symbolic link' });
  }
  if (stats === null) return null;
  if (!stats.isFile()) return makeProblem('init/in-the-way', { path, what: 'it is not a regular file' });
  try {
    return await readFile(full, 'utf8');
  } catch (error) {
    return makeProblem('edit/unwritable', { reason: systemCodeOf(error) }, { path });
  }
}

async function statusOf(
  { path, kind, content }: InitFile,
  before: string,
  { force, interview }: InitTarget,
): Promise<WrittenFile['status']> {
  if (kind === 'line') return hasLine(before, content) ? 'kept' : 'extended';
  if (before === content) return 'kept';
  const message = `${path} is there and differs. Overwrite it?`;
  return force || (await interview?.confirm({ message, initial: false })) === true ? 'overwritten' : 'kept';
}

function hasLine(text: string, line: string): boolean {
  return text.split('\n').some((one) => one.trim() === line);
}

/** In a folder in which the package is installed. */
const INSTALLED = 'node_modules/promptsync/schemas/promptsync.schema.json';

/**
 * Where editors find the schema of a promptsync.yaml, relative to its folder: where the package is installed in that
 * folder or above, up to the repository's root. Where it is not, it is expected in the folder itself.
 */
export function schemaPath(folder: string, root: string): string {
  return slashed(relative(folder, join(installedAbove(folder, root) ?? folder, INSTALLED)));
}

function installedAbove(at: string, root: string): string | null {
  if (existsSync(join(at, INSTALLED))) return at;
  return at === root || dirname(at) === at ? null : installedAbove(dirname(at), root);
}
