import type { Page } from 'playwright-core';

/** Returns the keys of the visible prompts. */
export function readVisibleKeys(page: Page): Promise<string[]> {
  return page.locator('.prompt:visible .name b').allTextContents();
}

/** Returns the keys of the visible prompts that are open. */
export function readOpenKeys(page: Page): Promise<string[]> {
  return page.locator('.prompt[open]:visible .name b').allTextContents();
}

/** Returns the text that says how many prompts are shown. */
export async function readCount(page: Page): Promise<string | null> {
  return page.locator('output').textContent();
}

/** Clicks the control with this value if the page has it: a filter, a view, `expand` or `collapse`. */
export function clickControl(page: Page, value: string): Promise<void> {
  return page.evaluate((value) => document.querySelector<HTMLElement>(`.controls [value=${value}]`)?.click(), value);
}
