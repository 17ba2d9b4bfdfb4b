import type { Digest } from '../domain/digest.ts';
import type { PromptService } from '../domain/prompt-service.ts';
import type { Version } from '../domain/version.ts';
import { makeProblem, ProblemError } from '../problem.ts';

/** What should be active. */
export type Expected = { readonly id: string; readonly digest: Digest };

/** Reads an environment after it was set. Throws a `ProblemError` when it serves another version or another text. */
export async function readBack(
  service: PromptService,
  promptId: string,
  environment: string,
  expected: Expected,
): Promise<Version> {
  const { activeVersion } = await service.readPrompt(promptId, environment);
  if (activeVersion === null || activeVersion.id !== expected.id) {
    const found = activeVersion === null ? 'nothing' : `version "${activeVersion.id}"`;
    const evidence = { environment, expected: `version "${expected.id}"`, found };
    throw new ProblemError(makeProblem('apply/not-active', evidence));
  }
  if (activeVersion.digest === expected.digest) return activeVersion;
  const evidence = { environment, expected: 'the planned text', found: `another text (v${activeVersion.number})` };
  throw new ProblemError(makeProblem('apply/not-active', evidence));
}
