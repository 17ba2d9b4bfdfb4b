import { join } from 'node:path';
import { CONFIG_NAME } from '../../workspace/config.ts';
import { makeRelativePath, toForwardSlashes } from '../../workspace/paths.ts';
import { renderYamlValue } from '../../workspace/render-yaml.ts';
import { PROVIDERS } from '../../providers/provider-list.ts';
import type { Words } from '../../words.ts';
import { type CiSystem, type InitAnswers, type InitFile, renderMapping, type WorkspacePlace } from './init-files.ts';
import { WORKFLOWS } from './example-workflows.ts';

/**
 * The path of the file with the GitLab CI jobs, relative to the repository root. `.gitlab-ci.yml` includes this file.
 */
const GITLAB_JOBS_PATH = '.gitlab/promptsync.gitlab-ci.yml';

/** The path of the GitHub workflow with one apply job per environment, relative to the repository root. */
const GITHUB_APPLY_PATH = '.github/workflows/promptsync-apply.yml';

/**
 * Creates the CI files, which belong in the root of the repository. If the workspace is in a subfolder, the files
 * contain the path of that folder.
 */
export function makeCiFiles(answers: InitAnswers, { folder: workspace, root }: WorkspacePlace): readonly InitFile[] {
  const { ci } = answers;
  const workspaceFolder = makeRelativePath(root, workspace);
  const makePath = (pathFromRoot: string) => makeRelativePath(workspace, join(root, pathFromRoot));
  const templates = Object.entries(WORKFLOWS).filter(([path]) => path.startsWith(`.${ci}/`));
  const files = templates.map(([path, template]): InitFile => {
    const withJobs = writeApplyJobs(path, template, answers.environments);
    return { path: makePath(path), kind: 'whole', content: fillCiTemplate(withJobs, answers, workspaceFolder) };
  });
  if (ci !== 'gitlab') return files;
  return [...files, { path: makePath('.gitlab-ci.yml'), kind: 'include', content: GITLAB_JOBS_PATH }];
}

/**
 * Checks whether the CI files can contain these environment names. Returns the reason why not, in the words of the
 * provider, or null if they can.
 *
 * - The input `environments` of the GitHub Action is separated by white space, and `$` may begin an expression.
 * - GitLab allows only some characters in environment names, and `$` begins a variable.
 */
export function findCiNameFault(ci: CiSystem, environments: readonly string[], words: Words): string | null {
  const isAllowed = CI_NAME_CHECKS[ci];
  const name = environments.find((environment) => !isAllowed(environment));
  return name === undefined
    ? null
    : `the ${ci === 'github' ? 'GitHub workflow' : 'GitLab file'} cannot contain the ${words.environment} name "${name}". Rename the ${words.environment}, or pass --ci none.`;
}

const CI_NAME_CHECKS: Readonly<Record<CiSystem, (name: string) => boolean>> = {
  github: (name) => !/[\s$]/.test(name),
  gitlab: (name) => /^(?!\/)[\w ./-]+(?<!\/)$/.test(name),
  none: () => true,
};

/** Replaces the example's apply jobs with jobs for these environments. Returns other files unchanged. */
function writeApplyJobs(path: string, template: string, environments: readonly string[]): string {
  if (path === GITHUB_APPLY_PATH) return writeGitHubJobs(template, environments);
  return path === GITLAB_JOBS_PATH ? writeGitLabJobs(template, environments) : template;
}

/**
 * Writes one job for each environment. The example has two jobs to copy: one for the first environment, and one that is
 * the pattern for every later environment.
 */
function writeGitHubJobs(template: string, environments: readonly string[]): string {
  const [header = '', firstJob = '', laterJob = ''] = template.split(/^(?= {2}(?:staging|production):$)/m);
  const ids = makeJobIds(environments);
  const jobs = environments.map((name, index) => {
    const id = ids[index] ?? '';
    const displayName = id === name ? '' : `\n    name: ${renderName(name)}`;
    return (index === 0 ? firstJob : laterJob)
      .trimEnd()
      .replace(/(?<=^ {2})\w+:$/m, () => `${renderName(id)}:${displayName}`)
      .replace(/(?<=needs: ).*$/m, () => renderName(ids[index - 1] ?? ''))
      .replace(/(?<=environment: ).*$/m, () => renderName(name))
      .replace(/(?<=group: promptsync-apply-)\w+/, () => id)
      .replace(/(?<=environments: ).*$/m, () => renderName(name));
  });
  return `${header}${jobs.join('\n\n')}\n`;
}

/**
 * Builds the id of each job in the GitHub workflow. The id is the name of the environment if GitHub accepts it as an
 * id. Otherwise, the id contains the position of the environment. GitHub ignores case. An id that begins with
 * `promptsync` could be mistaken for the check with that name.
 */
function makeJobIds(environments: readonly string[]): readonly string[] {
  const lowerCased = environments.map((name) => name.toLowerCase());
  return environments.map((name, index) => {
    const isId = /^(?!promptsync|environment-\d)[a-z_][\w-]*$/i.test(name);
    const isFirst = lowerCased.indexOf(name.toLowerCase()) === index;
    return isId && isFirst ? name : `environment-${index + 1}`;
  });
}

/** Renders one job for each environment. Like `writeGitHubJobs`, replaces two patterns in the template. */
function writeGitLabJobs(template: string, environments: readonly string[]): string {
  const [header = '', firstJob = '', laterJob = '', rest = ''] = template.split(
    /^(?=promptsync:(?:apply:\w+|drift):$)/m,
  );
  const makeJobName = (environment: string) => renderName(`promptsync:apply:${environment}`);
  const jobs = environments.map((name, index) =>
    (index === 0 ? firstJob : laterJob)
      .replace(/^promptsync:apply:\w+(?=:$)/m, () => makeJobName(name))
      .replace(/(?<=job: ).*$/m, () => makeJobName(environments[index - 1] ?? ''))
      .replace(/(?<=environment: ).*$/m, () => renderName(name)),
  );
  return `${header}${jobs.join('')}${rest}`;
}

/**
 * Renders a name as YAML. Quotes every name that some version of YAML may not read as a string, such as `on` or
 * `12:30`. GitLab parses YAML 1.1.
 */
function renderName(name: string): string {
  const isPlain = /^(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z][a-z0-9_-]*(?::[a-z0-9_-]+)*$/i.test(name);
  return renderYamlValue(name, isPlain ? 'plain' : 'double');
}

/**
 * Inserts the names of the key variables and the path of the workspace into a CI template.
 * @param workspaceFolder the folder of the workspace, relative to the repository root; empty for the root itself
 */
function fillCiTemplate(template: string, { provider, keyVariable }: InitAnswers, workspaceFolder: string): string {
  const config = toForwardSlashes(join(workspaceFolder, CONFIG_NAME));
  return addPublicKey(template, PROVIDERS[provider].keys.public?.defaultVariable)
    .replaceAll('PROMPTSYNC_API_KEY', keyVariable)
    .replace(/^( *)PROMPTSYNC_CONFIG: .*\n/m, (_, indent) => indent + renderMapping('PROMPTSYNC_CONFIG', config))
    .replaceAll(/^( *)api-key: .*\n/gm, (line, indent) => {
      return line + (workspaceFolder === '' ? '' : indent + renderMapping('working-directory', workspaceFolder));
    });
}

/**
 * Adds the variable with the public key of the service to a CI file.
 * @param variable the name of that variable. If it is undefined, the service has no public key, and the file stays
 * unchanged
 */
function addPublicKey(text: string, variable: string | undefined): string {
  if (variable === undefined) return text;
  return text
    .replaceAll(/^ *(?=api-key: )/gm, `$&public-key: \${{ secrets.${variable} }}\n$&`)
    .replace('PROMPTSYNC_API_KEY with one', `PROMPTSYNC_API_KEY and ${variable} with one`);
}
