import { inMemoryService, type InMemoryService, type PromptSeed } from '../doubles/in-memory-service.ts';
import type { Setup } from './commands.ts';

/** What a service makes of the texts that it is given. */
export function storedText({ service }: Pick<Setup, 'service'>, text: string): string {
  return service === 'tidies' ? text.trim() : text;
}

/** The in-memory service, as faithful as the setup says. */
export function openService(setup: Setup, seeds: readonly PromptSeed[]): InMemoryService {
  const faithful = inMemoryService(seeds);
  switch (setup.service) {
    case 'faithful':
      return faithful;
    case 'tidies':
      return {
        ...faithful,
        createVersion: (promptId, version) =>
          faithful.createVersion(promptId, { ...version, text: storedText(setup, version.text) }),
        addVersion: (promptId, version) =>
          faithful.addVersion(promptId, { ...version, text: storedText(setup, version.text) }),
      };
    case 'drops':
      return {
        ...faithful,
        createVersion: async (promptId, { text }) => {
          faithful.addVersion(promptId, { text });
          return structuredClone(faithful.versions(promptId).at(-1)!);
        },
        addVersion: (promptId, { text }) => faithful.addVersion(promptId, { text }),
      };
  }
}
