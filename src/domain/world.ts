/** Everything outside that a command depends on: time, chance, variables, signals and the person at the terminal. */
export type World = {
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  /** Waits so many milliseconds; rejects once `stop` is aborted. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** A text that is never given twice. */
  readonly makeUniqueId: () => string;
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly stopSignal: AbortSignal;
  /** A line for the person, never part of the report. */
  readonly printNotice: (line: string) => void;
  readonly onProgress: (progress: Progress) => void;
  /** The service has asked for a wait, which begins. */
  readonly onWait: (wait: ServiceWait) => void;
  /** What is handed to it occurs in no output from then on. */
  readonly keepSecret: (secret: string) => void;
  /** Null where there is no terminal to ask on. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
  /** Null where there is no terminal to ask on, and in continuous integration. */
  readonly interview: Interview | null;
};

/** Returns true in continuous integration, where nobody can answer a question. */
export function isContinuousIntegration({ environment }: Pick<World, 'environment'>): boolean {
  return environment['CI'] === 'true';
}

/** Asks a person for what no flag has said. Whoever gives up ends the command: then it throws a `ProblemError`. */
export type Interview = {
  readonly text: (question: TextQuestion) => Promise<string>;
  readonly confirm: (question: Pick<TextQuestion, 'message'> & { readonly initial: boolean }) => Promise<boolean>;
};

type TextQuestion = {
  readonly message: string;
  /** What is there to be edited or taken as it is. */
  readonly initial: string;
  /** What is wrong with an answer; null: nothing. */
  readonly findFault: (answer: string) => string | null;
};

/** In seconds: how long it is, and how long the service wants it. */
export type ServiceWait = { readonly seconds: number; readonly requestedSeconds: number };

export type Progress = { readonly phase: 'Observing' | 'Applying'; readonly done: number; readonly total: number };
