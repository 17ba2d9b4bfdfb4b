import { Ajv } from 'ajv';
import { SCHEMAS } from '../../scripts/schemas.ts';

const ajv = new Ajv({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });

/** What the schemas that editors use say of a value. */
export const config = ajv.compile(SCHEMAS['schemas/promptsync.schema.json']);
export const frontMatter = ajv.compile(SCHEMAS['schemas/front-matter.schema.json']);
