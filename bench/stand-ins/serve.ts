/**
 * Runs a stand-in in a separate process: `node serve.ts prompts`. The parent process controls the stand-in with
 * messages. The stand-in ends when the parent ends.
 */
import { makeLangWatchService } from './langwatch.ts';
import { listen, type RunningStandIn } from './listen.ts';
import { makePromptService } from './prompts.ts';
import { makeReadMeService } from './readme.ts';
import type { Service } from './service.ts';

const SERVICES: Readonly<Record<string, () => Service>> = {
  prompts: makePromptService,
  langwatch: makeLangWatchService,
  readme: makeReadMeService,
};

const makeService = SERVICES[process.argv[2] ?? ''];
if (makeService === undefined) throw new Error(`There is no stand-in named ${process.argv[2]}.`);
const listening = await listen(makeService());
process.on('message', ({ call, argument }: { call: keyof RunningStandIn; argument: never }) => {
  const member = listening[call];
  process.send?.({ result: typeof member === 'function' ? (member(argument) ?? null) : member });
});
process.on('disconnect', () => process.exit());
process.send?.({ result: listening.baseUrl });
