import { z } from 'zod';
import { hasControlCharacters } from '../domain/text.ts';

/** A text of one line: what ids, keys, names and environments are. What a check is, the JSON Schema is told apart. */
export const line = z
  .string()
  .min(1, 'it is empty')
  .refine((text) => !hasControlCharacters(text), 'it holds control characters')
  .meta({ pattern: '^[^\\p{Cc}]+$' });
