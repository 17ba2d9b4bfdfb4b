import type { Config } from '../../config/config.ts';
import type { PromptFile } from '../../domain/prompt-file.ts';
import type { ServiceRules } from '../../files/check.ts';
import { promptMatcher } from '../../files/find.ts';

/** Which service a file belongs to that names none itself; null where services have no names. */
export function serviceRules({
  folder,
  services,
  assignment,
}: Pick<Config, 'folder' | 'services' | 'assignment'>): ServiceRules | null {
  if (assignment === null) return null;
  const rules = assignment.byPattern.map(({ pattern, service }) => ({
    service,
    matches: promptMatcher({ folder, patterns: [pattern] }),
  }));
  const assigned = (path: string) => rules.findLast(({ matches }) => matches(path))?.service ?? assignment.otherwise;
  return { known: [...services.keys()], assigned };
}

/** The files with the service of each: what a file itself names goes before what it is assigned to. */
export function assignServices(files: readonly PromptFile[], rules: ServiceRules | null): readonly PromptFile[] {
  if (rules === null) return files;
  return files.map((file) => {
    const service = file.service ?? rules.assigned(file.path);
    return service === null ? file : { ...file, service };
  });
}
