/** A stand-in in a process of its own: `node serve.ts prompts`. Told what to do by its parent, and ends with it. */
import { langWatchService } from './langwatch.ts';
import { listen, type Listening } from './listen.ts';
import { promptService } from './prompts.ts';
import { readMeService } from './readme.ts';
import type { Service } from './service.ts';

const services: Readonly<Record<string, () => Service>> = {
  prompts: promptService,
  langwatch: langWatchService,
  readme: readMeService,
};

const make = services[process.argv[2] ?? ''];
if (make === undefined) throw new Error(`There is no stand-in named ${process.argv[2]}.`);
const listening = await listen(make());
process.on('message', ({ call, argument }: { call: keyof Listening; argument: never }) => {
  const member = listening[call];
  process.send?.({ result: typeof member === 'function' ? (member(argument) ?? null) : member });
});
process.on('disconnect', () => process.exit());
process.send?.({ result: listening.baseUrl });
