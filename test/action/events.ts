/** Payloads as GitHub hands them to a run, as far as they matter. */

export type PullOrigin = {
  /** Null when the fork was deleted. */
  readonly repository?: string | null;
  readonly by?: string;
};

const HOME = { full_name: 'acme/prompts', default_branch: 'main' };

export function pullEvent(number: number, head: string, base: string, from: PullOrigin = {}): object {
  const { repository = HOME.full_name, by = 'ada' } = from;
  return {
    action: 'synchronize',
    number,
    pull_request: {
      number,
      head: { sha: head, ref: 'change', repo: repository === null ? null : { full_name: repository } },
      base: { sha: base, ref: 'main', repo: { full_name: HOME.full_name } },
      user: { login: by },
    },
    repository: HOME,
    sender: { login: by },
  };
}

export function pushEvent(after: string, before = '0'.repeat(40)): object {
  return { ref: 'refs/heads/main', before, after, repository: HOME, sender: { login: 'ada' } };
}

export function scheduleEvent(): object {
  return { schedule: '0 6 * * *', repository: HOME };
}
