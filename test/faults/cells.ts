import fc from 'fast-check';
import { kindOf, type Call, type Service } from './calls.ts';
import { FAULTS, loseAnswer, type Act, type Fault } from './faults.ts';
import { integration } from './integration.ts';
import { langfuse, langfuseChat } from './langfuse.ts';
import type { Trouble } from './faulty-front.ts';
import { STATES, type State } from './states.ts';
import { SEED } from '../support/seed.ts';

/** A call of a run in a state: the n-th call of that name, or every call of that name. */
export type Aim = {
  readonly name: string;
  readonly state: State;
  readonly call: Call;
  readonly nth: number | 'every';
};

/** One fault at one call in one state. */
export type Cell = Aim & { readonly fault: Fault };

/** Whether to try all cells of all states. `npm run test:faults` sets this. */
const WHOLE = process.env['PROMPTSYNC_FAULTS'] === 'all';

/** The state that every run tries, because it has all kinds of calls. Only this state gets answers of 600 MiB. */
const ALWAYS = 'all at once';

/** The cells of a service that a run tries. */
export type Sample<One> = {
  readonly service: Service;
  /** How many cells there are in all states. */
  readonly total: number;
  readonly states: readonly State[];
  readonly cells: readonly One[];
};

/**
 * Returns the cells that this run tries of each service: in two states, enough cells to have each trait once. The seed
 * chooses the other state and the cells. Chat prompts differ from texts only in their content, so each kind of call is
 * tried once.
 */
export function sampleCells<One extends Aim>(
  cellsIn: (state: State) => readonly One[],
  traitsOf: (cell: One) => readonly string[],
): readonly Sample<One>[] {
  return [integration, langfuse, langfuseChat].map((service) => {
    const all = STATES.filter((state) => state.service === service);
    const [drawn] = shuffle(all);
    const states = all.filter((state) => WHOLE || state.name === ALWAYS || state === drawn);
    const cells = cover(states.flatMap(cellsIn), (cell) =>
      service === langfuseChat ? [kindOf(cell.call)] : traitsOf(cell),
    );
    return { service, total: all.flatMap(cellsIn).length, states, cells };
  });
}

/** Returns items that the seed chooses, until each trait of any item occurs in one of them. Or all items, if asked to. */
export function cover<One>(items: readonly One[], traitsOf: (item: One) => readonly string[]): readonly One[] {
  if (WHOLE) return items;
  const left = new Set(items.flatMap(traitsOf));
  return shuffle(items).filter((item) => traitsOf(item).filter((trait) => left.delete(trait)).length > 0);
}

function shuffle<One>(items: readonly One[]): readonly One[] {
  const orders = fc.shuffledSubarray([...items], { minLength: items.length });
  return fc.sample(orders, { seed: SEED, numRuns: 1 })[0] ?? [];
}

/** Groups cells by their states, for one `describe` each. Omits states without a chosen cell. */
export function byState<One extends Aim>(samples: readonly Sample<One>[]) {
  const groups = samples.flatMap(({ states, cells }) =>
    states.map((state) => ({
      ...{ state, name: state.name, service: state.service.name },
      cells: cells.filter((cell) => cell.state === state),
    })),
  );
  return groups.filter(({ cells }) => cells.length > 0);
}

/** Prints how many cells of a service there are, and how many this run has tried. */
export function printSize(what: string, { service, total, states, cells }: Sample<Aim>, lawful: number): void {
  const tried = `tried ${cells.length} in ${states.length} states (seed ${SEED})`;
  console.log(`${what} of ${service.name}: ${total} cells; ${tried}; done and lawful: ${lawful}`);
}

/** Returns each fault × each call at which it can occur. A cell fails if its fault did not occur. */
export function cellsOf(state: State): readonly Cell[] {
  const lasting = [...new Set(state.calls)].map((call): Aim => ({ name: `every ${call}`, state, call, nth: 'every' }));
  const once = aimsAt(state);
  return faultsOf(state.service)
    .filter((fault) => fault.costly === undefined || state.name === ALWAYS)
    .flatMap((fault) =>
      [...once, ...(fault.lasts ? lasting : [])]
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

/** Returns the trouble that the state itself has, and does `act` at the aimed call. */
export function troubleOf(state: State, { aim, act }: { readonly aim?: Aim; readonly act?: Act } = {}): Trouble {
  return ({ call, nth }) => {
    if (aim !== undefined && aim.call === call && (aim.nth === 'every' || aim.nth === nth)) return act ?? null;
    return state.loses && call === 'create' && nth === 1 ? loseAnswer : null;
  };
}
