/** A person without a mouse: finds things by Tab, and presses them. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

export interface Keyboard {
  /** Waits until something with this name can be pressed, then presses Tab until it has the focus. Throws after a whole round. */
  readonly reach: (name: RegExp) => Promise<void>;
  /** Reaches it and presses Enter. */
  readonly press: (name: RegExp) => Promise<void>;
  /** Reaches it and presses the space bar, as for a checkbox. */
  readonly tick: (name: RegExp) => Promise<void>;
  /** Reaches a field, and writes over what is in it. */
  readonly write: (name: RegExp, text: string) => Promise<void>;
}

const mostSteps = 150;

export function keyboardOf(page: Page): Keyboard {
  const reach: Keyboard['reach'] = async (name) => {
    // A page draws itself only after its first answers, and a person waits for that, too.
    await expect.poll(() => namesOn(page), { timeout: 20_000 }).toContainEqual(expect.stringMatching(name));
    const met: string[] = [];
    for (let step = 0; step < mostSteps; step += 1) {
      const focused = await nameOfFocus(page);
      if (name.test(focused)) return;
      met.push(focused);
      await page.keyboard.press('Tab');
    }
    throw new Error(`nothing named ${String(name)} gets the focus: ${[...new Set(met)].join(' | ')}`);
  };
  return {
    reach,
    press: async (name) => {
      await reach(name);
      await page.keyboard.press('Enter');
    },
    tick: async (name) => {
      await reach(name);
      await page.keyboard.press('Space');
    },
    write: async (name, text) => {
      await reach(name);
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText(text);
    },
  };
}

/** What a person can press or write in. A heading and a table that scrolls take the focus, too. */
const pressable = ':is(a, button, input, select, textarea, summary):not(:disabled)';

/** The accessible name of an element. As text, because tests have no types of a browser. */
const nameOf = `(element) => (element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText).trim()`;

async function namesOn(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    `[...document.querySelectorAll(${JSON.stringify(pressable)})].map(${nameOf})`,
  );
}

async function nameOfFocus(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const focused = document.activeElement;
    return focused?.matches(${JSON.stringify(pressable)}) ? (${nameOf})(focused) : '';
  })()`);
}
