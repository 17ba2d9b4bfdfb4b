import { DEFAULTS } from '../../config/config.ts';
import { makeProblem, type Problem } from '../../problem.ts';
import { faultOf } from './init-faults.ts';
import type { Interview, TextQuestion } from '../world.ts';

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
