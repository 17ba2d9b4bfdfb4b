import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Config, CONFIG_NAME } from '../config/config.ts';
import { escapeSelector } from '../text.ts';
import { toForwardSlashes } from '../files/paths.ts';
import { renderYaml, type YamlValue } from '../files/render-yaml.ts';
import { DEFAULT_PROVIDER, type ProviderName, PROVIDERS } from '../providers/list.ts';
import { WORKFLOWS } from './workflows.ts';

export const CI_SYSTEMS = ['github', 'gitlab', 'none'] as const;
export type CiSystem = (typeof CI_SYSTEMS)[number];

/** What has to be known to begin a workspace. */
export type InitAnswers = {
  readonly provider: ProviderName;
  /** Null: the embedded service. */
  readonly url: string | null;
  /** The variable of the secret key. */
  readonly keyVariable: string;
  /** Of the prompt files, relative to the configuration. */
  readonly folder: string;
  /** In promotion order. */
  readonly environments: readonly string[];
  /** Of a first prompt to import; null: an example is written. */
  readonly id: string | null;
  /** Whose CI runs it. */
  readonly ci: CiSystem;
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
  readonly promptPaths?: readonly string[];
};

type WorkspacePlace = Pick<Config, 'folder' | 'root'>;

/** The configuration, with a comment that tells editors where its schema is. */
export function makeConfigFile(answers: InitAnswers, place: WorkspacePlace): InitFile {
  const comment = `# yaml-language-server: $schema=${findSchemaPath(place)}\n`;
  return { path: CONFIG_NAME, kind: 'whole', content: comment + renderConfig(answers) };
}

/** In a folder in which the package is installed. */
const INSTALLED_SCHEMA = 'node_modules/promptsync/schemas/promptsync.schema.json';

/** Relative to the configuration: in the folder or above, up to the root, or where it would be once it is installed. */
function findSchemaPath({ folder, root }: WorkspacePlace): string {
  return toForwardSlashes(relative(folder, join(findInstalledSchema(folder, root) ?? folder, INSTALLED_SCHEMA)));
}

function findInstalledSchema(at: string, root: string): string | null {
  if (existsSync(join(at, INSTALLED_SCHEMA))) return at;
  return at === root || dirname(at) === at ? null : findInstalledSchema(dirname(at), root);
}

/** The text of promptsync.yaml. Whatever the answers hold, it says just that: a fault is found when it is parsed. */
export function renderConfig({ provider, url, keyVariable, folder, environments }: InitAnswers): string {
  const { keys } = PROVIDERS[provider];
  const remote = {
    ...(provider !== DEFAULT_PROVIDER && { provider }),
    base_url: url,
    ...(keys.public !== null && { [keys.public.name]: keys.public.defaultVariable }),
    [keys.secret.name]: keyVariable,
  };
  return [
    ...(url === null ? EMBEDDED_SERVICE_COMMENT : REMOTE_SERVICE_COMMENT),
    renderMapping('service', url === null ? { embedded: EMBEDDED_DATABASE } : remote),
    '# Patterns of prompt files, relative to this file.',
    renderMapping('prompts', [makePattern(folder)]),
    '# In promotion order. What is promoted is a version that the environment before serves already.',
    renderMapping(
      'environments',
      new Map(environments.map((name, at) => [name, renderPromotion(environments[at - 1])])),
    ),
  ].join('\n');
}

const EMBEDDED_DATABASE = '.promptsync/service.db';

const EMBEDDED_SERVICE_COMMENT = [
  '# The embedded service, for a first try. For a real one put `base_url: https://…` in place of `embedded`, and the',
  '# API key into the variable PROMPTSYNC_API_KEY.',
];

const REMOTE_SERVICE_COMMENT = [
  '# Where the prompts go. The variable PROMPTSYNC_BASE_URL goes before base_url. What ends in key_env is the NAME of a',
  '# variable that holds a key, never the key itself.',
];

/** Each environment but the first is promoted to from the one before it. */
function renderPromotion(before: string | undefined): YamlValue {
  return before === undefined ? {} : { promote_from: before, allow_latest: false };
}

function renderMapping(name: string, value: YamlValue): string {
  return renderYaml(new Map([[name, value]]));
}

function makePattern(folder: string): string {
  return `${folder}/**/*.md`;
}

/** A first prompt file, for the embedded service or until the first prompt is imported. */
export function makeExamplePrompt({ provider, folder, environments }: InitAnswers): InitFile {
  const content = [
    '---',
    ...PROVIDERS[provider].exampleFrontMatter,
    `${renderMapping('pins', new Map(environments.slice(0, 1).map((name) => [name, 'latest'])))}---`,
    '',
    'You are a friendly assistant. Greet {{customer_name}} by name, in one sentence, and ask how you can help.',
    '',
  ];
  return makePromptInitFile(`${folder}/example/greeting.md`, content.join('\n'));
}

/** A prompt's file is of no use where its own path is not selected. */
export function makePromptInitFile(path: string, content: string): InitFile {
  return { path, kind: 'whole', content, promptPaths: [path] };
}

export const GITLAB_JOBS = '.gitlab/promptsync.gitlab-ci.yml';

/** What a CI runs, at the root of the repository. Where the workspace is not there, it says where it is. */
export function makeCiFiles(
  { provider, ci, keyVariable }: InitAnswers,
  { folder: workspace, root }: WorkspacePlace,
): readonly InitFile[] {
  const folder = toForwardSlashes(relative(root, workspace));
  const config = toForwardSlashes(join(folder, CONFIG_NAME));
  const fill = (text: string): string =>
    addPublicKey(text, PROVIDERS[provider].keys.public?.defaultVariable)
      .replaceAll('PROMPTSYNC_API_KEY', keyVariable)
      .replace(/^( *)PROMPTSYNC_CONFIG: .*\n/m, (_, indent) => indent + renderMapping('PROMPTSYNC_CONFIG', config))
      .replace(/^( *)api-key: .*\n/m, (line, indent) => {
        return line + (folder === '' ? '' : indent + renderMapping('working-directory', folder));
      });
  const at = (path: string) => toForwardSlashes(relative(workspace, join(root, path)));
  const files = Object.entries(WORKFLOWS).filter(([path]) => path.startsWith(`.${ci}/`));
  return [
    ...files.map(([path, text]) => ({ path: at(path), kind: 'whole' as const, content: fill(text) })),
    ...(ci === 'gitlab' ? [{ path: at('.gitlab-ci.yml'), kind: 'include' as const, content: GITLAB_JOBS }] : []),
  ];
}

/** Adds the public key of the service to a workflow. Returns the text as it is if the service has none. */
function addPublicKey(text: string, variable: string | undefined): string {
  if (variable === undefined) return text;
  return text
    .replace(/^ *(?=api-key: )/m, `$&public-key: \${{ secrets.${variable} }}\n$&`)
    .replace('API_KEY,\n# and', `API_KEY,\n# ${variable} and`);
}

/** The lines that git, Prettier and the embedded service need. Prettier is started at the root, and looks there alone. */
export function makeLineFiles(
  { folder, url }: InitAnswers,
  { folder: workspace, root }: WorkspacePlace,
): readonly InitFile[] {
  const pattern = makePattern(folder);
  const attributes = `${/\s|^#/.test(pattern) ? `"${pattern}"` : pattern} text eol=lf`;
  const unformatted = makePattern(`/${escapeSelector(toForwardSlashes(relative(root, join(workspace, folder))))}`);
  const prompts = [`${folder}/greeting.md`, `${folder}/example/greeting.md`];
  const line = (path: string, content: string) => ({ path, kind: 'line' as const, content });
  return [
    { ...line('.gitattributes', attributes), promptPaths: prompts },
    {
      ...line(toForwardSlashes(relative(workspace, join(root, '.prettierignore'))), unformatted),
      promptPaths: prompts,
    },
    ...(url === null ? [line('.gitignore', '.promptsync/')] : []),
  ];
}
