import { Socket } from 'node:net';
import { startGit } from './ask.ts';
import { readAnswers, type GitObject } from './batch-answers.ts';
import type { GitStart } from './environment.ts';
import { gitProblem } from './problem-of-git.ts';

/** The objects of a repository. */
export type Objects = {
  /** By an id, or in git's own words (`HEAD^{tree}`); null where there is none. Throws a `ProblemError` when git fails. */
  readonly read: (name: string) => Promise<GitObject | null>;
};

type Question = {
  readonly name: string;
  /** Whether a process has ended over it already. */
  readonly repeated: boolean;
  readonly answer: (found: GitObject | null) => void;
  readonly fail: (error: unknown) => void;
};

/**
 * One process answers all questions, one after the other; it is started by the first one. Nobody has to close it: it
 * keeps no other process waiting, and ends when nothing was asked for a while.
 */
export function openObjects(start: GitStart): Objects {
  let batch: Batch | null = null;
  const ask = (question: Question): void => {
    try {
      if (batch === null || !batch.isOpen()) batch = startBatch(start, askAgain);
      batch.ask(question);
    } catch (error) {
      question.fail(error);
    }
  };
  // Some words end git (`HEAD@{upstream}` without one): what was asked behind them is not to blame.
  const askAgain = (open: readonly Question[], reason: unknown): void => {
    for (const [index, question] of open.entries()) {
      if (index === 0 && question.repeated) question.fail(gitProblem(reason));
      else ask({ ...question, repeated: question.repeated || index === 0 });
    }
  };
  return {
    read: (name) =>
      // A question is a line.
      /[\n\0]/.test(name)
        ? Promise.resolve(null)
        : new Promise((answer, fail) => ask({ name, repeated: false, answer, fail })),
  };
}

type Batch = { readonly isOpen: () => boolean; readonly ask: (question: Question) => void };

/** Milliseconds without a question after which the process is ended. */
const IDLE = 10_000;

/** Of what a process complains about, the reason of its end is told last. */
const LONGEST_COMPLAINT = 4000;

/** Tells what it was still to answer when it ended. */
function startBatch(start: GitStart, onEnd: (open: readonly Question[], reason: unknown) => void): Batch {
  const child = startGit(start, ['cat-file', '--batch']);
  const open: Question[] = [];
  const idle = makeIdle([child, child.stdin, child.stdout, child.stderr], () => child.stdin.end());
  let complaint = '';
  let failure: Error | undefined;
  child.stderr.on('data', (text: Buffer) => (complaint = `${complaint}${text}`.slice(-LONGEST_COMPLAINT)));
  child.stdout.on(
    'data',
    readAnswers((found) => {
      open.shift()?.answer(found);
      if (open.length === 0) idle.begin();
    }),
  );
  // Its end tells more.
  child.stdin.on('error', () => {});
  child.on('error', (error) => (failure = error));
  child.on('close', (code) => {
    idle.end();
    onEnd(open.splice(0), failure ?? new Error(complaint || `its answers ended (${child.signalCode ?? code})`));
  });
  return {
    isOpen: () => child.exitCode === null && child.signalCode === null && child.stdin.writable,
    ask: (question) => {
      idle.end();
      open.push(question);
      child.stdin.write(`${question.name}\n`);
    },
  };
}

type Held = { readonly ref: () => void; readonly unref: () => void };

/** While nothing is asked, a process and its pipes do not keep this one from ending. */
function makeIdle(parts: readonly object[], onLong: () => void) {
  const held = parts.filter((part): part is Held => part instanceof Socket || 'pid' in part);
  let timer: NodeJS.Timeout | undefined;
  return {
    begin: () => {
      for (const part of held) part.unref();
      timer = setTimeout(onLong, IDLE).unref();
    },
    end: () => {
      clearTimeout(timer);
      for (const part of held) part.ref();
    },
  };
}
