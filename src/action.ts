import * as core from '@actions/core';
import { runAction } from './github/run-action.ts';
import type { ActionHost, Runner } from './github/runner.ts';
import { makeProcessHost } from './cli/process-host.ts';
import { getSystemCode, makeProblem } from './problem.ts';

const annotations = { error: core.error, warning: core.warning, notice: core.notice } as const;

const runner: Runner = {
  getInput: (name) => core.getInput(name),
  setOutput: (name, value) => core.setOutput(name, value),
  setSecret: (secret) => core.setSecret(secret),
  annotate: (kind, message, place) => annotations[kind](message, place),
  writeSummary: async (markdown) => void (await core.summary.addRaw(markdown, true).write()),
};

void run();

async function run(): Promise<void> {
  let host: ActionHost;
  try {
    host = { ...makeProcessHost(), runner };
  } catch (error) {
    process.exitCode = 1;
    const { code, message, hint } = makeProblem('usage/no-current-folder', { reason: getSystemCode(error) });
    core.error(`${message} ${hint}`, { title: code });
    return;
  }
  process.exitCode = await runAction(host);
}
