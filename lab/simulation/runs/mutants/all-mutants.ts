/**
 * The planted bugs, a file for each subject. Each bug changes a few words in one file of the product while Node
 * loads that file. The simulation has to catch every bug.
 *
 * `find` must occur exactly once in the file; test/lab/simulation/mutants.test.ts checks that. A change of a line that
 * a mutant cites must also change the mutant, so that the mutant plants the same bug.
 */
import { accounts } from './accounts.ts';
import { api } from './api.ts';
import { aws } from './aws.ts';
import { creations } from './creations.ts';
import { events } from './events.ts';
import { generate } from './generate.ts';
import { notices } from './notices.ts';
import { openai } from './openai.ts';
import type { Mutant } from './plant.ts';
import { portal } from './portal.ts';
import { reconcile } from './reconcile.ts';
import { render } from './render.ts';
import { webhooks } from './webhooks.ts';

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
