export type Answer = { readonly status: number; readonly body: string };

/** How a service is filled before a run. */
export type Stock = {
  readonly count: number;
  /** So many of the prompts, the first ones, are as they were before the last edit. */
  readonly behind: number;
  /** The prompts are known and have no version yet. */
  readonly empty?: boolean;
};

/** A service without its transport; everything is in memory. */
export type Service = {
  readonly stock: (stock: Stock) => void;
  /** `path` has the query; `body` is empty where none was sent. */
  readonly answer: (method: string, path: string, body: string, headers: NodeJS.Dict<unknown>) => Answer;
};
