import { z } from 'zod';
import type { GitHub } from './client.ts';

/** An account as comments and issues name it. */
export const AuthorShape = z.object({ login: z.string(), type: z.string().optional() });
export type Author = z.infer<typeof AuthorShape>;

const ViewerShape = z.object({ viewer: z.object({ login: z.string() }) });
const UserShape = z.object({ login: z.string() });

/** What a workflow's own token writes as. */
const ACTIONS = 'github-actions[bot]';

/**
 * The account that a token writes as. Tokens of apps, a workflow's own among them, may not ask for their user; GraphQL
 * tells them all the same. Where neither answers it is taken for a workflow's own.
 */
export async function whoAmI({ octokit }: GitHub): Promise<string> {
  try {
    return ViewerShape.parse(await octokit.graphql('{ viewer { login } }')).viewer.login;
  } catch {
    return octokit.request('GET /user').then(
      ({ data }) => UserShape.parse(data).login,
      () => ACTIONS,
    );
  }
}

/** GraphQL leaves out the suffix that REST gives apps in some answers. */
export function isBy(login: string, author: Author | null | undefined): boolean {
  if (author === null || author === undefined) return false;
  return author.login === login || (author.type === 'Bot' && author.login === `${login}[bot]`);
}
