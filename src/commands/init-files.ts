import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Config, CONFIG_NAME, DEFAULTS, type ProviderName } from '../config/config.ts';
import { literalSelector } from '../domain/text.ts';
import { slashed } from '../files/paths.ts';
import { writeYaml, type YamlValue } from '../files/write-yaml.ts';
import { WORKFLOWS } from './workflows.ts';

export const CIS = ['github', 'gitlab', 'none'] as const;
export type Ci = (typeof CIS)[number];

/** What has to be known to begin a workspace. */
export type InitAnswers = {
  readonly provider: ProviderName;
  /** Null: the embedded service. */
  readonly url: string | null;
  /** Of Langfuse that of the secret key. */
  readonly keyVariable: string;
  /** Of the prompt files, relative to the configuration. */
  readonly folder: string;
  /** In promotion order. */
  readonly environments: readonly string[];
  /** Of a first prompt to import; null: an example is written. */
  readonly id: string | null;
  /** Whose CI runs it. */
  readonly ci: Ci;
};

/**
 * A file that init writes: the whole of it, a line that it is to have, or the path of another that it is to include,
 * which is written where there is no file and otherwise left to its owner. The path is relative to the new workspace.
 */
export type InitFile = {
  readonly path: string;
  readonly kind: 'whole' | 'line' | 'include';
  readonly content: string;
  /** Paths of prompt files that it is for: it is of use where the configuration selects one of them. Absent: always. */
  readonly prompts?: readonly string[];
};

type Place = Pick<Config, 'folder' | 'root'>;

/** The configuration, with a comment that tells editors where its schema is. */
export function configFile(answers: InitAnswers, place: Place): InitFile {
  const comment = `# yaml-language-server: $schema=${schemaPath(place)}\n`;
  return { path: CONFIG_NAME, kind: 'whole', content: comment + configText(answers) };
}

/** In a folder in which the package is installed. */
const INSTALLED = 'node_modules/promptsync/schemas/promptsync.schema.json';

/** Relative to the configuration: in the folder or above, up to the root, or where it would be once it is installed. */
function schemaPath({ folder, root }: Place): string {
  return slashed(relative(folder, join(installedAbove(folder, root) ?? folder, INSTALLED)));
}

function installedAbove(at: string, root: string): string | null {
  if (existsSync(join(at, INSTALLED))) return at;
  return at === root || dirname(at) === at ? null : installedAbove(dirname(at), root);
}

/** The text of promptsync.yaml. Whatever the answers hold, it says just that: a fault is found when it is parsed. */
export function configText({ provider, url, keyVariable, folder, environments }: InitAnswers): string {
  const { public_key_env } = DEFAULTS;
  const langfuse = { provider, base_url: url, public_key_env, secret_key_env: keyVariable };
  const remote = provider === 'langfuse' ? langfuse : { base_url: url, api_key_env: keyVariable };
  return [
    ...(url === null ? EMBEDDED : REMOTE),
    mapping('service', url === null ? { embedded: EMBEDDED_DATABASE } : remote),
    '# Patterns of prompt files, relative to this file.',
    mapping('prompts', [patternOf(folder)]),
    '# In promotion order. What is promoted is a version that the environment before serves already.',
    mapping('environments', new Map(environments.map((name, at) => [name, promotion(environments[at - 1])]))),
  ].join('\n');
}

const EMBEDDED_DATABASE = '.promptsync/service.db';

const EMBEDDED = [
  '# The embedded service, for a first try. For a real one put `base_url: https://…` in place of `embedded`, and the',
  '# API key into the variable PROMPTSYNC_API_KEY.',
];

const REMOTE = [
  '# Where the prompts go. The variable PROMPTSYNC_BASE_URL goes before base_url. What ends in key_env is the NAME of a',
  '# variable that holds a key, never the key itself.',
];

/** Each environment but the first is promoted to from the one before it. */
function promotion(before: string | undefined): YamlValue {
  return before === undefined ? {} : { promote_from: before, allow_latest: false };
}

function mapping(name: string, value: YamlValue): string {
  return writeYaml(new Map([[name, value]]));
}

function patternOf(folder: string): string {
  return `${folder}/**/*.md`;
}

/** How a first prompt file begins: in Langfuse a prompt is its name. */
const EXAMPLES: Readonly<Record<ProviderName, readonly string[]>> = {
  integration: [
    '# An example. The service has no call that creates a prompt: create one there, and replace this id by the one that',
    '# it shows. `promptsync import <id>` writes the file of a prompt that has a text already.',
    'id: prm_example_greeting',
    'key: example/greeting',
    'name: Example greeting',
    'description: First message a customer sees.',
  ],
  langfuse: [
    '# An example, which a sync creates in Langfuse. `promptsync import <name>` writes the file of a prompt that is there.',
    'id: example/greeting',
  ],
};

/** A first prompt file, for the embedded service or until the first prompt is imported. */
export function examplePrompt({ provider, folder, environments }: InitAnswers): InitFile {
  const content = [
    '---',
    ...EXAMPLES[provider],
    `${mapping('pins', new Map(environments.slice(0, 1).map((name) => [name, 'latest'])))}---`,
    '',
    'You are a friendly assistant. Greet {{customer_name}} by name, in one sentence, and ask how you can help.',
    '',
  ];
  return promptFile(`${folder}/example/greeting.md`, content.join('\n'));
}

/** A prompt's file is of no use where its own path is not selected. */
export function promptFile(path: string, content: string): InitFile {
  return { path, kind: 'whole', content, prompts: [path] };
}

export const GITLAB_JOBS = '.gitlab/promptsync.gitlab-ci.yml';

/** What a CI runs, at the root of the repository. Where the workspace is not there, it says where it is. */
export function ciFiles(
  { provider, ci, keyVariable }: InitAnswers,
  { folder: workspace, root }: Place,
): readonly InitFile[] {
  const folder = slashed(relative(root, workspace));
  const config = slashed(join(folder, CONFIG_NAME));
  const { public_key_env: open } = DEFAULTS;
  const withPublicKey = (text: string): string =>
    text
      .replace(/^ *(?=api-key: )/m, `$&public-key: \${{ secrets.${open} }}\n$&`)
      .replace('API_KEY,\n# and', `API_KEY,\n# ${open} and`);
  const fill = (text: string): string =>
    (provider === 'langfuse' ? withPublicKey(text) : text)
      .replaceAll('PROMPTSYNC_API_KEY', keyVariable)
      .replace(/^( *)PROMPTSYNC_CONFIG: .*\n/m, (_, indent) => indent + mapping('PROMPTSYNC_CONFIG', config))
      .replace(/^( *)api-key: .*\n/m, (line, indent) => {
        return line + (folder === '' ? '' : indent + mapping('working-directory', folder));
      });
  const at = (path: string) => slashed(relative(workspace, join(root, path)));
  const files = Object.entries(WORKFLOWS).filter(([path]) => path.startsWith(`.${ci}/`));
  return [
    ...files.map(([path, text]) => ({ path: at(path), kind: 'whole' as const, content: fill(text) })),
    ...(ci === 'gitlab' ? [{ path: at('.gitlab-ci.yml'), kind: 'include' as const, content: GITLAB_JOBS }] : []),
  ];
}

/** The lines that git, Prettier and the embedded service need. Prettier is started at the root, and looks there alone. */
export function lineFiles({ folder, url }: InitAnswers, { folder: workspace, root }: Place): readonly InitFile[] {
  const pattern = patternOf(folder);
  const attributes = `${/\s|^#/.test(pattern) ? `"${pattern}"` : pattern} text eol=lf`;
  const unformatted = patternOf(`/${literalSelector(slashed(relative(root, join(workspace, folder))))}`);
  const prompts = [`${folder}/greeting.md`, `${folder}/example/greeting.md`];
  const line = (path: string, content: string) => ({ path, kind: 'line' as const, content });
  return [
    { ...line('.gitattributes', attributes), prompts },
    { ...line(slashed(relative(workspace, join(root, '.prettierignore'))), unformatted), prompts },
    ...(url === null ? [line('.gitignore', '.promptsync/')] : []),
  ];
}
