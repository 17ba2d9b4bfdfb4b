import { CONFIG_NAME, DEFAULTS } from '../../config/config.ts';
import { parseConfig } from '../../config/parse.ts';
import { makeProblem, type Problem } from '../../problem.ts';
import { FrontMatterShape } from '../../files/parse.ts';
import type { InitAnswers } from './init-answers.ts';
import { configText } from './init-config.ts';

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
