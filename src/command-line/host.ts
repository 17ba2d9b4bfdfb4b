/** What an entry gives to the command line: the process, as far as it is used. */
export type Host = {
  /** Without the program's own name. */
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly errors: NodeJS.WriteStream;
  /** Calls back on each SIGINT and SIGTERM. */
  readonly onSignal: (handle: () => void) => void;
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
  readonly now: () => number;
  readonly random: () => number;
  readonly newId: () => string;
};
