/** The invariants of tokens of end users: their books at each commit, and what their pages are answered. */
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Service } from '../aws/deployed-service.ts';
import type { Change } from '../aws/simulated-table.ts';
import { detailsOf, invocationOf } from '../clients/requests.ts';
import { type Accuse, textOf } from './money-books.ts';

interface Made {
  readonly costMicros: number;
  refundedMicros: number;
}

const beginning = 'USER_TOKEN#';
const numberOf = (item: Item, name: string): number => Number(item[name]?.N);

export function createTokenInvariants(
  service: () => Service | undefined,
  wroteIn: (invocation: string) => readonly string[],
  accuse: Accuse,
) {
  /** By the keys of the items of their tokens. */
  const made = new Map<string, Map<string, Made>>();
  const revoked = new Set<string>();

  const itemOf = (account: string, id: string): Item | undefined =>
    service()?.table.get(`ACCOUNT#${account}`, `${beginning}${id.slice(0, 6)}#${id.slice(6)}`);

  function balances(item: Item): void {
    const id = textOf(item, 'id');
    const creations = [...(made.get(id)?.values() ?? [])];
    const spent = creations.reduce((sum, one) => sum + one.costMicros - one.refundedMicros, 0);
    const told = numberOf(item, 'limitMicros') - numberOf(item, 'leftMicros');
    if (told !== spent)
      accuse('what a token has left is its limit less charges plus refunds', `${id}: ${told}, not ${spent}`);
    if (spent > numberOf(item, 'limitMicros')) accuse('a token never spends beyond its limit', id);
    const uses = numberOf(item, 'maxUses') - numberOf(item, 'usesLeft');
    if (uses !== creations.length || uses > numberOf(item, 'maxUses'))
      accuse('each creation of a token is a use, and no refund gives one back', `${id}: ${uses} uses`);
  }

  function isCharged(after: Item, id: string): void {
    const token = itemOf(textOf(after, 'accountId'), id);
    if (revoked.has(id)) accuse('no token charges after its revocation returned', id);
    // The time of the charge is that of its function, by whose clock the token ends.
    if (token && textOf(after, 'createdAt') >= textOf(token, 'expiresAt'))
      accuse('no token charges after its end', id);
    if (token && textOf(after, 'user') !== textOf(token, 'user'))
      accuse('a token makes creations of its user', textOf(after, 'id'));
    const creations = made.get(id) ?? new Map<string, Made>();
    creations.set(textOf(after, 'id'), { costMicros: numberOf(after, 'costMicros'), refundedMicros: 0 });
    made.set(id, creations);
  }

  return {
    onCommit: (changes: readonly Change[]) => {
      for (const { sk, before, after } of changes) {
        const id = after?.['tokenId']?.S;
        if (sk !== 'CREATION' || !after || id === undefined) continue;
        if (!before) isCharged(after, id);
        const book = made.get(id)?.get(textOf(after, 'id'));
        if (book) book.refundedMicros = numberOf(after, 'refundedMicros');
      }
      for (const { sk, after } of changes) if (sk.startsWith(beginning) && after) balances(after);
    },
    isRevoked: (id: string): boolean => revoked.has(id),
    /** The answer to the revocation has come. */
    onRevoked: (id: string) => void revoked.add(id),
    /** An answer to an order. @param asked what its page knew when it sent the order */
    onAnswer: (
      asked: { readonly user: string; readonly isForeign: boolean; readonly isRevoked: boolean },
      { statusCode = 0, headers = {}, body }: APIGatewayProxyStructuredResultV2,
    ) => {
      const { reason, token } = detailsOf(body) ?? {};
      const wrote = wroteIn(invocationOf(headers));
      if (statusCode < 400 && asked.isForeign) accuse('a foreign page gets nothing', String(statusCode));
      if (statusCode < 400 && asked.isRevoked) accuse('a revoked token is refused', String(statusCode));
      if (statusCode < 400 && (JSON.parse(body ?? '{}') as { user?: string }).user !== asked.user)
        accuse('a token sees creations of its user alone', asked.user);
      if (reason === 'idempotency_key_mismatch') accuse('users never meet in an Idempotency-Key', asked.user);
      if (token !== undefined && wrote.includes('REJECTED'))
        accuse('a token that has ended is no rejection', JSON.stringify(token));
      if (reason === 'origin_not_allowed' && wrote.some((kind) => kind !== 'RATE' && kind !== 'REFUSED'))
        accuse('a foreign page changes nothing', wrote.join(', '));
    },
  };
}
