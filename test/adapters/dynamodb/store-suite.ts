import { afterAll, beforeAll, describe, it } from 'vitest';
import { accountFacts } from './account-facts.ts';
import { chargeFacts } from './charge-facts.ts';
import { endingFacts } from './ending-facts.ts';
import type { Engine } from './engines.ts';
import { openStores, type Facts } from './facts.ts';
import { refusalFacts } from './refusal-facts.ts';
import { workFacts } from './work-facts.ts';

const facts: Facts = { ...chargeFacts, ...endingFacts, ...workFacts, ...accountFacts, ...refusalFacts };

/** Every fact about the stores, each on an empty table of this engine; `missing` says why it cannot be asked. */
export function describeStores(name: string, start: () => Promise<Engine>, missing?: string): void {
  describe.skipIf(missing !== undefined)(`the stores on ${name}${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
    let engine: Engine;
    beforeAll(async () => {
      engine = await start();
    });
    afterAll(() => engine.end());
    it.each(Object.entries(facts))('%s', async (_fact, holds) => holds(await openStores(await engine.open())));
  });
}
