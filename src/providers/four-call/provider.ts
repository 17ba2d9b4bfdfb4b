import type { ObservedPrompt, ReadRequest } from '../../domain/observed-prompt.ts';
import type { Provider, PromptWriter, WriteOutcome } from '../provider-interface.ts';
import { FIELDS, type UpdatePrompt } from '../../domain/plan.ts';
import { PLACEHOLDER_ID } from '../../domain/prompt-file.ts';
import type { PromptFields } from './prompt-service.ts';
import { makeFailureHandler, makeUnexpectedError, makeStoppedOutcome } from '../write-outcome.ts';
import { isError, makeProblem, ProblemError } from '../../problem.ts';
import { createManagedVersion } from './create-version.ts';
import { probePinnedVersions, probeVerifiedVersion } from './probe.ts';
import { findKnownEntry, interpretLedgerReading, readLedgerPrompt, readServedPrompt } from './reading.ts';
import { activateVersion, type FourCallDependencies, type LedgerWriteState } from './writing.ts';

/** Recognizes managed versions by the version records in their metadata. */
export function makeFourCallProvider(dependencies: FourCallDependencies): Provider {
  return {
    observe: (request) => makeLedgerWriter(dependencies, request).observe(),
    makeWriter: (request) => makeLedgerWriter(dependencies, request),
    readServed: (promptId, environment) => readServedPrompt(dependencies.service, promptId, environment),
    list: null,
  };
}

function makeLedgerWriter(dependencies: FourCallDependencies, request: ReadRequest): PromptWriter {
  const { service } = dependencies;
  let state: LedgerWriteState | null = null;
  const getState = (): LedgerWriteState => {
    if (state !== null) return state;
    throw makeUnexpectedError('promptsync did not read the prompt before writing it');
  };
  const interpret = (): ObservedPrompt => interpretLedgerReading(getState().reading, request.environments);
  const activateIn = (environment: string, id: string): Promise<WriteOutcome> =>
    setActiveVersion(getState(), environment, id).catch(makeFailureHandler(`Setting "${environment}"`));
  return {
    observe: async () => {
      if (request.promptId === PLACEHOLDER_ID) throw new ProblemError(makeProblem('guard/placeholder-id'));
      state = { dependencies, request, reading: await readLedgerPrompt(service, request) };
      return interpret();
    },
    find: async (pins) => {
      await probePinnedVersions(getState(), pins);
      return interpret();
    },
    create: (change, { pinnedVersions }) => createManagedVersion(getState(), { ...change, pinnedVersions }),
    update: (change) => updatePromptFields(getState(), change).catch(makeFailureHandler('Updating the prompt')),
    activate: async (environments, { id }) => {
      const outcomes: WriteOutcome[] = [];
      for (const environment of environments) {
        const hasFailed = outcomes.some(({ problems }) => problems.some(isError));
        outcomes.push(hasFailed ? makeStoppedOutcome('not_made') : await activateIn(environment, id));
      }
      return outcomes;
    },
  };
}

/** Reports a problem if the service changed a field (interface section 4.3), because every sync would send it again. */
async function updatePromptFields(
  { dependencies, reading }: LedgerWriteState,
  change: UpdatePrompt,
): Promise<WriteOutcome> {
  const entries = Object.entries(change.fields).map(([field, { after }]) => [field, after]);
  const fields: PromptFields = Object.fromEntries(entries);
  const updated = await dependencies.service.updatePrompt(reading.prompt.id, fields);
  const changedByService = FIELDS.filter((field) => fields[field] !== undefined && fields[field] !== updated[field]);
  if (changedByService.length === 0) return { status: 'made', problems: [] };
  return makeStoppedOutcome('unknown', makeProblem('apply/fields-differ', { fields: changedByService }));
}

/** Activates a known version after checking that its content matches the ledger and the prompt file in git. */
async function setActiveVersion(state: LedgerWriteState, environment: string, id: string): Promise<WriteOutcome> {
  const entry = findKnownEntry(state.reading, id);
  if (entry === undefined) throw makeUnexpectedError('the version to activate is not known');
  return activateVersion(state, environment, await probeVerifiedVersion(state, entry));
}
