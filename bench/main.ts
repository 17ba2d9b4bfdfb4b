/** Measures the cost of promptsync as ratios within one run: `npm run bench -- --help`. */
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { openBench, type Bench } from './core/bench.ts';
import type { Case, Group } from './core/case.ts';
import { renderFindings, renderMarkdown, renderText } from './core/print.ts';
import { runCase, skip, type Result } from './core/run-case.ts';
import { groups } from './groups.ts';

const HELP = `npm run bench -- [group…] [--all] [--rounds N] [--markdown] [--list]

  group…      measure only these groups (default: all groups)
  --all       also measure cases that take minutes
  --rounds N  measure at most N rounds of each case
  --markdown  print Markdown tables for the README
  --list      list the groups and their cases

The benchmark is not a test: the exit code is 0 even if a target is missed.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '1000' },
    markdown: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const unknown = positionals.filter((name) => groups.every((group) => group.name !== name));
if (unknown.length > 0) throw new Error(`There is no group ${unknown.join(', ')}. Use --list to see all groups.`);
const maxRounds = Number(values.rounds);
if (!Number.isInteger(maxRounds) || maxRounds < 1) throw new Error('--rounds must be a whole number of at least 1.');
const selectedGroups = groups.filter(({ name }) => positionals.length === 0 || positionals.includes(name));

if (values.help) process.stdout.write(HELP);
else if (values.list) listGroups();
else await measureAll();

function listGroups(): void {
  for (const { name, about, cases } of selectedGroups) {
    console.log(`${name}: ${about}`);
    for (const { title, long } of cases) console.log(`  ${title}${long ? ' (--all)' : ''}`);
  }
}

async function measureAll(): Promise<void> {
  const started = performance.now();
  const bench = openBench();
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => void bench.close().then(() => process.exit(130)));
  try {
    const results: Result[] = [];
    for (const group of selectedGroups) results.push(...(await measureGroup(group, bench)));
    const findings = results.flatMap((result) => result.findings);
    const skippedCases = results.flatMap(({ title, skipped }) =>
      skipped === null ? [] : [`not measured  ${title}: ${skipped}`],
    );
    console.log(`Targets:\n${renderFindings(findings, values.markdown)}`);
    if (skippedCases.length > 0) console.log(skippedCases.join('\n'));
    const longCases = selectedGroups.flatMap(({ name, cases }) =>
      cases.flatMap((one) => (one.long ? [`${name}: ${one.title}`] : [])),
    );
    if (!values.all && longCases.length > 0) console.log(`measured only with --all: ${longCases.join('; ')}`);
    const minutes = ((performance.now() - started) / 60_000).toFixed(1);
    const machine = `${availableParallelism()} cores, load ${loadavg()[1]?.toFixed(1)}`;
    console.log(
      `Node ${process.version}, ${process.platform} ${process.arch}, ${machine}. The benchmark took ${minutes} minutes.`,
    );
  } finally {
    await bench.close();
  }
}

async function measureGroup({ name, about, cases }: Group, bench: Bench): Promise<readonly Result[]> {
  console.log(values.markdown ? `### ${name}\n\n${about}\n` : `== ${name}: ${about}\n`);
  const results: Result[] = [];
  for (const one of cases.filter(({ long }) => long !== true || values.all)) {
    const result = await runCaseSafely(one, bench);
    results.push(result);
    console.log(values.markdown ? renderMarkdown(result) : renderText(result));
  }
  return results;
}

/** Measures one case. A case that fails is skipped, so that the other cases still run. */
async function runCaseSafely(one: Case, bench: Bench): Promise<Result> {
  try {
    return await runCase(one, maxRounds, bench);
  } catch (error) {
    return skip(one, `failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}
