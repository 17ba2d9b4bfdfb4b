import { z } from 'zod';
import { DOCTOR_LEVELS } from '../domain/doctor-point.ts';

const DoctorPointShape = z.object({
  name: z.string().describe('What was checked, such as git. Names can repeat.'),
  level: z.enum(DOCTOR_LEVELS).describe('error makes promptsync doctor exit with 1.'),
  found: z.string().describe('What promptsync found.'),
  hint: z.string().nullable().describe('What to do. null if there is nothing to do.'),
});

/** The public shape of the JSON output of `promptsync doctor`. It is published as schemas/doctor.schema.json. */
export const DoctorReportShape = z.object({
  schema_version: z.literal(1).describe('The version of this schema.'),
  points: z.array(DoctorPointShape).describe('The checked points, in the order of the text output.'),
});
