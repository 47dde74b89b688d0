/** A person without a mouse: finds things by Tab, and presses them. */
import type { Page } from 'playwright-core';

export interface Keyboard {
  /** Goes on by Tab until something with this name has the focus. Throws after a whole round. */
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

/** The name that a screen reader tells of what has the focus. */
async function nameOfFocus(page: Page): Promise<string> {
  // As text, because the types of a browser are no types of a test.
  return page.evaluate<string>(`(() => {
    const focused = document.activeElement;
    // The heading of a page and a table that scrolls take the focus, too, and cannot be pressed.
    if (!focused?.matches('a, button, input, select, textarea, summary')) return '';
    return (focused.getAttribute('aria-label') ?? focused.labels?.[0]?.innerText ?? focused.innerText).trim();
  })()`);
}
