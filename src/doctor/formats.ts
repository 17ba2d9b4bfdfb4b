/** The formats of `promptsync doctor`. */
export const DOCTOR_FORMATS = ['text', 'json'] as const;
export type DoctorFormat = (typeof DOCTOR_FORMATS)[number];

/** The format for each file extension. */
export const DOCTOR_FORMATS_BY_ENDING: ReadonlyMap<string, DoctorFormat> = new Map([
  ['.txt', 'text'],
  ['.json', 'json'],
]);
