/** The commands `webhooks log`, `webhooks redeliver` and `webhooks test`. */
import type { Command } from 'commander';
import type { Row } from '../../client/command/terminal/output.ts';
import type { Account } from '../../service/accounts/account.ts';
import type { Delivery } from '../../service/webhooks/delivery.ts';
import { redeliver, sendTestDelivery, type TestOutcome } from '../../service/webhooks/redeliver.ts';
import { SecretLost } from '../../service/webhooks/secret-box.ts';
import type { Admin } from '../admin.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';
import * as values from '../terminal/values.ts';

const logRows = 100;
const excerptCharacters = 500;

export function addDeliveryCommands(webhooks: Command, admin: Admin): void {
  webhooks
    .command('log <account>')
    .description(`the last ${logRows} attempts, the newest first`)
    .action(
      admin.run(async ({ services, output }, id: string) => {
        const account = await values.account(services, id);
        const log = await services.deliveries.log(account.id, logRows);
        output.list(log.map(deliveryRow), 'Nothing was sent in the last 30 days.');
      }),
    );
  webhooks
    .command('redeliver <account> <delivery>')
    .description('send the webhook of a delivery again: a new round of up to five attempts')
    .action(
      admin.run(async ({ services, output }, id: string, delivery: string) => {
        const outcome = await redeliver(await values.account(services, id), delivery, services);
        if (outcome.kind === 'unknown_delivery')
          throw new OperatorError(
            `There is no delivery ${delivery} of a creation: \`webhooks log ${id}\` shows them.`,
          );
        if (outcome.kind === 'still_pending')
          throw new OperatorError('Its webhook is still pending: the next attempt comes by itself.');
        output.show({ delivery, creation: outcome.creationId, status: 'pending' });
      }),
    );
  webhooks
    .command('test <account>')
    .description('send one signed test delivery; at most one in 30 seconds')
    .requiredOption('--url <url>', 'where to')
    .action(
      admin.run(async ({ services, output, fail }, id: string, { url }: { url: string }) => {
        const outcome = await test(services, await values.account(services, id), url);
        if (outcome.kind === 'refused') throw new OperatorError(`--url: ${outcome.why}.`);
        if (outcome.kind === 'no_secret')
          throw new OperatorError(
            `The account has no webhook secret yet: \`webhooks secret ${id}\` issues it.`,
          );
        if (outcome.kind === 'too_soon')
          throw new OperatorError(
            `A test delivery was sent just now: try again in ${outcome.afterSeconds} s.`,
            { retry_after: outcome.afterSeconds },
          );
        const note =
          'A replaced secret cannot be opened any more and signed nothing: `webhooks reseal` removes it.';
        output.show(
          { ...deliveryRow(outcome.delivery), lost_secrets: outcome.lost },
          outcome.lost > 0 ? note : undefined,
        );
        if (outcome.delivery.outcome !== 'delivered') fail();
      }),
    );
}

async function test(services: OperatorServices, account: Account, url: string): Promise<TestOutcome> {
  try {
    return await sendTestDelivery(account, url, services);
  } catch (error) {
    throw error instanceof SecretLost ? secretIsLost(account, error) : error;
  }
}

/** The message for a signing secret that can no longer be opened. */
export function secretIsLost(account: Account, cause: SecretLost): OperatorError {
  const message = `The webhook secret of the account ${account.id} cannot be opened any more. \`webhooks rotate ${account.id}\` issues a new secret; give it to the customer.`;
  return new OperatorError(message, {}, { cause });
}

function deliveryRow(delivery: Delivery): Row {
  return {
    id: delivery.id,
    started_at: delivery.startedAt,
    creation: delivery.creationId ?? null,
    notice: delivery.noticeId ?? null,
    event: delivery.event,
    attempt: delivery.attempt,
    outcome: delivery.outcome ?? 'unknown',
    status: delivery.status ?? null,
    reason: delivery.reason ?? null,
    ms: delivery.millis ?? null,
    next_attempt_at: delivery.nextAttemptAt ?? null,
    url: delivery.url,
    response: delivery.responseExcerpt?.slice(0, excerptCharacters) ?? null,
  };
}
