import type { Wanted } from '../domain/observed.ts';
import { FIELDS, type UpdatePrompt } from '../domain/plan.ts';
import type { VersionRef } from '../domain/versions.ts';
import type { Pin } from '../domain/prompt-file.ts';
import type { PromptFields } from '../service/prompt-service.ts';
import type { Provider, Writer, Written } from '../domain/provider.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import { createVersion } from './create.ts';
import { lookUp, lookVerified } from './look.ts';
import { interpret, readPrompt, type Reading } from './reading.ts';
import { activate, beginWriting, failed, stopped, type Expected, type LedgerWorld, type Writing } from './writing.ts';

/** The four calls as a provider: versions are recognised by the ledgers that promptsync leaves in their metadata. */
export function ledgerProvider(world: LedgerWorld): Provider {
  const { service, trackingEnvironment } = world;
  return {
    observe: async (wanted) => {
      const reading = await readPrompt(service, wanted, trackingEnvironment);
      return interpret(reading, wanted.environments, trackingEnvironment);
    },
    begin: (wanted) => beginWriter(world, wanted),
  };
}

function beginWriter(world: LedgerWorld, wanted: Wanted): Writer {
  let reading: Reading | null = null;
  let writing: Writing | null = null;
  const keep = (read: Reading) => {
    reading = read;
    return interpret(read, wanted.environments, world.trackingEnvironment);
  };
  const current = (): Reading => {
    if (reading !== null) return reading;
    throw unexpected('nothing was observed');
  };
  const begun = (): Writing => (writing ??= beginWriting(world, wanted, current()));
  return {
    observe: async () => keep(await readPrompt(world.service, wanted, world.trackingEnvironment)),
    find: async (pins) => keep(await lookUp(world, current(), soughtBy(pins))),
    create: (change, activated) => createVersion(begun(), change, activated),
    update: (change) => updatePrompt(begun(), change),
    activate: (environment, version) => setActive(begun(), environment, version),
  };
}

function soughtBy(pins: readonly Pin[]) {
  return {
    numbers: pins.some(({ kind }) => kind === 'number'),
    ids: pins.flatMap((pin) => (pin.kind === 'version' ? [pin.id] : [])),
  };
}

/** The answer is the updated prompt (interface section 4.3): what it shows otherwise would be sent again for ever. */
async function updatePrompt({ world, reading }: Writing, change: UpdatePrompt): Promise<Written> {
  const entries = Object.entries(change.fields).map(([field, { after }]) => [field, after]);
  const fields: PromptFields = Object.fromEntries(entries);
  try {
    const updated = await world.service.updatePrompt(reading.prompt.id, fields);
    const differ = FIELDS.filter((field) => fields[field] !== undefined && fields[field] !== updated[field]);
    if (differ.length === 0) return { status: 'made', problems: [] };
    return stopped('unknown', makeProblem('apply/fields-differ', { fields: differ }));
  } catch (error) {
    return failed('Updating the prompt', error);
  }
}

async function setActive(writing: Writing, environment: string, version: VersionRef): Promise<Written> {
  try {
    return await activate(writing, environment, await verified(writing, version));
  } catch (error) {
    return failed(`Setting "${environment}"`, error);
  }
}

/** Never an unverified version live: one that was not read in this run must be what the ledger and git know it as. */
async function verified(writing: Writing, { id }: VersionRef): Promise<Expected> {
  const entry = writing.known.get(id);
  if (entry === undefined) throw unexpected('a version that nobody has looked at was to go live');
  if (!writing.seen.has(id)) await lookVerified(writing, entry);
  return { id, digest: entry.digest };
}

function unexpected(reason: string): ProblemError {
  return new ProblemError(makeProblem('internal/unexpected', { reason }));
}
