/** Everything outside promptsync that a command depends on. */
export type System = {
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Returns the current time in milliseconds since 1970. */
  readonly now: () => number;
  /** Returns a random number that is at least 0 and less than 1. */
  readonly random: () => number;
  /** Waits for the given number of milliseconds. Rejects as soon as `stopSignal` is aborted. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Returns a string that is unique across all calls and all runs. */
  readonly makeUniqueId: () => string;
  /** The signal that is aborted on the first SIGINT or SIGTERM. */
  readonly stopSignal: AbortSignal;
  /** Prints a line for the user. The line is not part of the report. */
  readonly printNotice: (line: string) => void;
  readonly onProgress: (progress: Progress) => void;
  /** Called when promptsync starts a wait that the service requested. */
  readonly onWait: (wait: ServiceWait) => void;
  /** Registers a secret, so that promptsync removes it from all later output. */
  readonly keepSecret: (secret: string) => void;
  /** Null if no terminal is available. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
  /** Null in continuous integration, or if no terminal is available. */
  readonly interview: Interview | null;
};

export function isContinuousIntegration({ environment }: Pick<System, 'environment'>): boolean {
  return environment['CI'] === 'true';
}

/** Asks for values that no flag provides. Each function throws a `ProblemError` if the user cancels. */
export type Interview = {
  readonly text: (question: TextQuestion) => Promise<string>;
  /** Resolves to the value of the chosen answer. */
  readonly select: (question: SelectQuestion) => Promise<string>;
  readonly confirm: (question: Pick<TextQuestion, 'message'> & { readonly initial: boolean }) => Promise<boolean>;
};

type TextQuestion = {
  readonly message: string;
  /** The suggested answer, which the user can edit or accept. */
  readonly initial: string;
  /** Returns the reason why an answer is invalid. Null if the answer is valid. */
  readonly findFault: (answer: string) => string | null;
};

export type SelectQuestion = {
  readonly message: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  /** The value of the answer that is chosen if the user only presses Enter. */
  readonly initial: string;
};

export type ServiceWait = {
  readonly service: string;
} & RequestedWait;

/** The actual length of a wait, and the length that the service requested, both in seconds. */
export type RequestedWait = { readonly seconds: number; readonly requestedSeconds: number };

/** The progress of the current phase of a command: the number of prompts processed so far, and the total. */
export type Progress = { readonly phase: 'Observing' | 'Applying'; readonly done: number; readonly total: number };
