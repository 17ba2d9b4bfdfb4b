import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Recorded } from './listen.ts';
import type { Stock } from './service.ts';

/** A stand-in of a service in another process; all of it is empty and without latency at first. */
export type StandIn = {
  readonly baseUrl: string;
  readonly stock: (stock: Stock) => Promise<void>;
  /** In milliseconds, before each answer. */
  readonly delay: (latency: number) => Promise<void>;
  /** From here on requests are counted, and recorded where that is wanted. */
  readonly begin: (record?: boolean) => Promise<void>;
  readonly count: () => Promise<number>;
  readonly recorded: () => Promise<readonly Recorded[]>;
  readonly stop: () => void;
};

export type StandInName = 'prompts' | 'langwatch' | 'readme';

export async function startStandIn(name: StandInName): Promise<StandIn> {
  const child = fork(join(import.meta.dirname, 'serve.ts'), [name]);
  const baseUrl = String(await resultOf(child));
  const ask = (call: string, argument?: unknown): Promise<unknown> => {
    child.send({ call, argument });
    return resultOf(child);
  };
  return {
    baseUrl,
    stock: async (stock) => void (await ask('stock', stock)),
    delay: async (latency) => void (await ask('delay', latency)),
    begin: async (record = false) => void (await ask('begin', record)),
    count: async () => Number(await ask('count')),
    // It comes from `listen` over the channel.
    recorded: async () => (await ask('recorded')) as readonly Recorded[],
    stop: () => child.disconnect(),
  };
}

function resultOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('The stand-in has ended.'));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve((message as { readonly result: unknown }).result);
    });
  });
}
