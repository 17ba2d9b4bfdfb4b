/**
 * Runs a stand-in in a separate process: `node serve.ts prompts`. The parent process controls the stand-in with
 * messages. The stand-in ends when the parent ends.
 */
import { langWatchService } from './langwatch.ts';
import { listen, type Listening } from './listen.ts';
import { promptService } from './prompts.ts';
import { readMeService } from './readme.ts';
import type { Service } from './service.ts';

const SERVICES: Readonly<Record<string, () => Service>> = {
  prompts: promptService,
  langwatch: langWatchService,
  readme: readMeService,
};

const makeService = SERVICES[process.argv[2] ?? ''];
if (makeService === undefined) throw new Error(`There is no stand-in named ${process.argv[2]}.`);
const listening = await listen(makeService());
process.on('message', ({ call, argument }: { call: keyof Listening; argument: never }) => {
  const member = listening[call];
  process.send?.({ result: typeof member === 'function' ? (member(argument) ?? null) : member });
});
process.on('disconnect', () => process.exit());
process.send?.({ result: listening.baseUrl });
