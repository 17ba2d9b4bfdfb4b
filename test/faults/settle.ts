import { parseReport } from '../support/report.ts';
import { MAIN } from './calls.ts';
import type { Snapshot } from './kept-store.ts';
import {
  contentsAreSentOnce,
  contentsAreThereOnce,
  keyIsHidden,
  nothingIsSent,
  onlyReviewedWasServed,
} from './laws.ts';
import { exitCodeFits, reportIsTrue } from './report-laws.ts';
import { servedText, wantedText } from './served.ts';
import type { RunRecord, Stage } from './stage.ts';

export type Settling = {
  /** The run before has ended with 0, so that nothing may be left to do. */
  readonly finished: boolean;
  /** A known limit allows two versions of one content. */
  readonly twice: boolean;
};

/** Runs again in peace where anything is left to do, and gives what is not as git says afterwards. */
export async function settle(stage: Stage, { finished, twice }: Settling): Promise<readonly string[]> {
  const again = finished ? [] : await runAgain(stage);
  const empty = await stage.run(['sync', '--dry-run', '--exit-code', '--verbose']);
  return [
    ...again,
    ...(empty.exitCode === 0 ? [] : [`the next plan ended with ${empty.exitCode}: ${empty.stdout}`]),
    ...nothingIsSent(empty).map((what) => `on a dry run ${what}`),
    ...keyIsHidden(empty),
    ...asGitSays(stage, empty.after),
    ...(twice ? [] : contentsAreThereOnce(empty.after)),
    ...onlyReviewedWasServed(stage),
  ];
}

/** One run puts everything right. */
async function runAgain(stage: Stage): Promise<readonly string[]> {
  const next = await stage.run(['sync', '--yes', '--verbose', '--format', 'json']);
  return [...ended(next), ...lawsOf(next)];
}

function ended(run: RunRecord): readonly string[] {
  return run.exitCode === 0 ? [] : [`the next run ended with ${run.exitCode}: ${messagesOf(run).join(' ')}`];
}

/** What holds of every run, be there trouble or none. */
export function lawsOf(run: RunRecord): readonly string[] {
  return [...keyIsHidden(run), ...contentsAreSentOnce(run), ...exitCodeFits(run), ...reportIsTrue(run)];
}

function asGitSays({ scene }: Stage, snapshot: Snapshot): readonly string[] {
  const serves = scene.wanted.flatMap((wanted) => {
    const { promptId, environment } = wanted;
    const served = servedText(promptId, environment, snapshot.at(promptId, environment).active_version);
    return served === wantedText(wanted) ? [] : [`git says ${wantedText(wanted)}, and in the end there is ${served}`];
  });
  const { name, description } = snapshot.ofPrompt(MAIN);
  const wanted = { name: 'main', description: null, ...scene.state.fields };
  const fields = JSON.stringify({ name, description });
  return fields === JSON.stringify(wanted) ? serves : [...serves, `in the end the fields are ${fields}`];
}

export function messagesOf({ stdout }: RunRecord): readonly string[] {
  const { problems, prompts } = parseReport(stdout);
  return [...problems, ...prompts.flatMap((prompt) => prompt.problems)].map(
    ({ code, message }) => `[${code}] ${message}`,
  );
}
