export const BUNDLE_FORMATS = ['json', 'typescript', 'python'] as const;
export type BundleFormat = (typeof BUNDLE_FORMATS)[number];

export const BUNDLE_FORMATS_BY_ENDING: ReadonlyMap<string, BundleFormat> = new Map([
  ['.json', 'json'],
  ['.ts', 'typescript'],
  ['.py', 'python'],
]);
