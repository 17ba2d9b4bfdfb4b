import { makeProblem, type Problem, type ProblemCode } from '../../src/problem.ts';
import { makeScreen } from '../../src/report/terminal-screen.ts';
import { renderProblem } from '../../src/report/problem-list.ts';
import { makeOutputStyle } from '../../src/report/output-style.ts';
import { EVIDENCE } from './evidence.ts';
import { EXPLANATIONS, type Explanation } from './explanations.ts';
import { escapeMarkdown, type Parts } from './parts.ts';

/** The part of a problem code before the slash. */
type Room<Code extends ProblemCode = ProblemCode> = Code extends `${infer Name}/${string}` ? Name : never;

const TITLES = {
  prompt: 'Prompt files',
  yaml: 'YAML in prompt files and in promptsync.yaml',
  config: 'promptsync.yaml and environment variables',
  usage: 'The command line',
  langfuse: 'Langfuse',
  service: 'The service',
  pin: 'Pins',
  guard: 'Guards',
  git: 'git',
  apply: 'Applying a plan',
  promote: 'promptsync promote',
  rollback: 'promptsync rollback',
  pull: 'promptsync pull',
  edit: 'Editing files',
  import: 'promptsync import',
  new: 'promptsync new',
  bundle: 'promptsync bundle',
  init: 'promptsync init',
  action: 'The GitHub Action',
  gitlab: 'promptsync comment',
  internal: 'Internal errors',
} as const satisfies Record<Room, string>;

/** Makes the part `problems` of docs/troubleshooting.md, which lists the catalog of problems. */
export function makeProblemParts(): Parts {
  const problems = Object.entries(EVIDENCE).map(([code, evidence]) => makeExample(code as ProblemCode, evidence));
  const sections = Object.entries(TITLES).map(([room, title]) => {
    const problemsOfRoom = problems.filter(({ code }) => code.startsWith(`${room}/`));
    return [`## ${title}`, ...problemsOfRoom.map(describeProblem)].join('\n\n');
  });
  return { problems: sections.join('\n\n') };
}

/**
 * Makes an example of a problem. The types of `EVIDENCE` match each code with its evidence, but a loop loses the match.
 */
function makeExample(code: ProblemCode, evidence: object): Problem {
  return (makeProblem as (code: ProblemCode, evidence: object) => Problem)(code, evidence);
}

function describeProblem(problem: Problem): string {
  const { why, advice }: Explanation = EXPLANATIONS[problem.code];
  const instructions = [
    escapeMarkdown(inlineFinalCommand(problem.hint)),
    ...(advice === undefined ? [] : [advice]),
  ].join(' ');
  return [
    `### ${problem.code}`,
    `\`\`\`text\n${renderMessage(problem)}\n\`\`\``,
    ...(why === null ? [] : [`**Why:** ${why}`]),
    `**What to do:** ${instructions}`,
  ].join('\n\n');
}

/**
 * Makes a command at the end of a hint part of the sentence: "run: `x`" becomes "run `x`.". The hint ends with a colon
 * and the command alone, so that users can copy the command from a terminal.
 */
function inlineFinalCommand(hint: string): string {
  return hint.replace(/ run: (`[^`]+`)$/, ' run $1.');
}

/** A terminal of a common width. */
const STYLE = makeOutputStyle({ colour: false, screen: makeScreen(100) });

/** Renders the message as a terminal shows it, without the hint. */
function renderMessage(problem: Problem): string {
  return renderProblem({ ...problem, hint: '' }, STYLE).trimEnd();
}
