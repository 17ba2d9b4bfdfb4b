import { CONFIG_NAME, DEFAULTS } from '../config/config.ts';
import { parseConfig } from '../config/load-config.ts';
import { applyVocabulary } from '../domain/vocabulary.ts';
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

/** The answers that the user passed as flags to `init`. */
export type InitFlags = WrittenAnswers & { readonly embedded: boolean };

/** The answers as strings, from flags or from the user. `environments` is a comma-separated list. */
type WrittenAnswers = { readonly [Name in QuestionName]?: string | undefined } & {
  readonly provider?: NamedProviderName | undefined;
};

/** The name of a question. It is the key of the question in `QUESTIONS` and of its answer in `WrittenAnswers`. */
type QuestionName = keyof typeof QUESTIONS;

/** A question, and the initial content of its input field. */
type Question = { readonly message: string; readonly initial: string };

/** The questions of `init`, each with the flag that answers it. A question with an empty `initial` is optional. */
const QUESTIONS = {
  url: {
    flag: '--url',
    message: `Where is the prompt service? (${['https://…', ...PROVIDER_CHOICES].join(' or ')}; leave empty to try the embedded service)`,
    initial: '',
  },
  apiKeyEnv: {
    flag: '--api-key-env',
    message: 'Which variable holds the API key? (the name of the variable, not the key)',
    initial: DEFAULT_KEY_VARIABLE,
  },
  dir: { flag: '--dir', message: 'Which folder contains the prompt files?', initial: 'prompts' },
  environments: {
    flag: '--environments',
    message: 'Which environments does the service have? (in promotion order, separated by commas)',
    initial: 'staging,production',
  },
  id: {
    flag: '--id',
    message: 'Which prompt should init import? (its id or name in the service; leave empty for example prompts)',
    initial: '',
  },
  ci: { flag: '--ci', message: `Which CI system should run promptsync? (${CI_SYSTEMS.join(', ')})`, initial: 'github' },
} as const;

/** Functions that guess the answers for missing flags. */
type Guesses = {
  /** Guesses the CI system from the remote of the repository. */
  readonly guessCi: () => Promise<CiSystem>;
  /** Guesses the address of a provider's service. */
  readonly guessUrl: (provider: NamedProviderName) => string;
  /**
   * Lists the environments that exist in the service, in quotes. Returns an empty list if it cannot, for example
   * because the key is not set or the service cannot list prompts.
   */
  readonly listEnvironments: (answers: InitAnswers) => Promise<readonly string[]>;
};

/**
 * Takes the answers from the flags, and asks the user for the missing ones. If `interview` is null, uses defaults
 * instead of asking. Fails if an answer is invalid, if two flags contradict each other, or if the service is not
 * specified.
 */
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
  const problems = checkAnswers(written);
  return problems.length > 0 ? makeFailure(...problems) : makeSuccess(makeAnswers(written));
}

/** Returns a message if two flags contradict each other. Returns null otherwise. */
function findContradiction({ url, embedded, id, provider, apiKeyEnv }: InitFlags): string | null {
  if (embedded && provider !== undefined) return '--provider and --embedded cannot be combined.';
  const { title, keys } = PROVIDERS[provider ?? DEFAULT_PROVIDER];
  if (keys.public !== null && apiKeyEnv !== undefined)
    return `--api-key-env cannot be used with ${title}, which has two keys.`;
  if (embedded && url !== undefined) return '--url and --embedded cannot be combined.';
  return embedded && id !== undefined ? '--id needs --url, because the embedded service starts without prompts.' : null;
}

/**
 * Asks the user for each answer that is missing from the flags. For the embedded service, does not ask for a key or for
 * a first prompt, because that service needs no key and starts without prompts.
 */
async function askQuestions(
  flags: InitFlags,
  { text }: Interview,
  defaults: Omit<Guesses, 'guessCi'> & { readonly ci: string },
): Promise<WrittenAnswers> {
  let { provider } = flags;
  const ask = async (name: QuestionName, { message, initial }: Question = QUESTIONS[name]) => {
    const flag = flags[name];
    if (flag !== undefined) return flag;
    const isOptional = initial === '';
    // An optional question accepts an empty answer. The first question about the address also accepts a provider name.
    const specialAnswers: readonly string[] = name === 'url' ? ['', ...PROVIDER_CHOICES] : [''];
    const isSpecial = (answer: string) => isOptional && specialAnswers.includes(answer);
    const findFault = (answer: string) =>
      isSpecial(answer.trim()) ? null : findAnswerFault(name, answer.trim(), provider);
    const answer = (await text({ message, initial, findFault })).trim();
    return isOptional && answer === '' ? undefined : answer;
  };
  const urlOrProvider = flags.embedded || provider !== undefined ? undefined : await ask('url');
  if (isNamedProvider(urlOrProvider)) provider = urlOrProvider;
  const { title, keys, vocabulary } = PROVIDERS[provider ?? DEFAULT_PROVIDER];
  const url = provider
    ? await ask('url', { message: `Where is ${title}?`, initial: defaults.guessUrl(provider) })
    : urlOrProvider;
  const isRemote = url !== undefined;
  const keyQuestion = { ...QUESTIONS.apiKeyEnv, initial: keys.secret.defaultVariable };
  const apiKeyEnv = isRemote && keys.public === null ? await ask('apiKeyEnv', keyQuestion) : flags.apiKeyEnv;
  const dir = await ask('dir');
  const useWords = ({ message, initial }: Question) => ({ message: applyVocabulary(message, vocabulary), initial });
  const existing = isRemote ? await defaults.listEnvironments(makeAnswers({ ...flags, provider, url, dir })) : [];
  const existingNote = existing.length === 0 ? '' : ` Existing environments: ${existing.join(', ')}.`;
  const { message, initial } = QUESTIONS.environments;
  const environments = await ask('environments', useWords({ message: `${message}${existingNote}`, initial }));
  const id = isRemote ? await ask('id', useWords(QUESTIONS.id)) : flags.id;
  const ci = await ask('ci', { ...QUESTIONS.ci, initial: defaults.ci });
  return { provider, url, apiKeyEnv, dir, environments, id, ci };
}

/** Parses the answers. Uses the default for each missing answer. */
function makeAnswers({ provider, url, apiKeyEnv, dir, environments, id, ci }: WrittenAnswers): InitAnswers {
  const providerName = provider ?? DEFAULT_PROVIDER;
  return {
    provider: providerName,
    url: url ?? null,
    keyVariable: apiKeyEnv ?? PROVIDERS[providerName].keys.secret.defaultVariable,
    folder: normalizeFolder(dir ?? QUESTIONS.dir.initial),
    environments: (environments ?? QUESTIONS.environments.initial).split(',').map((name) => name.trim()),
    id: id ?? null,
    ci: CI_SYSTEMS.find((one) => one === ci) ?? 'none',
  };
}

/** Removes leading `./` and trailing slashes from a folder path. */
function normalizeFolder(written: string): string {
  return written
    .trim()
    .replace(/^(\.\/+)+/, '')
    .replace(/\/+$/, '');
}

/**
 * Returns a problem for each invalid answer. The problem mentions the flag for this answer, even if the answer came
 * from an interactive question.
 */
function checkAnswers(written: WrittenAnswers): readonly Problem[] {
  const names = Object.keys(QUESTIONS) as readonly QuestionName[];
  return names.flatMap((name) => {
    const answer = written[name];
    const reason = answer === undefined ? null : findAnswerFault(name, answer, written.provider);
    return reason === null ? [] : [makeProblem('init/invalid-flag', { flag: QUESTIONS[name].flag, reason })];
  });
}

/** Checks one answer on its own. Returns the reason why the answer is invalid, or null if it is valid. */
function findAnswerFault(name: QuestionName, written: string, provider: NamedProviderName | undefined): string | null {
  if (name === 'ci')
    return CI_SYSTEMS.some((one) => one === written) ? null : `expected one of ${CI_SYSTEMS.join(', ')}.`;
  const answers = makeAnswers({ provider, url: 'https://prompts.example.com', [name]: written });
  return findInitFault(answers) ?? findConfigFault(answers);
}

/**
 * Checks the rules that the parser of promptsync.yaml does not enforce. For example, the folder must not contain
 * wildcards, and the prompt id must be valid. Returns the reason why an answer is invalid, or null if all answers are
 * valid.
 */
function findInitFault({ provider, folder, environments, id }: InitAnswers): string | null {
  const parts = folder.split('/');
  if (/[\p{Cc}\\*?[\]{}()!"]/u.test(folder))
    return 'expected the path of a folder, without wildcards, quotes, backslashes or control characters.';
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    return 'expected a folder below this one, such as prompts.';
  }
  if (parts.some((part) => /^(\.git|node_modules)$/i.test(part)))
    return 'promptsync does not look for prompt files in .git or node_modules.';
  if (environments.includes('')) return 'expected names, separated by commas.';
  if (new Set(environments).size < environments.length) return 'a name is listed twice.';
  const isId =
    id === null || (id !== '' && PROVIDERS[provider].rules(DEFAULTS.tracking_environment).findIdFault(id) === null);
  return isId ? null : 'expected the id of an existing prompt.';
}

/**
 * Returns the first reason why a promptsync.yaml with these answers would be invalid. Returns null if it would be
 * valid.
 */
function findConfigFault(answers: InitAnswers): string | null {
  const context = { file: `/${CONFIG_NAME}`, shownPath: CONFIG_NAME, root: '/', environment: {} };
  return parseConfig(renderConfig(answers), context).problems[0]?.message ?? null;
}
