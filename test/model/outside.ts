import type { JsonObject } from '../../src/domain/json.ts';
import { stampToWire } from '../../src/ledger/stamp.ts';
import type { OutsideCommand, TheirText } from './commands.ts';
import { commitAgo } from './history.ts';
import { promptAt, type World } from './world.ts';

/** Somebody does something in the service. Nothing happens where there is no version yet to do it to. */
export function actOutside(world: World, command: OutsideCommand): void {
  const { service } = world;
  const prompt = promptAt(world, command.prompt);
  world.lines.push(`somebody: ${JSON.stringify(command)}`);
  switch (command.kind) {
    case 'their-version':
      return add(world, command, textOf(world, prompt, command.text), command.metadata);
    case 'their-copy':
      return copy(world, command);
    case 'their-move': {
      const id = service.versions(prompt).at(-1 - command.nth)?.id ?? service.versions(prompt)[0]?.id;
      return id === undefined ? undefined : service.activate(prompt, command.environment, id);
    }
    case 'their-fields':
      // The body of an in-memory call is done when it returns.
      return void service.updatePrompt(prompt, command.fields);
  }
}

type Added = OutsideCommand & { readonly kind: 'their-version' | 'their-copy' };

function add(world: World, { prompt: index, goesTo }: Added, text: string, metadata: JsonObject): void {
  const { service } = world;
  const prompt = promptAt(world, index);
  const id = service.addVersion(prompt, { text, metadata });
  if (goesTo !== null) service.activate(prompt, goesTo, id);
}

function copy(world: World, command: OutsideCommand & { readonly kind: 'their-copy' }): void {
  const original = world.service.versions(promptAt(world, command.prompt)).at(-1 - command.nth);
  if (original === undefined) return;
  const { text, metadata, stamp } = original;
  const copied = { ...(command.metadata ?? metadata), ...(stamp !== null && { promptsync: stampToWire(stamp) }) };
  add(world, command, command.text ?? text, copied);
}

function textOf({ history }: World, prompt: string, text: TheirText): string {
  if (typeof text === 'string') return text;
  return commitAgo(history, text.ofCommitsAgo).files.get(prompt)?.draft.text ?? 'Theirs';
}
