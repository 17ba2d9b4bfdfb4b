import { ServiceError, type PromptService } from '../../domain/prompt-service.ts';
import { makeProblem } from '../../problem.ts';

/** One service of several: each call goes to the service of its prompt, by id. */
export function routeCalls(services: ReadonlyMap<string, PromptService>): PromptService {
  const serviceOf = (promptId: string): PromptService => {
    const service = services.get(promptId);
    if (service !== undefined) return service;
    throw new ServiceError(makeProblem('internal/unexpected', { reason: `"${promptId}" is in no file` }), 'not-sent');
  };
  return {
    readPrompt: async (promptId, ...sent) => serviceOf(promptId).readPrompt(promptId, ...sent),
    createVersion: async (promptId, ...sent) => serviceOf(promptId).createVersion(promptId, ...sent),
    updatePrompt: async (promptId, ...sent) => serviceOf(promptId).updatePrompt(promptId, ...sent),
    setActive: async (promptId, ...sent) => serviceOf(promptId).setActive(promptId, ...sent),
  };
}
