import type { Event } from '../github/event.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import type { Inputs } from './inputs.ts';

export type Mode = Exclude<Inputs['mode'], 'auto'>;

/** What a run is for: a pull request is planned, its merge applied, and a schedule tells drift. Throws a `ProblemError`. */
export function chooseMode(mode: Inputs['mode'], event: Event): Mode {
  const chosen = mode === 'auto' ? modeOf(event) : mode;
  if (chosen === 'sync' && event.pull !== null) throw new ProblemError(makeProblem('guard/not-merged'));
  return chosen;
}

function modeOf({ name, ref, defaultBranch }: Event): Mode {
  switch (name) {
    case 'pull_request':
    case 'pull_request_target':
    case 'merge_group':
      return 'plan';
    case 'push':
      if (defaultBranch === null) throw unsupported(name, 'its payload does not name the default branch');
      return ref === `refs/heads/${defaultBranch}` ? 'sync' : 'plan';
    case 'schedule':
    case 'workflow_dispatch':
    case 'repository_dispatch':
      return 'drift';
    default:
      throw unsupported(name, 'it is no event that it knows');
  }
}

function unsupported(event: string, reason: string): ProblemError {
  return new ProblemError(makeProblem('action/unsupported-event', { event, reason }));
}
