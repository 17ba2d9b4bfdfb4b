import type { Page } from 'playwright-core';

/** The keys of the prompts that are shown. */
export function shownIn(page: Page): Promise<string[]> {
  return page.locator('.prompt:visible .name b').allTextContents();
}

/** The keys of those that are open. */
export function openIn(page: Page): Promise<string[]> {
  return page.locator('.prompt[open]:visible .name b').allTextContents();
}

export async function toldIn(page: Page): Promise<string | null> {
  return page.locator('output').textContent();
}

/** What follows `#` in the address. */
export function hashIn(page: Page): string {
  return decodeURIComponent(new URL(page.url()).hash.slice(1));
}
