import { makeProblem, type Problem, type ProblemCode } from '../../src/problem.ts';
import { ADVICE } from './advice.ts';
import { EVIDENCE } from './evidence.ts';
import { escapeMarkdown, type Parts } from './parts.ts';

type Room<Code extends ProblemCode = ProblemCode> = Code extends `${infer Name}/${string}` ? Name : never;

const TITLES = {
  prompt: 'Prompt files',
  yaml: 'YAML, in prompt files and in promptsync.yaml',
  config: 'promptsync.yaml and variables',
  usage: 'The command line',
  langfuse: 'Langfuse',
  service: 'The service',
  pin: 'Pins',
  guard: 'Guards',
  git: 'git',
  apply: 'Writing',
  promote: 'promptsync promote',
  rollback: 'promptsync rollback',
  pull: 'promptsync pull',
  edit: 'Editing files',
  import: 'promptsync import',
  init: 'promptsync init',
  action: 'The GitHub Action',
  gitlab: 'promptsync comment',
  internal: 'Faults of promptsync',
} as const satisfies Record<Room, string>;

/** What pages say of the catalogue of problems: `problems`. */
export function problemParts(): Parts {
  const problems = Object.entries(EVIDENCE).map(([code, evidence]) => exampleOf(code as ProblemCode, evidence));
  const sections = Object.entries(TITLES).map(([room, title]) => {
    const own = problems.filter(({ code }) => code.startsWith(`${room}/`));
    return [`## ${title}`, ...own.map(problemSection)].join('\n\n');
  });
  return { problems: sections.join('\n\n') };
}

/** The table says of each code what its evidence is; a loop over it cannot. */
function exampleOf(code: ProblemCode, evidence: object): Problem {
  return (makeProblem as (code: ProblemCode, evidence: object) => Problem)(code, evidence);
}

function problemSection({ code, severity, message, hint }: Problem): string {
  const advice: Partial<Record<ProblemCode, string>> = ADVICE;
  const more = advice[code];
  return [
    `### ${code}`,
    `${severity === 'error' ? 'Error' : 'Warning'}: ${escapeMarkdown(message)}`,
    `→ ${escapeMarkdown(hint)}`,
    ...(more === undefined ? [] : [more]),
  ].join('\n\n');
}
