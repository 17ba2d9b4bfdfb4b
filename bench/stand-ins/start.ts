import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { RecordedRequest } from './listen.ts';
import type { Stock } from './service.ts';

/** A stand-in for a service, in another process. At first, the stand-in is empty and has no latency. */
export type StandIn = {
  readonly baseUrl: string;
  /** Replaces the prompts of the service. */
  readonly stock: (stock: Stock) => Promise<void>;
  /** Sets the latency in milliseconds before each response. */
  readonly delay: (latency: number) => Promise<void>;
  /** Starts a new count of requests. Also records the requests if `record` is true. */
  readonly begin: (record?: boolean) => Promise<void>;
  /** Returns the number of requests since the last call of `begin`. */
  readonly count: () => Promise<number>;
  /** Returns the requests since the last call of `begin`, or an empty list if recording is off. */
  readonly recorded: () => Promise<readonly RecordedRequest[]>;
  readonly stop: () => void;
};

export type StandInName = 'prompts' | 'langwatch' | 'readme';

export async function startStandIn(name: StandInName): Promise<StandIn> {
  const child = fork(join(import.meta.dirname, 'serve.ts'), [name]);
  const baseUrl = String(await readResult(child));
  const ask = (call: string, argument?: unknown): Promise<unknown> => {
    child.send({ call, argument });
    return readResult(child);
  };
  return {
    baseUrl,
    stock: async (stock) => void (await ask('stock', stock)),
    delay: async (latency) => void (await ask('delay', latency)),
    begin: async (record = false) => void (await ask('begin', record)),
    count: async () => Number(await ask('count')),
    // The list comes from `listen`, through the message channel.
    recorded: async () => (await ask('recorded')) as readonly RecordedRequest[],
    stop: () => child.disconnect(),
  };
}

function readResult(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const handleExit = () => reject(new Error('The stand-in ended without a result.'));
    child.once('exit', handleExit);
    child.once('message', (message) => {
      child.off('exit', handleExit);
      resolve((message as { readonly result: unknown }).result);
    });
  });
}
