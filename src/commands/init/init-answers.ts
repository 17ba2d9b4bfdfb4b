import { CONFIG_NAME } from '../../workspace/config.ts';
import { parseConfig } from '../../workspace/load-config.ts';
import { type AddressFromVariable, findAddressConflict } from '../../workspace/service-settings.ts';
import type { Words } from '../../service-words.ts';
import { makeFailure, makeSuccess, type Result } from '../../domain/result.ts';
import type { Interview, SelectQuestion } from '../../domain/system.ts';
import { makeProblem, type Problem } from '../../problem.ts';
import {
  DEFAULT_KEY_VARIABLE,
  DEFAULT_PROVIDER,
  isNamedProvider,
  NAMED_PROVIDERS,
  type NamedProviderName,
  PROVIDER_CHOICES,
  PROVIDERS,
} from '../../providers/provider-list.ts';
import { type CiSystem, CI_SYSTEMS, renderConfig, type InitAnswers } from './init-files.ts';

export type InitFlags = WrittenAnswers & { readonly embedded: boolean };

/** The answers as strings, from flags or from the user. `environments` is a comma-separated list. */
type WrittenAnswers = { readonly [Name in QuestionName]?: string | undefined } & {
  readonly provider?: NamedProviderName | undefined;
  readonly preCommit?: boolean | undefined;
};

type QuestionName = keyof typeof QUESTIONS;

type Question = { readonly message: string; readonly initial: string };

/** The questions of `init`, each with the flag that answers it. Only the question `id` accepts an empty answer. */
const QUESTIONS = {
  url: {
    flag: '--url',
    makeMessage: () => 'What is the address of the prompt service? (for example, https://…)',
    initial: '',
  },
  apiKeyEnv: {
    flag: '--api-key-env',
    makeMessage: () => 'Which environment variable contains the API key? (enter its name, not the key)',
    initial: DEFAULT_KEY_VARIABLE,
  },
  dir: { flag: '--dir', makeMessage: () => 'Which folder should contain the prompt files?', initial: 'prompts' },
  environments: {
    flag: '--environments',
    makeMessage: ({ environment }: Words) =>
      `Which ${environment}s do you use? (in promotion order, separated by commas)`,
    initial: 'staging,production',
  },
  id: {
    flag: '--id',
    makeMessage: ({ service }: Words) =>
      `Which prompt should init import? (its id or name in ${service}; leave empty to import none)`,
    initial: '',
  },
  ci: { flag: '--ci', makeMessage: () => 'Which CI system should run promptsync?', initial: 'github' },
} as const;

const EMBEDDED_CHOICE = 'embedded';

const SERVICE_CHOICES: SelectQuestion['choices'] = [
  { value: EMBEDDED_CHOICE, label: 'The embedded service, for trying out promptsync on this machine' },
  ...PROVIDER_CHOICES.map((value) => ({ value, label: PROVIDERS[value].title })),
  { value: DEFAULT_PROVIDER, label: 'Another service that implements the four API calls that promptsync needs' },
];

/** The flag for each provider, such as "`--provider other` for Other". */
const PROVIDER_FLAGS = PROVIDER_CHOICES.map((value) => `\`--provider ${value}\` for ${PROVIDERS[value].title}`);

const CI_LABELS: Readonly<Record<CiSystem, string>> = {
  github: 'GitHub Actions',
  gitlab: 'GitLab CI',
  none: 'None, or another CI system',
};

export type AnswerHelpers = {
  /** Guesses the CI system from the remote of the repository. */
  readonly guessCi: () => Promise<CiSystem>;
  /** Returns the addresses from the environment variables of a provider, in order of precedence. */
  readonly listAddresses: (provider: NamedProviderName) => readonly AddressFromVariable[];
  /** Lists the environments in the service, in quotes. Empty if it cannot, for example because the key is not set. */
  readonly listEnvironments: (answers: InitAnswers) => Promise<readonly string[]>;
  /** Checks whether a service of this kind responds at the address. Does not send the key. */
  readonly findAddressFault: FindFault;
  /** Checks whether the keys are set, and whether the service accepts them. */
  readonly findKeyFault: FindFault;
  /** Checks whether the first prompt can be imported. */
  readonly findPromptFault: FindFault;
};

/** Checks the answers that are known so far. Resolves to the reason why they do not work, or to null if they work. */
type FindFault = (answers: InitAnswers) => Promise<string | null>;

/**
 * Asks the user for answers that the flags lack. If `interview` is null, uses defaults instead of asking. Fails if an
 * answer is invalid, if two flags contradict each other, or if no service is specified.
 */
export async function gatherAnswers(
  flags: InitFlags,
  interview: Interview | null,
  helpers: AnswerHelpers,
): Promise<Result<InitAnswers>> {
  const reason = findContradiction(flags);
  if (reason !== null) return makeFailure(makeProblem('usage/invalid', { reason }));
  const url = interview === null ? findUrl(flags, helpers) : makeSuccess(flags.url);
  if (!url.isSuccess) return url;
  const ci = flags.ci ?? (await helpers.guessCi());
  const written =
    interview === null ? { ...flags, url: url.value, ci } : await askQuestions(flags, interview, { ...helpers, ci });
  const problems = checkAnswers(written);
  return problems.length > 0 ? makeFailure(...problems) : makeSuccess(makeAnswers(written));
}

/**
 * Returns the address from `--url` or from a variable of the provider. Fails if there is none, because `init` may send
 * the keys only to an address that the user chose.
 */
function findUrl(
  { url, embedded, provider }: InitFlags,
  { listAddresses }: Pick<AnswerHelpers, 'listAddresses'>,
): Result<string | undefined> {
  if (url !== undefined || embedded) return makeSuccess(url);
  const addresses = provider === undefined ? [] : listAddresses(provider);
  const conflict = findAddressConflict(addresses);
  if (conflict !== null) return makeFailure(conflict);
  const [address] = addresses;
  if (address !== undefined) return makeSuccess(address.url);
  const defaultAddress = provider === undefined ? null : NAMED_PROVIDERS[provider].defaultAddress;
  return makeFailure(makeProblem('init/service-needed', { defaultAddress, providerFlags: PROVIDER_FLAGS }));
}

function findContradiction(flags: InitFlags): string | null {
  if (flags.embedded) return findEmbeddedContradiction(flags);
  const { title, keys } = PROVIDERS[flags.provider ?? DEFAULT_PROVIDER];
  return keys.public !== null && flags.apiKeyEnv !== undefined
    ? `\`--api-key-env\` cannot be used with ${title}, which has two keys.`
    : null;
}

function findEmbeddedContradiction({ url, id, provider, ci = 'none' }: InitFlags): string | null {
  if (provider !== undefined) return '`--provider` and `--embedded` cannot be combined.';
  if (url !== undefined) return '`--url` and `--embedded` cannot be combined.';
  if (ci !== 'none')
    return `\`--ci ${ci}\` requires \`--url\` because CI cannot reach the embedded service on this machine.`;
  return id === undefined ? null : '`--id` requires `--url` because the embedded service starts without prompts.';
}

/**
 * Asks the user for each answer that the flags lack. For the embedded service, asks only for the folder and the
 * environments, because it needs no key, starts without prompts, and is not reachable from CI. It is for a first try,
 * so there is no question about pre-commit either.
 */
async function askQuestions(
  flags: InitFlags,
  interview: Interview,
  helpers: Omit<AnswerHelpers, 'guessCi'> & { readonly ci: string },
): Promise<WrittenAnswers> {
  const kind = await askServiceKind(flags, interview);
  const provider = isNamedProvider(kind) ? kind : undefined;
  const ask = makeAsker({ ...flags, provider }, interview);
  const { title, keys, words } = PROVIDERS[provider ?? DEFAULT_PROVIDER];
  if (kind === EMBEDDED_CHOICE) {
    return { ...flags, dir: await ask('dir'), environments: await ask('environments') };
  }
  const urlQuestion = provider && {
    message: `What is the address of ${title}?`,
    initial: helpers.listAddresses(provider)[0]?.url ?? NAMED_PROVIDERS[provider].defaultAddress.suggestedUrl,
  };
  // There is no question about the keys of a service with two keys. So check these keys together with the address.
  const url = await ask('url', urlQuestion, async (answer) => {
    const answers = makeAnswers({ ...flags, provider, url: answer });
    return (await helpers.findAddressFault(answers)) ?? (keys.public === null ? null : helpers.findKeyFault(answers));
  });
  const keyQuestion = { initial: keys.secret.defaultVariable };
  const apiKeyEnv =
    keys.public === null
      ? await ask('apiKeyEnv', keyQuestion, async (answer) =>
          helpers.findKeyFault(makeAnswers({ ...flags, provider, url, apiKeyEnv: answer })),
        )
      : undefined;
  const dir = await ask('dir');
  const existing = await helpers.listEnvironments(makeAnswers({ ...flags, provider, url, apiKeyEnv, dir }));
  const existingNote = existing.length === 0 ? '' : ` Existing ${words.environment}s: ${existing.join(', ')}.`;
  const environmentsQuestion = { message: `${QUESTIONS.environments.makeMessage(words)}${existingNote}` };
  const environments = await ask('environments', environmentsQuestion);
  const answers = { ...flags, provider, url, apiKeyEnv, dir, environments };
  const id = await ask('id', {}, async (answer) => helpers.findPromptFault(makeAnswers({ ...answers, id: answer })));
  const ci = flags.ci ?? (await askCiSystem(interview, helpers.ci));
  return { ...answers, id, ci, preCommit: flags.preCommit || (await askPreCommit(interview)) };
}

/** Returns the kind of service: the name of a provider, or the choice for the embedded service. */
async function askServiceKind({ embedded, provider, url }: InitFlags, { select }: Interview): Promise<string> {
  if (embedded) return EMBEDDED_CHOICE;
  if (provider !== undefined || url !== undefined) return provider ?? DEFAULT_PROVIDER;
  const question = { message: 'Which service stores the prompts?', choices: SERVICE_CHOICES, initial: EMBEDDED_CHOICE };
  return select(question);
}

async function askCiSystem({ select }: Interview, initial: string): Promise<string> {
  const choices = CI_SYSTEMS.map((value) => ({ value, label: CI_LABELS[value] }));
  return select({ message: QUESTIONS.ci.makeMessage(), choices, initial });
}

async function askPreCommit({ confirm }: Interview): Promise<boolean> {
  const message = 'Should pre-commit check the prompt files before each commit? (this writes .pre-commit-config.yaml)';
  return confirm({ message, initial: false });
}

/**
 * Asks for one answer until `findFault` finds no fault or the user repeats the answer. Returns undefined for an empty
 * answer to an optional question. `changes` replaces parts of the question.
 */
type Ask = (
  name: QuestionName,
  changes?: Partial<Question>,
  findFault?: (answer: string) => Promise<string | null>,
) => Promise<string | undefined>;

function makeAsker(flags: InitFlags, { text }: Interview): Ask {
  const { words } = PROVIDERS[flags.provider ?? DEFAULT_PROVIDER];
  const askOnce = async (name: QuestionName, { message, initial }: Question): Promise<string> => {
    const isSkipped = (answer: string) => isOptional(name) && answer === '';
    const findFault = (answer: string) =>
      isSkipped(answer.trim()) ? null : findAnswerFault(name, answer.trim(), flags.provider);
    return (await text({ message, initial, findFault })).trim();
  };
  return async (name, changes = {}, findFault = async () => null) => {
    const { makeMessage, initial } = QUESTIONS[name];
    const question = { message: makeMessage(words), initial, ...changes };
    const flag = flags[name];
    if (flag !== undefined) return flag;
    let answer = await askOnce(name, question);
    while (answer !== '') {
      const fault = await findFault(answer);
      if (fault === null) return answer;
      const [kept, advice] = isOptional(name) ? ['', ''] : [answer, ' Press Enter to use this answer anyway.'];
      const again = await askOnce(name, { message: `${fault}${advice}\n${question.message}`, initial: kept });
      if (again === kept) return again === '' ? undefined : again;
      answer = again;
    }
    return undefined;
  };
}

function isOptional(name: QuestionName): boolean {
  return name === 'id';
}

/** Parses the answers. Uses the default for each missing answer. */
function makeAnswers({ provider, url, apiKeyEnv, dir, environments, id, ci, preCommit }: WrittenAnswers): InitAnswers {
  const providerName = provider ?? DEFAULT_PROVIDER;
  return {
    provider: providerName,
    url: url ?? null,
    keyVariable: apiKeyEnv ?? PROVIDERS[providerName].keys.secret.defaultVariable,
    folder: normalizeFolder(dir ?? QUESTIONS.dir.initial),
    environments: (environments ?? QUESTIONS.environments.initial).split(',').map((name) => name.trim()),
    id: id ?? null,
    // CI cannot reach the embedded service.
    ci: CI_SYSTEMS.find((one) => one === ci && url !== undefined) ?? 'none',
    preCommit: preCommit ?? false,
  };
}

/** Removes leading `./` and trailing slashes from a folder path. */
function normalizeFolder(written: string): string {
  return written
    .trim()
    .replace(/^(\.\/+)+/, '')
    .replace(/\/+$/, '');
}

/** Each problem mentions the flag for the answer, even if the answer came from a question. */
function checkAnswers(written: WrittenAnswers): readonly Problem[] {
  const names = Object.keys(QUESTIONS) as readonly QuestionName[];
  return names.flatMap((name) => {
    const answer = written[name];
    const reason = answer === undefined ? null : findAnswerFault(name, answer, written.provider);
    return reason === null ? [] : [makeProblem('init/invalid-flag', { flag: QUESTIONS[name].flag, reason })];
  });
}

function findAnswerFault(name: QuestionName, written: string, provider: NamedProviderName | undefined): string | null {
  if (name === 'ci')
    return CI_SYSTEMS.some((one) => one === written) ? null : `expected one of ${CI_SYSTEMS.join(', ')}.`;
  const answers = makeAnswers({ provider, url: 'https://prompts.example.com', [name]: written });
  return findInitFault(answers) ?? findConfigFault(answers);
}

/** Checks the rules that the parser of promptsync.yaml does not enforce, for example about wildcards. */
function findInitFault({ provider, folder, environments, id }: InitAnswers): string | null {
  const parts = folder.split('/');
  if (/[\p{Cc}\\*?[\]{}()!"]/u.test(folder))
    return 'expected the path of a folder, without wildcards, quotes, backslashes, or control characters.';
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    return 'expected a folder inside this folder, such as prompts.';
  }
  if (parts.some((part) => /^(\.git|node_modules)$/i.test(part)))
    return 'promptsync does not look for prompt files in .git or node_modules.';
  if (environments.includes('')) return 'expected names, separated by commas.';
  const [first = '', ...others] = environments;
  if (others.length === 0 && /\s/.test(first)) {
    return `expected names separated by commas, such as ${first.split(/\s+/).join(',')}.`;
  }
  if (new Set(environments).size < environments.length) return 'a name is listed twice.';
  const isId = id === null || (id !== '' && PROVIDERS[provider].rules.findIdFault(id) === null);
  return isId ? null : 'expected the id of an existing prompt.';
}

/** Returns the first reason why a promptsync.yaml with these answers would be invalid. */
function findConfigFault(answers: InitAnswers): string | null {
  const context = { file: `/${CONFIG_NAME}`, shownPath: CONFIG_NAME, root: '/', environment: {} };
  return parseConfig(renderConfig(answers), context).problems[0]?.message ?? null;
}
