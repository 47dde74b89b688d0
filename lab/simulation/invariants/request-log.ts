/** The invariants of the log of refused requests: what a row costs and shows, and which requests have one. */
import { sizeOfItem } from '../../../local/dynamodb/values.ts';
import type { Change } from '../aws/simulated-table.ts';
import { addressMark } from '../clients/open-accounts.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import { environment } from '../environment.ts';
import type { Accuse } from './money-books.ts';

const kind = 'REFUSED';
const unitBytes = 1_024;
const keptMillis = Number(environment['KEEP_PROMPTS_DAYS']) * 86_400_000;
/** A key or a secret with at least one character behind its beginning, and what the address of a webhook holds. */
const secrets = [/dk_\w/, /whsec_\w/, new RegExp(addressMark)];

/** Nobody reads the log of a disabled account, and a blocked address may send any key. */
const reasonsWithoutRow: ReadonlySet<unknown> = new Set(['account_disabled', 'burst_block']);
/** Who asked is known whenever the service answers so. */
const knowingStatuses = new Set([400, 402, 403, 404, 409, 413, 429, 502]);

export function createRequestLogInvariants(
  world: World,
  wroteIn: (invocation: string) => readonly string[],
  accuse: Accuse,
) {
  return {
    onCommit: (changes: readonly Change[]) => {
      for (const { sk, after } of changes) {
        if (!sk.startsWith(`${kind}#`) || !after) continue;
        const text = JSON.stringify(after);
        const found = secrets.find((secret) => secret.test(text));
        if (found) accuse('no row of a refused request shows a secret', `${found.source} in ${text}`);
        if (sizeOfItem(after) > unitBytes) accuse('the row of a refused request costs one write unit', text);
        const expiresAt = Number(after['expiresAtSeconds']?.N) * 1000;
        if (expiresAt > world.time.now() + world.clocks.largestSkew() + keptMillis)
          accuse('the row of a refused request is kept no longer than texts of creations', text);
      }
    },
    /** Called when a function of the API, of the playground or of the OpenAI-shaped endpoint answered. */
    onServed: (invocation: Invocation, status: number, reason: unknown) => {
      const isLogged = wroteIn(invocation.id).includes(kind);
      if (isLogged && status < 400) accuse('an accepted request writes nothing into the log', invocation.id);
      if (world.injected.length > 0 || isLogged || reasonsWithoutRow.has(reason)) return;
      if (knowingStatuses.has(status))
        accuse('a refused request with a genuine key is in the log', `${invocation.id}: ${status}`);
    },
  };
}
