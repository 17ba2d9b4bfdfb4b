import { Ajv } from 'ajv';
import { SCHEMAS } from '../../scripts/schemas.ts';

const ajv = new Ajv({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });

// Validators that are compiled from the schemas for editors.
export const config = ajv.compile(SCHEMAS['schemas/promptsync.schema.json']);
export const frontMatter = ajv.compile(SCHEMAS['schemas/front-matter.schema.json']);
