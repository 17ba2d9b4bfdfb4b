import { join } from 'node:path';
import { type Document, isMap, isScalar, type Pair, parseDocument, Scalar, visit, type YAMLMap } from 'yaml';
import { CONFIG_NAME } from '../../workspace/config.ts';
import { makeRelativePath, toForwardSlashes } from '../../workspace/paths.ts';
import { renderYamlValue } from '../../workspace/render-yaml.ts';
import { PROVIDERS } from '../../providers/provider-list.ts';
import type { Words } from '../../service-words.ts';
import { type CiSystem, type InitAnswers, type InitFile, type WorkspacePlace } from './init-files.ts';
import { WORKFLOWS } from './example-workflows.ts';

/** The path of the GitLab jobs, relative to the repository root. `.gitlab-ci.yml` includes this file. */
const GITLAB_JOBS_PATH = '.gitlab/promptsync.gitlab-ci.yml';

/** The path of the GitHub workflow with one apply job per environment, relative to the repository root. */
const GITHUB_APPLY_PATH = '.github/workflows/promptsync-apply.yml';

/** The CI files belong in the root of the repository. They contain the path of a workspace in a subfolder. */
export function makeCiFiles(answers: InitAnswers, { folder: workspace, root }: WorkspacePlace): readonly InitFile[] {
  const { ci } = answers;
  const workspaceFolder = makeRelativePath(root, workspace);
  const makePath = (pathFromRoot: string) => makeRelativePath(workspace, join(root, pathFromRoot));
  const templates = Object.entries(WORKFLOWS).filter(([path]) => path.startsWith(`.${ci}/`));
  const files = templates.map(([path, template]): InitFile => {
    return { path: makePath(path), kind: 'whole', content: fillTemplate(path, template, answers, workspaceFolder) };
  });
  if (ci !== 'gitlab') return files;
  return [...files, { path: makePath('.gitlab-ci.yml'), kind: 'include', content: GITLAB_JOBS_PATH }];
}

/**
 * Returns the reason why the CI files cannot contain these names. White space separates the names in the input of the
 * GitHub Action, GitLab allows only some characters, and `$` may begin an expression or a variable.
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

/** `workspaceFolder` is relative to the repository root, and empty for the root itself. */
function fillTemplate(path: string, template: string, answers: InitAnswers, workspaceFolder: string): string {
  const { provider, keyVariable, environments } = answers;
  const publicVariable = PROVIDERS[provider].keys.public?.defaultVariable;
  const document = parseDocument(template);
  if (path === GITHUB_APPLY_PATH) writeGitHubJobs(document, environments);
  if (path === GITLAB_JOBS_PATH) {
    writeGitLabJobs(document, environments);
    const config = toForwardSlashes(join(workspaceFolder, CONFIG_NAME));
    document.setIn(['.promptsync', 'variables', 'PROMPTSYNC_CONFIG'], makeScalar(config));
  }
  addInputs(document, workspaceFolder, publicVariable);
  const keyVariables = publicVariable === undefined ? keyVariable : `${keyVariable} and ${publicVariable}`;
  // Comments and shell commands name the variables, too.
  return document
    .toString({ lineWidth: 0, flowCollectionPadding: false })
    .replace('PROMPTSYNC_API_KEY with one', () => `${keyVariables} with one`)
    .replaceAll('PROMPTSYNC_API_KEY', () => keyVariable);
}

/** Adds the inputs `public-key` and `working-directory` to each step of a GitHub workflow that runs promptsync. */
function addInputs(document: Document, workspaceFolder: string, publicVariable: string | undefined): void {
  visit(document, {
    Map: (_, { items }) => {
      const index = items.findIndex(({ key }) => isScalar(key) && key.value === 'api-key');
      if (index === -1) return;
      if (workspaceFolder !== '') {
        items.splice(index + 1, 0, document.createPair('working-directory', makeScalar(workspaceFolder)));
      }
      if (publicVariable !== undefined) {
        items.splice(index, 0, document.createPair('public-key', `\${{ secrets.${publicVariable} }}`));
      }
    },
  });
}

/** Replaces the two example jobs of the GitHub workflow with one job for each environment. */
function writeGitHubJobs(document: Document, environments: readonly string[]): void {
  const ids = makeJobIds(environments);
  const jobs = document.get('jobs') as YAMLMap;
  const examples = jobs.items;
  jobs.items = environments.map((name, index) => {
    const id = ids[index] ?? '';
    const { pair, job, exampleName } = copyJob(document, examples, index, id);
    if (id !== name) job.items.unshift(document.createPair('name', makeScalar(name)));
    if (index > 0) job.set('needs', makeScalar(ids[index - 1] ?? ''));
    job.set('environment', makeScalar(name));
    const group = String(job.getIn(['concurrency', 'group']));
    job.setIn(
      ['concurrency', 'group'],
      group.replace(exampleName, () => id),
    );
    job.setIn(['steps', 1, 'with', 'environments'], makeScalar(name));
    return pair;
  });
}

/**
 * Uses the name of the environment if GitHub accepts it as an id, and otherwise its position. GitHub ignores case. An
 * id that begins with `promptsync` could be mistaken for the check with that name.
 */
function makeJobIds(environments: readonly string[]): readonly string[] {
  const lowerCased = environments.map((name) => name.toLowerCase());
  return environments.map((name, index) => {
    const isId = /^(?!promptsync|environment-\d)[a-z_][\w-]*$/i.test(name);
    const isFirst = lowerCased.indexOf(name.toLowerCase()) === index;
    return isId && isFirst ? name : `environment-${index + 1}`;
  });
}

function writeGitLabJobs(document: Document, environments: readonly string[]): void {
  const jobs = document.contents as YAMLMap;
  const isExample = ({ key }: Pair): boolean => isScalar(key) && String(key.value).startsWith(APPLY_JOB_PREFIX);
  const examples = jobs.items.filter(isExample);
  const written = environments.map((name, index) => {
    const { pair, job } = copyJob(document, examples, index, APPLY_JOB_PREFIX + name);
    if (index > 0) job.setIn(['needs', 0, 'job'], makeScalar(`${APPLY_JOB_PREFIX}${environments[index - 1]}`));
    job.set('environment', makeScalar(name));
    return pair;
  });
  jobs.items.splice(jobs.items.findIndex(isExample), examples.length, ...written);
}

const APPLY_JOB_PREFIX = 'promptsync:apply:';

/** Copies the first example for the first environment, and the second for all others, with their comments. */
function copyJob(
  document: Document,
  examples: readonly Pair[],
  index: number,
  key: string,
): { readonly pair: Pair; readonly job: YAMLMap; readonly exampleName: string } {
  const example = examples[Math.min(index, 1)];
  if (example === undefined || !isScalar(example.key) || !isMap(example.value)) throw new Error('no example job');
  const job = example.value.clone(document.schema) as YAMLMap;
  const name = makeScalar(key);
  name.spaceBefore = index > 0 || example.key.spaceBefore === true;
  return { pair: document.createPair(name, job), job, exampleName: String(example.key.value) };
}

/** Creates a YAML string. Quotes text that some version of YAML reads as another type, such as `on` or `12:30`. */
function makeScalar(text: string): Scalar {
  const scalar = new Scalar(text);
  scalar.type = renderYamlValue(text, 'plain') === text ? 'PLAIN' : 'QUOTE_DOUBLE';
  return scalar;
}
