/**
 * The planted bugs, by their subjects and files. Each bug changes a few words in one file of the product while Node
 * loads that file. The simulation has to catch every bug.
 *
 * The words must occur exactly once in the file; test/lab/simulation/mutants.test.ts checks that. A change of a line
 * that a bug cites must also change the bug, so that it stays the same bug.
 */
import { backEnds } from './back-ends.ts';
import { copies } from './copies.ts';
import { creations } from './creations.ts';
import { doors } from './doors.ts';
import { endpoints } from './endpoints.ts';
import { erasures } from './erasures.ts';
import { events } from './events.ts';
import { mails } from './mails.ts';
import type { Mutant } from './plant.ts';
import { payments } from './payments.ts';
import { requestsAndRendering } from './requests-and-rendering.ts';
import { resultAddresses } from './result-addresses.ts';

export const mutants: readonly Mutant[] = [
  creations,
  requestsAndRendering,
  events,
  endpoints,
  copies,
  resultAddresses,
  erasures,
  doors,
  backEnds,
  payments,
  mails,
].flatMap((bugs) =>
  Object.entries(bugs).flatMap(([file, inFile]) =>
    Object.entries(inFile).map(([name, [find, replace, narrow]]) => ({
      name,
      file,
      find,
      replace,
      ...(narrow && { narrow }),
    })),
  ),
);
