/** The formats of a bundle, by name. */
export const BUNDLE_FORMATS = ['json', 'typescript', 'python'] as const;
/** The format of a bundle. */
export type BundleFormat = (typeof BUNDLE_FORMATS)[number];

/** The bundle format for each file extension. */
export const BUNDLE_FORMATS_BY_ENDING: ReadonlyMap<string, BundleFormat> = new Map([
  ['.json', 'json'],
  ['.ts', 'typescript'],
  ['.py', 'python'],
]);
