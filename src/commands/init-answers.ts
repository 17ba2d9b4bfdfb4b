import { CONFIG_NAME, DEFAULTS } from '../config/config.ts';
import { parseConfig } from '../config/load-config.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import type { Interview } from '../domain/world.ts';
import { makeProblem, type Problem } from '../problem.ts';
import {
  DEFAULT_KEY_VARIABLE,
  DEFAULT_PROVIDER,
  isNamedProvider,
  type NamedProviderName,
  PROVIDER_CHOICES,
  PROVIDERS,
} from '../providers/list.ts';
import { type CiSystem, CI_SYSTEMS, renderConfig, type InitAnswers } from './init-files.ts';

/** The answers as they were written, with flags or by a person. */
export type InitFlags = WrittenAnswers & { readonly embedded: boolean };

/** The environments are separated by commas. */
type WrittenAnswers = { readonly [What in QuestionName]?: string | undefined } & {
  readonly provider?: NamedProviderName | undefined;
};
type QuestionName = keyof typeof QUESTIONS;
type Question = { readonly message: string; readonly initial: string };

const QUESTIONS = {
  url: {
    flag: '--url',
    message: `Where is the prompt service? (https://…; ${PROVIDER_CHOICES.join('; ')}; empty: the embedded one, for a try)`,
    initial: '',
  },
  apiKeyEnv: {
    flag: '--api-key-env',
    message: 'Which variable holds the API key? (its name, not the key)',
    initial: DEFAULT_KEY_VARIABLE,
  },
  dir: { flag: '--dir', message: 'Which folder are the prompt files in?', initial: 'prompts' },
  environments: {
    flag: '--environments',
    message: 'Which environments are there, in the order of promotion?',
    initial: 'staging,production',
  },
  id: {
    flag: '--id',
    message: 'Which prompt comes first? (its id, or name, in the service; empty: an example)',
    initial: '',
  },
  ci: { flag: '--ci', message: `Which CI is to run it? (${CI_SYSTEMS.join(', ')})`, initial: 'github' },
} as const;

/** What is likely, where nothing was said. */
type Guesses = {
  readonly guessCi: () => Promise<CiSystem>;
  readonly guessUrl: (provider: NamedProviderName) => string;
};

/** What the flags say, and for the rest what the person says; the defaults where there is nobody to ask. */
export async function gatherAnswers(
  flags: InitFlags,
  interview: Interview | null,
  guesses: Guesses,
): Promise<Result<InitAnswers>> {
  const reason = findContradiction(flags);
  if (reason !== null) return makeFailure(makeProblem('usage/invalid', { reason }));
  const url = flags.url ?? (flags.provider && guesses.guessUrl(flags.provider));
  if (interview === null && url === undefined && !flags.embedded) {
    return makeFailure(makeProblem('init/service-needed'));
  }
  const ci = flags.ci ?? (await guesses.guessCi());
  const written = interview === null ? { ...flags, url, ci } : await askQuestions(flags, interview, { ...guesses, ci });
  const faults = findFaults(written);
  return faults.length > 0 ? makeFailure(...faults) : makeSuccess(makeAnswers(written));
}

function findContradiction({ url, embedded, id, provider, apiKeyEnv }: InitFlags): string | null {
  if (embedded && provider !== undefined) return '--provider and --embedded exclude each other.';
  const { title, keys } = PROVIDERS[provider ?? DEFAULT_PROVIDER];
  if (keys.public !== null && apiKeyEnv !== undefined) return `--api-key-env is not for ${title}, which has two keys.`;
  if (embedded && url !== undefined) return '--url and --embedded exclude each other.';
  return embedded && id !== undefined ? '--id needs --url: the embedded service begins without prompts.' : null;
}

/** The flags with what was not given asked for. The embedded service has no key, and no prompt to begin with. */
async function askQuestions(
  flags: InitFlags,
  { text }: Interview,
  guessed: Pick<Guesses, 'guessUrl'> & { readonly ci: string },
): Promise<WrittenAnswers> {
  let { provider } = flags;
  const say = async (what: QuestionName, { message, initial }: Question = QUESTIONS[what]) => {
    const mayStayEmpty = initial === '';
    const isWord = (answer: string) =>
      mayStayEmpty && ['', ...(what === 'url' ? PROVIDER_CHOICES : [])].includes(answer);
    const findFault = (answer: string) =>
      isWord(answer.trim()) ? null : findAnswerFault(what, answer.trim(), provider);
    const given = flags[what] ?? (await text({ message, initial, findFault })).trim();
    return mayStayEmpty && given === '' && flags[what] === undefined ? undefined : given;
  };
  const where = flags.embedded || provider !== undefined ? undefined : await say('url');
  if (isNamedProvider(where)) provider = where;
  const { title, keys } = PROVIDERS[provider ?? DEFAULT_PROVIDER];
  const url = provider
    ? await say('url', { message: `Where is ${title}?`, initial: guessed.guessUrl(provider) })
    : where;
  const remote = url !== undefined;
  const keyQuestion = { ...QUESTIONS.apiKeyEnv, initial: keys.secret.defaultVariable };
  const apiKeyEnv = remote && keys.public === null ? await say('apiKeyEnv', keyQuestion) : flags.apiKeyEnv;
  const dir = await say('dir');
  const environments = await say('environments');
  const id = remote ? await say('id') : flags.id;
  const ci = await say('ci', { ...QUESTIONS.ci, initial: guessed.ci });
  return { provider, url, apiKeyEnv, dir, environments, id, ci };
}

function makeAnswers({ provider, url, apiKeyEnv, dir, environments, id, ci }: WrittenAnswers): InitAnswers {
  const known = provider ?? DEFAULT_PROVIDER;
  return {
    provider: known,
    url: url ?? null,
    keyVariable: apiKeyEnv ?? PROVIDERS[known].keys.secret.defaultVariable,
    folder: normalizeFolder(dir ?? QUESTIONS.dir.initial),
    environments: (environments ?? QUESTIONS.environments.initial).split(',').map((name) => name.trim()),
    id: id ?? null,
    ci: CI_SYSTEMS.find((one) => one === ci) ?? 'none',
  };
}

function normalizeFolder(written: string): string {
  return written
    .trim()
    .replace(/^(\.\/+)+/, '')
    .replace(/\/+$/, '');
}

/** Everything that is wrong with the answers, reported of the flags that would have given them. */
function findFaults(written: WrittenAnswers): readonly Problem[] {
  const asked = Object.keys(QUESTIONS) as readonly QuestionName[];
  return asked.flatMap((what) => {
    const answer = written[what];
    const reason = answer === undefined ? null : findAnswerFault(what, answer, written.provider);
    return reason === null ? [] : [makeProblem('init/invalid-flag', { flag: QUESTIONS[what].flag, reason })];
  });
}

/** What is wrong with one answer by itself, as a sentence; null: nothing. */
function findAnswerFault(what: QuestionName, written: string, provider: NamedProviderName | undefined): string | null {
  if (what === 'ci')
    return CI_SYSTEMS.some((one) => one === written) ? null : `expected one of ${CI_SYSTEMS.join(', ')}.`;
  const answers = makeAnswers({ provider, url: 'https://prompts.example.com', [what]: written });
  return findInitFault(answers) ?? findConfigFault(answers);
}

/** What the configuration allows, and a new workspace does not; and what is not in it. */
function findInitFault({ provider, folder, environments, id }: InitAnswers): string | null {
  const parts = folder.split('/');
  if (/[\p{Cc}\\*?[\]{}()!"]/u.test(folder)) return 'a folder here is a path without wildcards and quotes.';
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    return 'expected a folder below this one, such as prompts.';
  }
  if (parts.some((part) => /^(\.git|node_modules)$/i.test(part))) return 'prompt files are not looked for there.';
  if (environments.includes('')) return 'expected names of environments, separated by commas.';
  if (new Set(environments).size < environments.length) return 'an environment is named twice.';
  const isId =
    id === null || (id !== '' && PROVIDERS[provider].rules(DEFAULTS.tracking_environment).findIdFault(id) === null);
  return isId ? null : 'expected the id of a prompt, as the service shows it.';
}

function findConfigFault(answers: InitAnswers): string | null {
  const around = { file: `/${CONFIG_NAME}`, shownPath: CONFIG_NAME, root: '/', environment: {} };
  return parseConfig(renderConfig(answers), around).problems[0]?.message ?? null;
}
