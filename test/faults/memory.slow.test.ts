import { describe, expect, test } from 'vitest';
import { resolve } from 'node:path';
import type { ProblemCode } from '../../src/problem.ts';
import { parseReport } from '../support/run.ts';
import type { Call } from './calls.ts';
import { cover, troubleOf } from './cells.ts';
import { makeScenes, onStage, startChild } from './stage.ts';
import { flood } from './faults.ts';
import { keyIsHidden, settle } from './laws.ts';
import { STATES } from './states.ts';

const MEASURED = resolve(import.meta.dirname, 'measured-run.ts');
const MIB = 1024;
const sceneOf = makeScenes();

type Row = { readonly call: Call; readonly status: number; readonly exitCode: number; readonly code: ProblemCode };

const rows: readonly Row[] = [
  { call: 'read staging', status: 200, exitCode: 1, code: 'service/invalid-answer' },
  { call: 'read staging', status: 500, exitCode: 1, code: 'service/unexpected-status' },
  { call: 'create', status: 200, exitCode: 4, code: 'apply/outcome-unknown' },
  { call: 'create', status: 500, exitCode: 4, code: 'apply/outcome-unknown' },
];

describe('sync with an answer of 600 MiB', () => {
  test.each(cover(rows, ({ call }) => [call]))(
    'sync uses less than 300 MB of memory if the service answers the call $call with status $status and a 600 MiB body',
    async ({ call, status, exitCode, code }) => {
      const [state] = STATES;
      if (state === undefined) throw new Error('there is no state');
      await onStage(await sceneOf(state), '', async (stage) => {
        const aim = { name: `every ${call}`, state, call, nth: 'every' } as const;
        const trouble = troubleOf(state, { aim, act: flood(status) });
        const words = ['sync', '--yes', '--verbose', '--format', 'json'];
        const ran = await stage.during(trouble, () => startChild(stage, words, MEASURED).ended);
        const peak = Number(/peak (\d+)/.exec(ran.stderr)?.[1] ?? Number.NaN);
        console.log(`600 MiB answered to ${call} with ${status}: peak memory ${Math.round(peak / MIB)} MiB`);
        const { problems, prompts } = parseReport(ran.stdout);
        const codes = [...problems, ...prompts.flatMap((prompt) => prompt.problems)].map((problem) => problem.code);
        expect({ exitCode: ran.exitCode, codes }).toEqual({ exitCode, codes: [code] });
        expect(peak * 1024).toBeLessThan(300_000_000);
        expect(keyIsHidden(ran)).toEqual([]);
        expect(await settle(stage, { finished: false, twice: false })).toEqual([]);
      });
    },
  );
});
