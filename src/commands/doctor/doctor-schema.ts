import { z } from 'zod';
import { DOCTOR_LEVELS } from '../../domain/doctor-point.ts';

const DoctorPointShape = z.object({
  name: z.string().describe('The name of the check, such as git. Several checks can have the same name.'),
  level: z
    .enum(DOCTOR_LEVELS)
    .describe('The result of the check. If it is `error`, `promptsync doctor` exits with code 1.'),
  found: z.string().describe('What promptsync found.'),
  hint: z.string().nullable().describe('The recommended action. null if no action is needed.'),
});

/** The public shape of the JSON output of `promptsync doctor`. It is published as schemas/doctor.schema.json. */
export const DoctorReportShape = z.object({
  schema_version: z.literal(1).describe('The version of this schema.'),
  points: z.array(DoctorPointShape).describe('The checks, in the same order as in the text output.'),
});
