import { escapeJson } from '../text.ts';
import type { PromptBundle } from './prompt-bundle.ts';
import { type DataSyntax, renderPrompts, renderProperties } from './render-data.ts';

/** Formats text as a JSON string, which is also a TypeScript string. Hidden characters become escape sequences. */
export function formatJsonText(text: string): string {
  return escapeJson(JSON.stringify(text));
}

const JSON_SYNTAX: DataSyntax = {
  formatText: formatJsonText,
  formatKey: formatJsonText,
  formatConstant: String,
  formatItem: (rendered) => rendered,
};

export function renderJsonBundle(bundle: PromptBundle): string {
  const properties = [
    ['schema_version', '1'],
    ['environment', formatJsonText(bundle.environment)],
    ['prompts', renderPrompts(bundle, '  ', JSON_SYNTAX)],
  ] as const;
  return `${renderProperties(properties, '', JSON_SYNTAX)}\n`;
}
