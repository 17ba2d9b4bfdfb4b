import { Argument, type Command } from 'commander';
import { SCHEMA_HELP } from './help-texts.ts';

export type SchemaName = 'config' | 'front-matter' | 'report';

export type SchemaHandlers = { readonly schema: (name: SchemaName) => Promise<void> };

/** `schema NAME`, for those who have not installed the package that the schemas are in. */
export function addSchema(program: Command, { schema }: SchemaHandlers): void {
  const names: readonly SchemaName[] = ['config', 'front-matter', 'report'];
  program
    .command('schema')
    .description('print a JSON Schema, for editors and checks')
    .addArgument(new Argument('<name>', 'what it is of').choices(names))
    .addHelpText('after', SCHEMA_HELP)
    .action((name: SchemaName) => schema(name));
}
