/** What promptsync costs, as ratios within one run: `npm run bench -- --help`. */
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { openBench, type Bench } from './core/bench.ts';
import type { Case, Group } from './core/case.ts';
import { renderFindings, renderMarkdown, renderText } from './core/print.ts';
import { runCase, skip, type Result } from './core/run-case.ts';
import { groups } from './groups.ts';

const HELP = `npm run bench -- [group…] [--all] [--rounds N] [--markdown] [--list]

  group…      only these groups (all of them by default)
  --all       also what takes minutes each
  --rounds N  at most so many rounds of each case
  --markdown  tables for the README
  --list      the groups and their cases

Figures, not a test: the exit code is 0 also where a target is missed.
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
if (unknown.length > 0) throw new Error(`There is no group ${unknown.join(', ')}; --list has all.`);
const mostRounds = Number(values.rounds);
if (!Number.isInteger(mostRounds) || mostRounds < 1) throw new Error('--rounds: a number from 1 is expected.');
const chosen = groups.filter(({ name }) => positionals.length === 0 || positionals.includes(name));

if (values.help) process.stdout.write(HELP);
else if (values.list) list();
else await measureAll();

function list(): void {
  for (const { name, about, cases } of chosen) {
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
    for (const group of chosen) results.push(...(await measureGroup(group, bench)));
    const findings = results.flatMap((result) => result.findings);
    const missing = results.flatMap(({ title, skipped }) =>
      skipped === null ? [] : [`not measured  ${title}: ${skipped}`],
    );
    console.log(`To be shown:\n${renderFindings(findings, values.markdown)}`);
    if (missing.length > 0) console.log(missing.join('\n'));
    const long = chosen.flatMap(({ name, cases }) =>
      cases.flatMap((one) => (one.long ? [`${name}: ${one.title}`] : [])),
    );
    if (!values.all && long.length > 0) console.log(`left to --all: ${long.join('; ')}`);
    const minutes = ((performance.now() - started) / 60_000).toFixed(1);
    const busy = `${availableParallelism()} cores, load ${loadavg()[1]?.toFixed(1)}`;
    console.log(`Node ${process.version}, ${process.platform} ${process.arch}, ${busy}; it took ${minutes} minutes.`);
  } finally {
    await bench.close();
  }
}

async function measureGroup({ name, about, cases }: Group, bench: Bench): Promise<readonly Result[]> {
  console.log(values.markdown ? `### ${name}\n\n${about}\n` : `== ${name}: ${about}\n`);
  const results: Result[] = [];
  for (const one of cases.filter(({ long }) => long !== true || values.all)) {
    const result = await tried(one, bench);
    results.push(result);
    console.log(values.markdown ? renderMarkdown(result) : renderText(result));
  }
  return results;
}

/** One case that breaks must not cost the others. */
async function tried(one: Case, bench: Bench): Promise<Result> {
  try {
    return await runCase(one, mostRounds, bench);
  } catch (error) {
    return skip(one, `failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}
