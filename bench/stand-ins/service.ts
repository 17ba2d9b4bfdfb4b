/** The response to a request. */
export type Answer = { readonly status: number; readonly body: string };

/** The prompts in a service before a run. */
export type Stock = {
  /** The number of prompts. */
  readonly count: number;
  /** The number of prompts that have the text from before the last edit. These are the first prompts. */
  readonly behind: number;
  /** Whether the prompts exist but have no version yet. */
  readonly empty?: boolean;
};

/** A service in memory, without its transport. */
export type Service = {
  /** Replaces the prompts of the service. */
  readonly stock: (stock: Stock) => void;
  /** Answers a request. `path` includes the query. `body` is empty if the request has no body. */
  readonly answer: (method: string, path: string, body: string, headers: NodeJS.Dict<unknown>) => Answer;
};
