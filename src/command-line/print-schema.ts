import type { SchemaName } from './add-schema.ts';
import type { Host } from './host.ts';

/** Bundled as they are: where the command line is run from, a file beside it need not be found. */
const SCHEMAS = {
  config: () => import('../../schemas/promptsync.schema.json', { with: { type: 'json' } }),
  'front-matter': () => import('../../schemas/front-matter.schema.json', { with: { type: 'json' } }),
  report: () => import('../../schemas/report.schema.json', { with: { type: 'json' } }),
} as const satisfies Record<SchemaName, () => Promise<{ readonly default: object }>>;

export async function printSchema(name: SchemaName, host: Host): Promise<void> {
  const { default: schema } = await SCHEMAS[name]();
  host.output.write(`${JSON.stringify(schema, null, 2)}\n`);
}
