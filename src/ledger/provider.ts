import type { Wanted } from '../domain/observed.ts';
import type { Provider, Writer, Written } from '../domain/provider.ts';
import { FIELDS, type UpdatePrompt } from '../domain/plan.ts';
import type { PromptFields } from '../service/prompt-service.ts';
import { failed, stopped } from '../service/written.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import { createVersion } from './create.ts';
import { lookUp, lookVerified } from './look.ts';
import { findEntry, interpret, readPrompt } from './reading.ts';
import { activate, type LedgerWorld, type Writing } from './writing.ts';

/** The four calls as a provider: versions are recognised by the ledgers that promptsync leaves in their metadata. */
export function ledgerProvider(world: LedgerWorld): Provider {
  return {
    observe: (wanted) => beginWriter(world, wanted).observe(),
    begin: (wanted) => beginWriter(world, wanted),
    list: null,
  };
}

function beginWriter(world: LedgerWorld, wanted: Wanted): Writer {
  const { service, trackingEnvironment } = world;
  let writing: Writing | null = null;
  const begun = (): Writing => {
    if (writing !== null) return writing;
    throw unexpected('nothing was observed');
  };
  const seen = () => interpret(begun().reading, wanted.environments, trackingEnvironment);
  return {
    observe: async () => {
      writing = { world, wanted, reading: await readPrompt(service, wanted, trackingEnvironment) };
      return seen();
    },
    find: async (pins) => {
      await lookUp(begun(), pins);
      return seen();
    },
    create: (change, { activated }) => createVersion(begun(), { ...change, activated }),
    update: (change) => updatePrompt(begun(), change).catch(failed('Updating the prompt')),
    activate: (environment, { id }) => setActive(begun(), environment, id).catch(failed(`Setting "${environment}"`)),
  };
}

/** The answer is the updated prompt (interface section 4.3): what it shows otherwise would be sent again for ever. */
async function updatePrompt({ world, reading }: Writing, change: UpdatePrompt): Promise<Written> {
  const entries = Object.entries(change.fields).map(([field, { after }]) => [field, after]);
  const fields: PromptFields = Object.fromEntries(entries);
  const updated = await world.service.updatePrompt(reading.prompt.id, fields);
  const differ = FIELDS.filter((field) => fields[field] !== undefined && fields[field] !== updated[field]);
  if (differ.length === 0) return { status: 'made', problems: [] };
  return stopped('unknown', makeProblem('apply/fields-differ', { fields: differ }));
}

/** Never an unverified version live: one that was not read in this run must be what the ledger and git know it as. */
async function setActive(writing: Writing, environment: string, id: string): Promise<Written> {
  const entry = findEntry(writing.reading, id);
  if (entry === undefined) throw unexpected('a version that nobody has looked at was to go live');
  return activate(writing, environment, await lookVerified(writing, entry));
}

function unexpected(reason: string): ProblemError {
  return new ProblemError(makeProblem('internal/unexpected', { reason }));
}
