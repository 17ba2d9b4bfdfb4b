import { join } from 'node:path';
import { configText, type Decided, decideOn, type InitFile, type InitTarget } from './init-files.ts';
import { CONFIG_NAME, DEFAULTS } from '../config/config.ts';
import { parseConfig } from '../config/load.ts';
import type { Interview, TextQuestion } from '../domain/world.ts';
import { promptMatcher } from '../files/find.ts';
import { FrontMatterShape } from '../files/parse.ts';
import { makeProblem, type Problem } from '../problem.ts';

/** What has to be known to begin a workspace. */
export type InitAnswers = {
  /** Null: the embedded service. */
  readonly url: string | null;
  readonly keyVariable: string;
  /** Of the prompt files, relative to the configuration. */
  readonly folder: string;
  /** In promotion order. */
  readonly environments: readonly string[];
  /** Of a first prompt to import; null: an example is written. */
  readonly id: string | null;
  readonly workflows: boolean;
};

/** What was given by flags. */
export type InitFlags = {
  readonly url?: string | undefined;
  readonly embedded: boolean;
  readonly apiKeyEnv?: string | undefined;
  readonly dir?: string | undefined;
  /** Separated by commas. */
  readonly environments?: string | undefined;
  readonly id?: string | undefined;
  readonly workflows?: boolean | undefined;
};

const DEFAULT_FOLDER = 'prompts';
const DEFAULT_ENVIRONMENTS = 'staging,production';

/** What the flags say, and for the rest what the person says; the defaults where there is nobody to ask. */
export async function gatherAnswers(flags: InitFlags, interview: Interview | null): Promise<InitAnswers | Problem> {
  const contradiction = contradictionIn(flags);
  if (contradiction !== null) return makeProblem('usage/invalid', { reason: contradiction });
  if (interview === null && flags.url === undefined && !flags.embedded) return makeProblem('init/service-needed');
  return toAnswers(interview === null ? flags : await ask(flags, interview));
}

function contradictionIn({ url, embedded, id }: InitFlags): string | null {
  if (embedded && url !== undefined) return '--url and --embedded exclude each other.';
  return embedded && id !== undefined ? '--id needs --url: the embedded service begins without prompts.' : null;
}

function toAnswers({ url, apiKeyEnv, dir, environments, id, workflows }: InitFlags): InitAnswers {
  return {
    url: url ?? null,
    keyVariable: apiKeyEnv ?? DEFAULTS.api_key_env,
    folder: folderOf(dir ?? DEFAULT_FOLDER),
    environments: namesIn(environments ?? DEFAULT_ENVIRONMENTS),
    id: id ?? null,
    workflows: workflows ?? true,
  };
}

/** The flags with what was not given asked for. The embedded service has no key, and no prompt to begin with. */
async function ask(flags: InitFlags, { text, confirm }: Interview): Promise<InitFlags> {
  const say = async (given: string | undefined, question: TextQuestion) => given ?? (await text(question)).trim();
  const url = flags.embedded ? undefined : (flags.url ?? present(await say(undefined, QUESTIONS.url)));
  const remote = url !== undefined;
  const apiKeyEnv = remote ? await say(flags.apiKeyEnv, QUESTIONS.apiKeyEnv) : flags.apiKeyEnv;
  const dir = await say(flags.dir, QUESTIONS.dir);
  const environments = await say(flags.environments, QUESTIONS.environments);
  const id = flags.id ?? (remote ? present(await say(undefined, QUESTIONS.id)) : undefined);
  const workflows = flags.workflows ?? (await confirm(WORKFLOWS_QUESTION));
  return { url, embedded: !remote, apiKeyEnv, dir, environments, id, workflows };
}

const QUESTIONS = {
  url: {
    message: 'Where is the prompt service? (https://…; empty: the embedded one, for a try)',
    initial: '',
    fault: (answer) => (answer.trim() === '' ? null : faultOf('url', answer.trim())),
  },
  apiKeyEnv: {
    message: 'Which variable holds the API key? (its name, not the key)',
    initial: DEFAULTS.api_key_env,
    fault: (answer) => faultOf('keyVariable', answer.trim()),
  },
  dir: {
    message: 'Which folder are the prompt files in?',
    initial: DEFAULT_FOLDER,
    fault: (answer) => faultOf('folder', folderOf(answer)),
  },
  environments: {
    message: 'Which environments are there, in the order of promotion?',
    initial: DEFAULT_ENVIRONMENTS,
    fault: (answer) => faultOf('environments', namesIn(answer)),
  },
  id: {
    message: 'Which prompt comes first? (its id in the service; empty: an example)',
    initial: '',
    fault: (answer) => (answer.trim() === '' ? null : faultOf('id', answer.trim())),
  },
} as const satisfies Readonly<Record<string, TextQuestion>>;

const WORKFLOWS_QUESTION = { message: 'Write the workflows for GitHub Actions?', initial: true };

function present(answer: string): string | undefined {
  return answer === '' ? undefined : answer;
}

function folderOf(written: string): string {
  return written
    .trim()
    .replace(/^(\.\/+)+/, '')
    .replace(/\/+$/, '');
}

function namesIn(list: string): readonly string[] {
  return list.split(',').map((name) => name.trim());
}

export type AllDecided = {
  readonly decided: readonly Decided[];
  /** What stands in the way: then nothing is written. */
  readonly obstacles: readonly Problem[];
  /** Files that are left out, and were asked for. */
  readonly warnings: readonly Problem[];
};

/** Decides on everything before anything is written. What a configuration that stays has no use for is left out. */
export async function decideAll(
  config: InitFile,
  others: readonly InitFile[],
  target: InitTarget,
): Promise<AllDecided> {
  const first = await decideOn(config, target);
  const isOfUse = 'code' in first ? () => true : useBeside(first, target);
  const all = [first];
  for (const file of others.filter(isOfUse)) all.push(await decideOn(file, target));
  const left = others.filter((file) => !isOfUse(file) && file.kind === 'whole');
  return {
    decided: all.filter((one) => 'file' in one),
    obstacles: all.filter((one) => 'code' in one),
    warnings: left.map(({ path }) => makeProblem('init/not-selected', { path })),
  };
}

/** A configuration of somebody's own may have its prompts elsewhere; one that cannot be read selects nothing. */
function useBeside({ file, status, before }: Decided, { workspace, root }: InitTarget): (file: InitFile) => boolean {
  if (status !== 'kept' || before === file.content) return () => true;
  const around = { file: join(workspace, CONFIG_NAME), shownPath: CONFIG_NAME, root, environment: {} };
  const { config } = parseConfig(before, around);
  const selects = config === null ? () => false : promptMatcher(config);
  return ({ prompts }) => prompts === undefined || prompts.some(selects);
}

const FLAGS = {
  url: '--url',
  keyVariable: '--api-key-env',
  folder: '--dir',
  environments: '--environments',
  id: '--id',
} as const satisfies Partial<Record<keyof InitAnswers, string>>;

type Checked = keyof typeof FLAGS;

const SOUND: InitAnswers = {
  ...{ url: 'https://prompts.example.com', keyVariable: DEFAULTS.api_key_env, folder: 'prompts', id: null },
  ...{ environments: ['staging'], workflows: false },
};

/** Everything that is wrong with the answers, told of the flags that would have given them. */
export function faultsIn(answers: InitAnswers): readonly Problem[] {
  const checked: readonly Checked[] = ['url', 'keyVariable', 'folder', 'environments', 'id'];
  return checked.flatMap((what) => {
    const reason = faultOf(what, answers[what]);
    return reason === null ? [] : [makeProblem('init/invalid-flag', { flag: FLAGS[what], reason })];
  });
}

/** What is wrong with one answer by itself, as a sentence; null: nothing. */
export function faultOf<What extends Checked>(what: What, answer: InitAnswers[What]): string | null {
  const answers: InitAnswers = { ...SOUND, [what]: answer };
  return ownFault(answers) ?? configFault(answers);
}

function configFault(answers: InitAnswers): string | null {
  const around = { file: `/${CONFIG_NAME}`, shownPath: CONFIG_NAME, root: '/', environment: {} };
  return parseConfig(configText(answers), around).problems[0]?.message ?? null;
}

/** What the configuration allows, and a new workspace does not; and what is not in it. */
function ownFault({ folder, environments, id }: InitAnswers): string | null {
  const parts = folder.split('/');
  if (/[\p{Cc}\\*?[\]{}()!"]/u.test(folder)) return 'a folder here is a path without wildcards and quotes.';
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    return 'expected a folder below this one, such as prompts.';
  }
  if (parts.some((part) => /^(\.git|node_modules)$/i.test(part))) return 'prompt files are not looked for there.';
  if (environments.includes('')) return 'expected names of environments, separated by commas.';
  if (new Set(environments).size < environments.length) return 'an environment is named twice.';
  const shown = id === null ? null : FrontMatterShape.shape.id.safeParse(id);
  return shown?.success === false ? 'expected the id of a prompt, as the service shows it.' : null;
}
