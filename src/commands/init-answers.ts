import { CONFIG_NAME, DEFAULTS } from '../config/config.ts';
import { parseConfig } from '../config/load.ts';
import { rulesFor } from '../config/service.ts';
import type { Interview } from '../domain/world.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { type Ci, CIS, configText, type InitAnswers } from './init-files.ts';

/** The answers as they were written, with flags or by a person. */
export type InitFlags = Written & { readonly embedded: boolean };

/** The environments are separated by commas. */
type Written = { readonly [What in Asked | 'provider']?: string | undefined };
type Asked = keyof typeof QUESTIONS;
type Question = { readonly message: string; readonly initial: string };

const QUESTIONS = {
  url: {
    flag: '--url',
    message: 'Where is the prompt service? (https://…; langfuse; empty: the embedded one, for a try)',
    initial: '',
  },
  apiKeyEnv: {
    flag: '--api-key-env',
    message: 'Which variable holds the API key? (its name, not the key)',
    initial: DEFAULTS.api_key_env,
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
  ci: { flag: '--ci', message: `Which CI is to run it? (${CIS.join(', ')})`, initial: 'github' },
} as const;

/** What is likely, where nothing was said. */
type Guesses = { readonly ci: () => Promise<Ci>; readonly langfuseUrl: string };

/** What the flags say, and for the rest what the person says; the defaults where there is nobody to ask. */
export async function gatherAnswers(
  flags: InitFlags,
  interview: Interview | null,
  guesses: Guesses,
): Promise<InitAnswers | readonly Problem[]> {
  const reason = contradictionIn(flags);
  if (reason !== null) return [makeProblem('usage/invalid', { reason })];
  const url = flags.url ?? (flags.provider && guesses.langfuseUrl);
  if (interview === null && url === undefined && !flags.embedded) return [makeProblem('init/service-needed')];
  const ci = flags.ci ?? (await guesses.ci());
  const written = interview === null ? { ...flags, url, ci } : await ask(flags, interview, { ...guesses, ci });
  const faults = faultsIn(written);
  return faults.length > 0 ? faults : toAnswers(written);
}

function contradictionIn({ url, embedded, id, provider, apiKeyEnv }: InitFlags): string | null {
  if (embedded && provider !== undefined) return '--provider and --embedded exclude each other.';
  if (provider !== undefined && apiKeyEnv !== undefined)
    return '--api-key-env is not for Langfuse, which has two keys.';
  if (embedded && url !== undefined) return '--url and --embedded exclude each other.';
  return embedded && id !== undefined ? '--id needs --url: the embedded service begins without prompts.' : null;
}

/** The flags with what was not given asked for. The embedded service has no key, and no prompt to begin with. */
async function ask(flags: InitFlags, { text }: Interview, guessed: Record<'ci' | 'langfuseUrl', string>) {
  let { provider } = flags;
  const say = async (what: Asked, { message, initial }: Question = QUESTIONS[what]) => {
    const mayStayEmpty = initial === '';
    const isWord = (answer: string) => mayStayEmpty && ['', ...(what === 'url' ? ['langfuse'] : [])].includes(answer);
    const fault = (answer: string) => (isWord(answer.trim()) ? null : faultOf(what, answer.trim(), provider));
    const given = flags[what] ?? (await text({ message, initial, fault })).trim();
    return mayStayEmpty && given === '' && flags[what] === undefined ? undefined : given;
  };
  const where = flags.embedded || provider !== undefined ? undefined : await say('url');
  if (where === 'langfuse') provider = where;
  const url = provider ? await say('url', { message: 'Where is Langfuse?', initial: guessed.langfuseUrl }) : where;
  const remote = url !== undefined;
  const apiKeyEnv = remote && !provider ? await say('apiKeyEnv') : flags.apiKeyEnv;
  const dir = await say('dir');
  const environments = await say('environments');
  const id = remote ? await say('id') : flags.id;
  const ci = await say('ci', { ...QUESTIONS.ci, initial: guessed.ci });
  return { provider, url, embedded: !remote, apiKeyEnv, dir, environments, id, ci };
}

function toAnswers({ provider, url, apiKeyEnv, dir, environments, id, ci }: Written): InitAnswers {
  const keyVariable = provider === undefined ? DEFAULTS.api_key_env : DEFAULTS.secret_key_env;
  return {
    provider: provider === undefined ? 'integration' : 'langfuse',
    url: url ?? null,
    keyVariable: apiKeyEnv ?? keyVariable,
    folder: folderOf(dir ?? QUESTIONS.dir.initial),
    environments: (environments ?? QUESTIONS.environments.initial).split(',').map((name) => name.trim()),
    id: id ?? null,
    ci: CIS.find((one) => one === ci) ?? 'none',
  };
}

function folderOf(written: string): string {
  return written
    .trim()
    .replace(/^(\.\/+)+/, '')
    .replace(/\/+$/, '');
}

/** Everything that is wrong with the answers, reported of the flags that would have given them. */
function faultsIn(written: Written): readonly Problem[] {
  const asked = Object.keys(QUESTIONS) as readonly Asked[];
  return asked.flatMap((what) => {
    const answer = written[what];
    const reason = answer === undefined ? null : faultOf(what, answer, written.provider);
    return reason === null ? [] : [makeProblem('init/invalid-flag', { flag: QUESTIONS[what].flag, reason })];
  });
}

/** What is wrong with one answer by itself, as a sentence; null: nothing. */
function faultOf(what: Asked, written: string, provider: string | undefined): string | null {
  if (what === 'ci') return CIS.some((one) => one === written) ? null : `expected one of ${CIS.join(', ')}.`;
  const answers = toAnswers({ provider, url: 'https://prompts.example.com', [what]: written });
  return ownFault(answers) ?? configFault(answers);
}

/** What the configuration allows, and a new workspace does not; and what is not in it. */
function ownFault({ provider, folder, environments, id }: InitAnswers): string | null {
  const parts = folder.split('/');
  if (/[\p{Cc}\\*?[\]{}()!"]/u.test(folder)) return 'a folder here is a path without wildcards and quotes.';
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    return 'expected a folder below this one, such as prompts.';
  }
  if (parts.some((part) => /^(\.git|node_modules)$/i.test(part))) return 'prompt files are not looked for there.';
  if (environments.includes('')) return 'expected names of environments, separated by commas.';
  if (new Set(environments).size < environments.length) return 'an environment is named twice.';
  const isId = id === null || (id !== '' && rulesFor({ service: { provider } }).idFault(id) === null);
  return isId ? null : 'expected the id of a prompt, as the service shows it.';
}

function configFault(answers: InitAnswers): string | null {
  const around = { file: `/${CONFIG_NAME}`, shownPath: CONFIG_NAME, root: '/', environment: {} };
  return parseConfig(configText(answers), around).problems[0]?.message ?? null;
}
