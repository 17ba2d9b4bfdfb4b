import { openBench, CLI } from './bench/core/bench.ts';
import { runNode } from './bench/core/measure.ts';
import { GIT_ENVIRONMENT } from './bench/core/repository.ts';
import { API_KEY } from './bench/core/prompts.ts';
const cli = process.argv[2] ?? CLI;
const bench = openBench();
const standIn = await bench.standIn('prompts'); await standIn.delay(0); await standIn.stock({ count: 1000, behind: 0 });
const folder = bench.repository(1000);
const env = { ...GIT_ENVIRONMENT, PROMPTSYNC_BASE_URL: standIn.baseUrl, PROMPTSYNC_API_KEY: API_KEY };
for (let i = 0; i < 3; i++) { const s = await runNode([cli, 'sync','--yes'], { cwd: folder, environment: env }); console.log(s.milliseconds, s.peak); }
await runNode(['--cpu-prof', '--cpu-prof-dir=/tmp/prof', cli, 'plan'], { cwd: folder, environment: env });
for (let i = 0; i < 3; i++) { const s = await runNode([cli, 'plan'], { cwd: folder, environment: env }); console.log('plan', s.milliseconds, s.cpu ?? '', s.peak); }
await bench.close();
