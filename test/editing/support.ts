import { editPromptFile, type PromptEdits } from '../../src/editing/edit-prompt-file.ts';
import { LENIENT_SETTINGS } from '../../src/workspace/parse-prompt-file.ts';
import { PATH } from '../workspace/support.ts';

/** Returns the edited source. Throws the code and the message of the first problem if the editor refuses the edit. */
export function applyEdits(source: string, edits: Partial<PromptEdits>, settings = LENIENT_SETTINGS): string {
  const result = editPromptFile(Buffer.from(source), PATH, { frontMatter: [], ...edits }, settings);
  if (result.isSuccess) return Buffer.from(result.value.bytes).toString();
  throw new Error(result.problems.map(({ code, message }) => `${code}: ${message}`)[0]);
}
