import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Config, CONFIG_NAME } from '../../workspace/config.ts';
import { escapeSelector } from '../../text.ts';
import { makeRelativePath, toForwardSlashes } from '../../workspace/paths.ts';
import { renderYaml, type YamlValue } from '../../workspace/render-yaml.ts';
import { DEFAULT_PROVIDER, type ProviderName, PROVIDERS } from '../../providers/provider-list.ts';

/** The CI systems that `init` supports. For `none`, it writes no CI files. */
export const CI_SYSTEMS = ['github', 'gitlab', 'none'] as const;

export type CiSystem = (typeof CI_SYSTEMS)[number];

export type InitAnswers = {
  readonly provider: ProviderName;
  /** The address of the service. Null selects the embedded service. */
  readonly url: string | null;
  /** The name of the environment variable that contains the secret key. */
  readonly keyVariable: string;
  /** The folder of the prompt files, relative to promptsync.yaml. */
  readonly folder: string;
  /** The names of the environments, in promotion order. */
  readonly environments: readonly string[];
  /** The id of the first prompt to import. If null, `init` imports none. */
  readonly id: string | null;
  readonly ci: CiSystem;
  readonly preCommit: boolean;
};

export type InitFile = {
  /** The path of the file, relative to the new workspace. */
  readonly path: string;
  /**
   * - `whole`: `content` is the complete file.
   * - `shared`: like `whole`, but other tools may use the file too. `init` never edits or overwrites an existing one.
   * - `line`: `init` appends the line `content`, unless the file already contains it.
   * - `include`: `init` creates a file that includes the GitLab CI file at the path `content`. It never edits an
   *   existing file.
   */
  readonly kind: 'whole' | 'shared' | 'line' | 'include';
  readonly content: string;
  /** `init` skips the file if the configuration selects none of these prompts. If absent, `init` never skips it. */
  readonly promptPaths?: readonly string[];
};

/** The folder of the new workspace and the root of its repository, as absolute paths. */
export type WorkspacePlace = Pick<Config, 'folder' | 'root'>;

/** Creates promptsync.yaml. Its first line tells editors where to find the JSON Schema. */
export function makeConfigFile(answers: InitAnswers, place: WorkspacePlace): InitFile {
  const comment = `# yaml-language-server: $schema=${findSchemaPath(place)}\n`;
  return { path: CONFIG_NAME, kind: 'whole', content: comment + renderConfig(answers) };
}

/** The path of the JSON Schema, relative to a folder that contains the installed package. */
const INSTALLED_SCHEMA = 'node_modules/promptsync/schemas/promptsync.schema.json';

/** Returns the path relative to promptsync.yaml. Assumes the workspace folder if the package is not installed. */
function findSchemaPath({ folder, root }: WorkspacePlace): string {
  const installationFolder = findInstallationFolder(folder, root) ?? folder;
  return makeRelativePath(folder, join(installationFolder, INSTALLED_SCHEMA));
}

/** Searches from `folder` up to `root`. */
function findInstallationFolder(folder: string, root: string): string | null {
  if (existsSync(join(folder, INSTALLED_SCHEMA))) return folder;
  const parent = dirname(folder);
  return folder === root || parent === folder ? null : findInstallationFolder(parent, root);
}

/** Does not check the answers, because the parser reports invalid values later. */
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
    '# Glob patterns for the prompt files, relative to this file.',
    renderMapping('prompts', [makePattern(folder)]),
    '# The environments in promotion order. An environment with `promote_from` accepts only versions that are already',
    '# active in the environment that `promote_from` names.',
    renderMapping(
      'environments',
      new Map(environments.map((name, index) => [name, makeEnvironmentSettings(environments[index - 1])])),
    ),
  ].join('\n');
}

const EMBEDDED_DATABASE = '.promptsync/service.db';

const EMBEDDED_SERVICE_COMMENT = [
  '# The embedded service, for trying out promptsync. To use a hosted service, replace `embedded` with',
  '# `base_url: https://…`, and put the API key into the variable PROMPTSYNC_API_KEY.',
];

const REMOTE_SERVICE_COMMENT = [
  '# The service that stores the prompts. The variable PROMPTSYNC_BASE_URL overrides base_url. A setting whose name ends',
  '# in key_env is the NAME of a variable that holds a key, never the key itself.',
];

/** Every environment except the first gets its versions by promotion from the previous environment. */
function makeEnvironmentSettings(previous: string | undefined): YamlValue {
  return previous === undefined ? {} : { promote_from: previous, allow_latest: false };
}

/** Renders a mapping with one key as YAML, in block style with a line break at the end. */
function renderMapping(name: string, value: YamlValue): string {
  return renderYaml(new Map([[name, value]]));
}

function makePattern(folder: string): string {
  return `${folder}/**/*.md`;
}

/** Creates a text prompt and, if the service has chat prompts, a chat prompt. Both pin the first environment. */
export function makeExamplePrompts({ provider, folder, environments }: InitAnswers): readonly InitFile[] {
  const { exampleFrontMatter, exampleChatFrontMatter } = PROVIDERS[provider];
  const pins = renderMapping('pins', new Map(environments.slice(0, 1).map((name) => [name, 'latest'])));
  const makeExample = (name: string, frontMatter: readonly string[], body: readonly string[]): InitFile => {
    const lines = ['---', ...frontMatter, `${pins}---`, '', ...body, ''];
    return makePromptInitFile(`${folder}/example/${name}.md`, lines.join('\n'));
  };
  return [
    makeExample('greeting', exampleFrontMatter, EXAMPLE_TEXT),
    ...(exampleChatFrontMatter === null ? [] : [makeExample('agent', exampleChatFrontMatter, EXAMPLE_CHAT)]),
  ];
}

const EXAMPLE_TEXT = [
  'You are a friendly assistant. Greet {{customer_name}} by name, in one sentence, and ask how you can help.',
];

const EXAMPLE_CHAT = [
  '{{role "system"}}',
  'You are a support agent for {{company}}. Answer in at most three sentences.',
  '',
  '{{placeholder "history"}}',
  '',
  '{{role "user"}}',
  '{{question}}',
];

/** Creates an `InitFile` for a prompt. `init` skips it if the configuration does not select its path. */
export function makePromptInitFile(path: string, content: string): InitFile {
  return { path, kind: 'whole', content, promptPaths: [path] };
}

export function makeLineFiles(
  { folder, url }: InitAnswers,
  { folder: workspace, root }: WorkspacePlace,
): readonly InitFile[] {
  const pattern = makePattern(folder);
  const quotedPattern = /\s|^#/.test(pattern) ? `"${pattern}"` : pattern;
  const attributes = `${quotedPattern} text eol=lf`;
  const ignoredPattern = makePattern(`/${escapeSelector(makeRelativePath(root, join(workspace, folder)))}`);
  // `init` uses these sample paths to check whether the configuration selects prompt files in this folder.
  const samplePaths = [`${folder}/greeting.md`, `${folder}/example/greeting.md`];
  const makeLine = (path: string, content: string) => ({ path, kind: 'line' as const, content });
  // Prettier runs in the root of the repository, and reads only the ignore file in its working directory.
  const ignorePath = makeRelativePath(workspace, join(root, '.prettierignore'));
  return [
    { ...makeLine('.gitattributes', attributes), promptPaths: samplePaths },
    { ...makeLine(ignorePath, ignoredPattern), promptPaths: samplePaths },
    ...(url === null ? [makeLine('.gitignore', '.promptsync/')] : []),
  ];
}

/** The id of the hook in .pre-commit-hooks.yaml. */
export const PRE_COMMIT_HOOK = 'promptsync-validate';

/** pre-commit reads the file only in the root of the repository. The zeros stand for a commit of promptsync. */
export function makePreCommitFile({ folder, root }: WorkspacePlace): InitFile {
  const configPath = toForwardSlashes(makeRelativePath(root, join(folder, CONFIG_NAME)));
  const args = configPath === CONFIG_NAME ? {} : { args: ['--config', configPath] };
  const hook = renderYaml([{ id: PRE_COMMIT_HOOK, ...args }]);
  const lines = [
    'repos:',
    '  - repo: https://github.com/OWNER/promptsync',
    `    rev: '${'0'.repeat(40)}'`,
    '    hooks:',
    hook.replaceAll(/^(?=.)/gm, '      '),
  ];
  const path = makeRelativePath(folder, join(root, '.pre-commit-config.yaml'));
  return { path, kind: 'shared', content: lines.join('\n') };
}
