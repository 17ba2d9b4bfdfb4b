import { kindOf, type Call, type Service } from './calls.ts';
import { FAULTS, loseAnswer, type Act, type Fault } from './faults.ts';
import { integration } from './integration.ts';
import { langfuse } from './langfuse.ts';
import type { Trouble } from './faulty-front.ts';
import { STATES, type State } from './states.ts';

/** One call of a run in a state: the n-th of that name, or every one. */
export type Aim = {
  readonly name: string;
  readonly state: State;
  readonly call: Call;
  readonly nth: number | 'every';
};

/** One fault done to one call in one state. */
export type Cell = Aim & { readonly fault: Fault };

/** Whether the whole matrices are gone through: `npm run test:faults` says so. */
export const WHOLE = process.env['PROMPTSYNC_FAULTS'] === 'all';

/** What is tried whenever the tests are run, and the only one for answers of hundreds of megabytes: all kinds of call. */
const REPRESENTATIVE: readonly string[] = ['all at once'];

export const chosenStates: readonly State[] = STATES.filter(({ name }) => WHOLE || REPRESENTATIVE.includes(name));

/** Each service, with those of its states. */
export const chosen = [integration, langfuse].map((service) => {
  return { service, states: chosenStates.filter((state) => state.service === service) };
});

/** Every fault × every call that it can be done to, by construction: a cell whose fault is not done has failed. */
export function cellsOf(state: State): readonly Cell[] {
  const lasting = [...new Set(state.calls)].map((call): Aim => ({ name: `every ${call}`, state, call, nth: 'every' }));
  const once = WHOLE ? aimsAt(state) : lastAimsAt(state);
  return faultsOf(state.service)
    .filter((fault) => fault.costly === undefined || REPRESENTATIVE.includes(state.name))
    .flatMap((fault) =>
      [...once, ...(WHOLE && fault.lasts ? lasting : [])]
        .filter(({ call }) => fault.on.includes(kindOf(call)) && !(state.loses && call === 'create'))
        .map((aim) => ({ ...aim, name: `${fault.name}: ${aim.name}`, fault })),
    );
}

/** Every fault that it can have. */
export function faultsOf({ faults }: Service): readonly Fault[] {
  return [...FAULTS, ...faults];
}

/** Every call of a run. */
export function aimsAt(state: State): readonly Aim[] {
  return state.calls.map((call, index) => {
    const nth = state.calls.slice(0, index + 1).filter((other) => other === call).length;
    return { name: `${call} number ${nth}`, state, call, nth };
  });
}

/** The last call of each kind, such as the read that reads back. */
function lastAimsAt(state: State): readonly Aim[] {
  const kinds = state.calls.map(kindOf);
  return aimsAt(state).filter(({ call }, index) => kinds.lastIndexOf(kindOf(call)) === index);
}

/** The trouble that a state is in anyhow, with something done to one call besides. */
export function troubleOf(state: State, { aim, act }: { readonly aim?: Aim; readonly act?: Act } = {}): Trouble {
  return ({ call, nth }) => {
    if (aim !== undefined && aim.call === call && (aim.nth === 'every' || aim.nth === nth)) return act ?? null;
    return state.loses && call === 'create' && nth === 1 ? loseAnswer : null;
  };
}
