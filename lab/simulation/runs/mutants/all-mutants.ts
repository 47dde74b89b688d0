/**
 * The planted bugs, a file for each subject. Each bug changes a few words in one file of the product while Node
 * loads that file. The simulation has to catch every bug.
 *
 * `find` must occur exactly once in the file; test/lab/simulation/mutants.test.ts checks that. A change of a line that
 * a mutant cites must also change the mutant, so that the mutant plants the same bug.
 */
import { accounts, creations } from './creations.ts';
import { api, aws, openai, portal } from './doors.ts';
import { events, notices, webhooks } from './events.ts';
import type { Mutant } from './plant.ts';
import { generate, reconcile, render } from './render.ts';

export const mutants: readonly Mutant[] = [
  ...creations,
  ...generate,
  ...openai,
  ...render,
  ...reconcile,
  ...webhooks,
  ...notices,
  ...events,
  ...accounts,
  ...api,
  ...portal,
  ...aws,
];
