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

/** Presses what has this value, where the page has it: a filter, a view, `expand` or `collapse`. */
export function choose(page: Page, value: string): Promise<void> {
  return page.evaluate((value) => document.querySelector<HTMLElement>(`.controls [value=${value}]`)?.click(), value);
}
