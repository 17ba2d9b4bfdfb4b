import * as core from '@actions/core';
import { runAction } from './forges/github/run-action.ts';
import type { ActionProcess, Runner } from './forges/github/action-runner.ts';
import { makeNodeProcess } from './cli/node-process.ts';
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
  let host: ActionProcess;
  try {
    host = { ...makeNodeProcess(), runner };
  } catch (error) {
    process.exitCode = 1;
    const { code, message, hint } = makeProblem('usage/no-current-folder', { reason: getSystemCode(error) });
    core.error(`${message} ${hint}`, { title: code });
    return;
  }
  process.exitCode = await runAction(host);
}
