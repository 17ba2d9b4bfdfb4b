import { CONFIG_NAME, DEFAULTS } from '../config/config.ts';
import { parseConfig } from '../config/load.ts';
import { rulesFor } from '../config/service.ts';
import type { Interview } from '../domain/world.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { type Ci, CIS, configText, type InitAnswers } from './init-files.ts';

/** The answers as they were written, with flags or by a person. */
export type InitFlags = Written & { readonly embedded: boolean };

/** The environments are separated by commas. */
type Written = { readonly [What in Asked]?: string | undefined };
type Asked = keyof typeof QUESTIONS;

const QUESTIONS = {
  url: {
    flag: '--url',
    message: 'Where is the prompt service? (https://…; empty: the embedded one, for a try)',
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
    message: 'Which prompt comes first? (its id in the service; empty: an example)',
    initial: '',
  },
  ci: { flag: '--ci', message: `Which CI is to run it? (${CIS.join(', ')})`, initial: 'github' },
} as const;

/** What the flags say, and for the rest what the person says; the defaults where there is nobody to ask. */
export async function gatherAnswers(
  flags: InitFlags,
  interview: Interview | null,
  guessCi: () => Promise<Ci>,
): Promise<InitAnswers | readonly Problem[]> {
  const reason = contradictionIn(flags);
  if (reason !== null) return [makeProblem('usage/invalid', { reason })];
  if (interview === null && flags.url === undefined && !flags.embedded) return [makeProblem('init/service-needed')];
  const known = { ...flags, ci: flags.ci ?? (await guessCi()) };
  const written = interview === null ? known : await ask(flags, interview, known.ci);
  const faults = faultsIn(written);
  return faults.length > 0 ? faults : toAnswers(written);
}

function contradictionIn({ url, embedded, id }: InitFlags): string | null {
  if (embedded && url !== undefined) return '--url and --embedded exclude each other.';
  return embedded && id !== undefined ? '--id needs --url: the embedded service begins without prompts.' : null;
}

/** The flags with what was not given asked for. The embedded service has no key, and no prompt to begin with. */
async function ask(flags: InitFlags, { text }: Interview, guessed: string): Promise<InitFlags> {
  const say = async (what: Asked): Promise<string | undefined> => {
    const { message } = QUESTIONS[what];
    const initial = what === 'ci' ? guessed : QUESTIONS[what].initial;
    const mayStayEmpty = initial === '';
    const fault = (answer: string) => (mayStayEmpty && answer.trim() === '' ? null : faultOf(what, answer.trim()));
    const given = flags[what] ?? (await text({ message, initial, fault })).trim();
    return mayStayEmpty && given === '' && flags[what] === undefined ? undefined : given;
  };
  const url = flags.embedded ? undefined : await say('url');
  const remote = url !== undefined;
  const apiKeyEnv = remote ? await say('apiKeyEnv') : flags.apiKeyEnv;
  const dir = await say('dir');
  const environments = await say('environments');
  const id = remote ? await say('id') : flags.id;
  const ci = await say('ci');
  return { url, embedded: !remote, apiKeyEnv, dir, environments, id, ci };
}

function toAnswers({ url, apiKeyEnv, dir, environments, id, ci }: Written): InitAnswers {
  return {
    url: url ?? null,
    keyVariable: apiKeyEnv ?? QUESTIONS.apiKeyEnv.initial,
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
    const reason = answer === undefined ? null : faultOf(what, answer);
    return reason === null ? [] : [makeProblem('init/invalid-flag', { flag: QUESTIONS[what].flag, reason })];
  });
}

/** What is wrong with one answer by itself, as a sentence; null: nothing. */
function faultOf(what: Asked, written: string): string | null {
  if (what === 'ci') return CIS.some((one) => one === written) ? null : `expected one of ${CIS.join(', ')}.`;
  const answers = toAnswers({ url: 'https://prompts.example.com', [what]: written });
  return ownFault(answers) ?? configFault(answers);
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
  const isId = id === null || (id !== '' && rulesFor({}).idFault(id) === null);
  return isId ? null : 'expected the id of a prompt, as the service shows it.';
}

function configFault(answers: InitAnswers): string | null {
  const around = { file: `/${CONFIG_NAME}`, shownPath: CONFIG_NAME, root: '/', environment: {} };
  return parseConfig(configText(answers), around).problems[0]?.message ?? null;
}
