import { kindOf, type Call, type Service } from './calls.ts';
import { FAULTS, loseAnswer, type Act, type Fault } from './faults.ts';
import { integration } from './integration.ts';
import { langfuse, langfuseChat } from './langfuse.ts';
import type { Trouble } from './faulty-front.ts';
import { STATES, type State } from './states.ts';

/** A call of a run in a state: the n-th call of that name, or every call of that name. */
export type Aim = {
  readonly name: string;
  readonly state: State;
  readonly call: Call;
  readonly nth: number | 'every';
};

/** One fault at one call in one state. */
export type Cell = Aim & { readonly fault: Fault };

/** Whether to run the complete matrices. `npm run test:faults` sets this. */
export const WHOLE = process.env['PROMPTSYNC_FAULTS'] === 'all';

/** The states of a normal test run. They contain all kinds of calls. Answers of hundreds of megabytes are tried only here. */
const REPRESENTATIVE: readonly string[] = ['all at once'];

export const chosenStates: readonly State[] = STATES.filter(({ name }) => WHOLE || REPRESENTATIVE.includes(name));

/** Each service with its chosen states. */
export const chosen = [integration, langfuse, langfuseChat].map((service) => {
  return { service, states: chosenStates.filter((state) => state.service === service) };
});

/** Returns each fault × each call at which it can occur. A cell fails if its fault did not occur. */
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

/** Returns all faults of a service. */
export function faultsOf({ faults }: Service): readonly Fault[] {
  return [...FAULTS, ...faults];
}

/** Returns an aim for each call of a run. */
export function aimsAt(state: State): readonly Aim[] {
  return state.calls.map((call, index) => {
    const nth = state.calls.slice(0, index + 1).filter((other) => other === call).length;
    return { name: `${call} number ${nth}`, state, call, nth };
  });
}

/** Returns an aim for the last call of each kind, such as the read that confirms an activation. */
function lastAimsAt(state: State): readonly Aim[] {
  const kinds = state.calls.map(kindOf);
  return aimsAt(state).filter(({ call }, index) => kinds.lastIndexOf(kindOf(call)) === index);
}

/** Returns the trouble that the state itself has, and does `act` at the aimed call. */
export function troubleOf(state: State, { aim, act }: { readonly aim?: Aim; readonly act?: Act } = {}): Trouble {
  return ({ call, nth }) => {
    if (aim !== undefined && aim.call === call && (aim.nth === 'every' || aim.nth === nth)) return act ?? null;
    return state.loses && call === 'create' && nth === 1 ? loseAnswer : null;
  };
}
