import type { BundleFormat } from './bundle-formats.ts';
import type { PromptBundle } from './prompt-bundle.ts';
import { renderJsonBundle } from './render-json.ts';
import { renderPythonBundle } from './render-python.ts';
import { renderTypeScriptBundle } from './render-typescript.ts';

/** Renders a bundle in one format. Equal bundles render to identical bytes. */
export function renderBundle(bundle: PromptBundle, format: BundleFormat): string {
  switch (format) {
    case 'json':
      return renderJsonBundle(bundle);
    case 'typescript':
      return renderTypeScriptBundle(bundle);
    case 'python':
      return renderPythonBundle(bundle);
  }
}
