/**
 * Limits are exact, however many requests come at once. For each limit, one round goes over sockets through
 * the whole service, and another round, in a file of its own, meets conflicts. Five more rounds are charges alone on a table in
 * memory (crowd.ts), because five rounds of 200 requests over sockets would take a minute.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { LedgerRow } from '../../service/accounts/account.ts';
import type { ChargeOutcome } from '../../service/creations/charge.ts';
import type { Answer, Client, NewClient, TestService } from '../fixtures/service.ts';
import { idOf } from '../fixtures/values.ts';
import { crowdSize, openCounter, requestsAtOnce } from './crowd.ts';
import { type Refusal, refusalOf, withinOneMinute } from './refusal.ts';

/** Requests are accepted, but nothing is rendered, so no creation ends and makes room. */
function startNothing(service: TestService): void {
  service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
}

export const roomForAll: NewClient = { balance: '100', postRate: '10000', maxConcurrent: '1000' };
const rounds = 5;
/** CROWD_ROUNDS=20 also repeats the rounds over sockets, which takes some five minutes. */
const socketRounds = Number(process.env['CROWD_ROUNDS'] ?? 1);

export interface Limit {
  readonly name: string;
  readonly client: NewClient;
  readonly accepted: number;
  readonly refusal: Refusal;
  readonly outcome: ChargeOutcome;
}

export const isAccepted = ({ status }: Answer): boolean => status === 202;
const isOverloaded = ({ status, text }: Answer): boolean =>
  status === 503 && text.includes('"reason":"overloaded"');

function expectRefusals(answers: readonly Answer[], expected: Refusal): void {
  for (const answer of answers) expect(refusalOf(answer)).toEqual(expected);
}

export async function charged(service: TestService, { account }: Client): Promise<number> {
  return countCharges(await service.operator.wallet.ledger(account.id));
}

function countCharges(rows: readonly LedgerRow[]): number {
  return rows.filter((row) => row.kind === 'charge').length;
}

/** Sends two hundred requests at once against each limit. */
export function exactLimits(limits: readonly Limit[], started: () => TestService): void {
  let service: TestService;
  beforeAll(async () => {
    service = started();
    startNothing(service);
    // A function that is still loading its code while two hundred requests wait would refuse them with 503.
    expect((await service.send('/images/generate', { body: {} })).status).toBe(400);
  });

  describe.each(limits)(
    'two hundred requests at once against $name',
    ({ client: wanted, accepted, refusal, outcome }) => {
      it(
        `Over sockets, ${accepted} are accepted, and the others are answered ${refusal.status} with the right numbers`,
        async () => {
          for (let round = 0; round < socketRounds; round += 1) {
            withinOneMinute(service);
            const client = await service.client(wanted);
            const answers = await requestsAtOnce(service, client);
            const ids = answers.filter(isAccepted).map(idOf);
            expect(new Set(ids).size).toBe(accepted);
            expect(answers.filter((answer) => !isAccepted(answer))).toHaveLength(crowdSize - accepted);
            expectRefusals(
              answers.filter((answer) => !isAccepted(answer)),
              refusal,
            );
            expect(await charged(service, client)).toBe(accepted);
          }
        },
        120_000 * socketRounds,
      );

      it(`In each of five rounds on the table, ${accepted} are charged, and the others get ${outcome.kind}`, async () => {
        const counter = openCounter(service);
        for (let round = 0; round < rounds; round += 1) {
          const client = await counter.client(wanted);
          const outcomes = await counter.chargeAtOnce(client);
          const refused = outcomes.filter(({ kind }) => kind !== 'charged');
          expect(refused).toEqual(Array.from({ length: crowdSize - accepted }, () => outcome));
          expect(countCharges(await counter.ledger(client))).toBe(accepted);
        }
      });
    },
  );
}

/** Sends two hundred requests at once against each limit, while every second transaction meets a conflict. */
export function exactUnderConflicts(limits: readonly Limit[], started: () => TestService): void {
  let service: TestService;
  beforeAll(() => {
    service = started();
    startNothing(service);
  });

  it.each(limits)(
    'With conflicts in half of the transactions against $name, some may get 503 overloaded, but the count is never wrong',
    async ({ client: wanted, accepted, refusal }) => {
      withinOneMinute(service);
      const client = await service.client(wanted);
      service.machine.faults.set({
        call: 'dynamodb:TransactWriteItems',
        error: 'TransactionConflict',
        every: 2,
      });
      const answers = await requestsAtOnce(service, client);
      const struck =
        service.machine.faults.list().find(({ error }) => error === 'TransactionConflict')?.struck ?? 0;
      service.machine.faults.clear();
      startNothing(service);
      expect(struck).toBeGreaterThan(accepted);
      const refused = answers.filter((answer) => !isAccepted(answer) && !isOverloaded(answer));
      expectRefusals(refused, refusal);
      // A refusal says that the limit is used up, so exactly that many requests must have been accepted.
      const count = answers.filter(isAccepted).length;
      expect(count).toBeLessThanOrEqual(accepted);
      if (refused.length > 0) expect(count).toBe(accepted);
      expect(await charged(service, client)).toBe(count);
    },
  );
}
