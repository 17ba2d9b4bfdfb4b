/**
 * Everything outside promptsync that a command depends on: time, randomness, environment variables, signals and the
 * user.
 */
export type World = {
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Returns the current time in milliseconds since 1970. */
  readonly now: () => number;
  /** Returns a random number that is at least 0 and less than 1. */
  readonly random: () => number;
  /** Waits this many milliseconds. Rejects as soon as `stopSignal` is aborted. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Returns a text that is different for each call, even in different runs. */
  readonly makeUniqueId: () => string;
  /** The signal that the first SIGINT or SIGTERM aborts. */
  readonly stopSignal: AbortSignal;
  /** Prints a line for the user. The line is not part of the report. */
  readonly printNotice: (line: string) => void;
  readonly onProgress: (progress: Progress) => void;
  /** Called at the start of a wait that the service requested. */
  readonly onWait: (wait: ServiceWait) => void;
  /** Registers a secret. No later output contains it. */
  readonly keepSecret: (secret: string) => void;
  /** Asks the user a yes-or-no question. Null if there is no terminal to ask on. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
  /** Asks the user for the values that `init` needs. Null without a terminal and in continuous integration. */
  readonly interview: Interview | null;
};

/** Whether the command runs in continuous integration, where nobody can answer a question. */
export function isContinuousIntegration({ environment }: Pick<World, 'environment'>): boolean {
  return environment['CI'] === 'true';
}

/** Asks the user for values that no flag provides. If the user cancels, each function throws a `ProblemError`. */
export type Interview = {
  /** Asks for a text. */
  readonly text: (question: TextQuestion) => Promise<string>;
  /** Asks a yes-or-no question. */
  readonly confirm: (question: Pick<TextQuestion, 'message'> & { readonly initial: boolean }) => Promise<boolean>;
};

/** A question that the user answers with a text. */
type TextQuestion = {
  readonly message: string;
  /** The suggested answer, which the user can edit or accept. */
  readonly initial: string;
  /** Returns the reason why an answer is invalid. Null if the answer is valid. */
  readonly findFault: (answer: string) => string | null;
};

/** The length of a wait, and the length that the service requested, both in seconds. */
export type ServiceWait = { readonly seconds: number; readonly requestedSeconds: number };

/** The number of prompts that the present phase of a command has processed so far, out of the total. */
export type Progress = { readonly phase: 'Observing' | 'Applying'; readonly done: number; readonly total: number };
