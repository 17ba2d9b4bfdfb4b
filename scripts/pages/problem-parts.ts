import { makeProblem, type Problem, type ProblemCode } from '../../src/problem.ts';
import { ADVICE } from './advice.ts';
import { EVIDENCE } from './evidence.ts';
import { escapeMarkdown, type Parts } from './parts.ts';

/** The part of a problem code before the slash. */
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
  new: 'promptsync new',
  bundle: '`promptsync bundle`',
  init: 'promptsync init',
  action: 'The GitHub Action',
  gitlab: 'promptsync comment',
  internal: 'Faults of promptsync',
} as const satisfies Record<Room, string>;

/** Makes the part `problems` of docs/troubleshooting.md, which lists the catalog of problems. */
export function makeProblemParts(): Parts {
  const problems = Object.entries(EVIDENCE).map(([code, evidence]) => makeExample(code as ProblemCode, evidence));
  const sections = Object.entries(TITLES).map(([room, title]) => {
    const problemsOfRoom = problems.filter(({ code }) => code.startsWith(`${room}/`));
    return [`## ${title}`, ...problemsOfRoom.map(renderProblem)].join('\n\n');
  });
  return { problems: sections.join('\n\n') };
}

/**
 * Makes an example of a problem. The types of `EVIDENCE` match each code with its evidence, but a loop loses the match.
 */
function makeExample(code: ProblemCode, evidence: object): Problem {
  return (makeProblem as (code: ProblemCode, evidence: object) => Problem)(code, evidence);
}

function renderProblem({ code, severity, message, hint }: Problem): string {
  const advice: Partial<Record<ProblemCode, string>> = ADVICE;
  const adviceOfCode = advice[code];
  return [
    `### ${code}`,
    `${severity === 'error' ? 'Error' : 'Warning'}: ${escapeMarkdown(message)}`,
    `→ ${escapeMarkdown(hint)}`,
    ...(adviceOfCode === undefined ? [] : [adviceOfCode]),
  ].join('\n\n');
}
