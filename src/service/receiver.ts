import type { Dispatcher } from 'undici';

/** What was received of an answer when its request was over, and what ended it. */
export type Received = {
  /** Null when no answer began. */
  readonly status: number | null;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** Between sending the request and the first byte of its answer, in milliseconds; null when none came. */
  readonly waited: number | null;
  /** False only when not a byte of the request can have left. */
  readonly sent: boolean;
  readonly end: End;
};

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export type End = { readonly kind: 'whole' | 'late' | 'over' } | { readonly kind: 'broken'; readonly error: unknown };

export type ReceiverOptions = {
  /** From now to the last byte of the answer. */
  readonly timeoutMilliseconds: number;
  /** How many bytes are read of an answer with this status, about. */
  readonly limitOf: (status: number) => number;
  readonly now: () => number;
};

/**
 * One request under way: undici tells it of each step. It ends once, at its deadline at the latest, even where it never
 * gets a connection; whoever ends it early ends its connection.
 */
export class Receiver implements Dispatcher.DispatchHandler {
  readonly #options: ReceiverOptions;
  readonly #onEnd: (received: Received) => void;
  readonly #deadline: NodeJS.Timeout;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #controller: Dispatcher.DispatchController | null = null;
  #status: number | null = null;
  #headers: Headers = {};
  #waited: number | null = null;
  /** When; null while not a byte of the request can have left. */
  #sentAt: number | null = null;
  #over = false;

  constructor(options: ReceiverOptions, onEnd: (received: Received) => void) {
    this.#options = options;
    this.#onEnd = onEnd;
    this.#deadline = setTimeout(() => this.#cut('late'), options.timeoutMilliseconds);
  }

  /** undici calls this right before it writes the first byte: until then, nothing was sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#over) return controller.abort(new Error('too late'));
    this.#controller = controller;
    this.#sentAt = this.#options.now();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // Early hints and the like come before the answer.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#waited = this.#options.now() - (this.#sentAt ?? 0);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#over) return;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > this.#options.limitOf(this.#status ?? 0)) this.#cut('over');
  }

  onResponseEnd(): void {
    this.#end({ kind: 'whole' });
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: unknown): void {
    this.#end({ kind: 'broken', error });
  }

  #cut(kind: 'late' | 'over'): void {
    this.#end({ kind });
    this.#controller?.abort(new Error(kind));
  }

  #end(end: End): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#deadline);
    const [first = new Uint8Array(0)] = this.#chunks;
    const body = this.#chunks.length > 1 ? Buffer.concat(this.#chunks, this.#size) : first;
    const sent = this.#sentAt !== null;
    this.#onEnd({ status: this.#status, headers: this.#headers, body, waited: this.#waited, sent, end });
  }
}
