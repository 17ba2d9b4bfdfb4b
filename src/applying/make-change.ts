import { FIELDS, isNew, type Change, type NewVersionRef, type SetActive, type UpdatePrompt } from '../domain/plan.ts';
import type { PromptFields } from '../domain/prompt-service.ts';
import { refOf, type Version, type VersionRef } from '../domain/version.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import { createVersion } from './create-version.ts';
import type { Expected } from './reading-back.ts';
import { lookVerified } from './verifying.ts';
import { activate, findMade, type Made, type Writing } from './writing.ts';

/** Makes one change. Throws a `ProblemError` when it was not made or when that is unknown. */
export async function makeChange(writing: Writing, change: Change): Promise<Made> {
  switch (change.kind) {
    case 'create-version':
      return createVersion(writing, change);
    case 'update-prompt':
      return updatePrompt(writing, change);
    case 'set-active':
      return setActive(writing, change);
  }
}

/** The answer is the updated prompt (interface section 4.3): what it shows otherwise would be sent again for ever. */
async function updatePrompt({ dependencies, observed }: Writing, change: UpdatePrompt): Promise<Made> {
  const entries = Object.entries(change.fields).map(([field, { after }]) => [field, after]);
  const fields: PromptFields = Object.fromEntries(entries);
  const updated = await dependencies.service.updatePrompt(observed.prompt.id, fields);
  const differ = FIELDS.filter((field) => fields[field] !== undefined && fields[field] !== updated[field]);
  if (differ.length === 0) return { outcome: { change, status: 'made' }, problems: [] };
  const problem = makeProblem('apply/fields-differ', { fields: differ });
  return { outcome: { change, status: 'unknown' }, problems: [problem] };
}

async function setActive(writing: Writing, change: SetActive): Promise<Made> {
  const expected = isNew(change.after) ? madeFor(writing, change.after) : await verified(writing, change.after);
  const { version, problems } = await activate(writing, change.environment, expected);
  if (version === null) return { outcome: { change, status: 'unknown' }, problems };
  return { outcome: { change, status: 'made', version: refOf(version) }, problems };
}

function madeFor(writing: Writing, target: NewVersionRef): Version {
  const found = findMade(writing, target);
  if (found !== undefined) return found;
  throw new ProblemError(makeProblem('internal/unexpected', { reason: 'a planned version was not made' }));
}

async function verified(writing: Writing, { id }: VersionRef): Promise<Expected> {
  const entry = writing.known.get(id);
  if (entry === undefined)
    throw new ProblemError(makeProblem('internal/unexpected', { reason: 'a version was not looked at' }));
  if (!writing.seen.has(id)) await lookVerified(writing, entry);
  return { id, digest: entry.digest };
}
