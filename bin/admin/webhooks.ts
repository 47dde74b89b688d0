import type { Command } from 'commander';
import type { Account, SealedSecret } from '../../core/account.ts';
import { redeliver, sendTestDelivery } from '../../core/webhook-operations.ts';
import { replacedSecretSeconds, webhookSecret } from '../../core/webhook.ts';
import type { Delivery } from '../../core/ports/deliveries.ts';
import type { Admin } from './admin.ts';
import { OperatorError } from './operator-error.ts';
import type { Row } from './output.ts';
import type { OperatorServices } from './services.ts';
import { resealSecrets } from './reseal.ts';
import * as values from './values.ts';

const logRows = 100;

export function addWebhookCommands(program: Command, admin: Admin): void {
  const webhooks = program.command('webhooks').description('signing secrets and the log of deliveries');
  webhooks
    .command('secret <account>')
    .description('the signing secret; issued when it is first asked for')
    .action(admin.run(async ({ services, output }, id: string) => {
      const account = await values.account(services, id);
      output.show(account.webhookSecrets[0] ? await secretView(services, account) : await issueSecret(services, account));
    }));
  webhooks
    .command('rotate <account>')
    .description('replace the signing secret; the replaced one verifies for 24 h more')
    .action(admin.run(async ({ services, output }, id: string) => {
      output.show(await issueSecret(services, await values.account(services, id)));
    }));
  webhooks
    .command('reseal')
    .description('after a rotation of the encryption secret: seal every webhook secret by its new version; exit code 1 when one is lost')
    .action(admin.run(async ({ services, output, fail }) => {
      const { accounts, resealed, alreadyCurrent, dropped, lost, busy } = await resealSecrets(services);
      output.show({ accounts, resealed, already_current: alreadyCurrent, dropped, lost, busy }, noteOf(lost, busy));
      if (lost.length + busy.length > 0) fail();
    }));
  webhooks
    .command('log <account>')
    .description(`the last ${logRows} attempts, the newest first`)
    .action(admin.run(async ({ services, output }, id: string) => {
      const account = await values.account(services, id);
      const log = await services.deliveries.log(account.id, logRows);
      output.list(log.map(deliveryRow), 'Nothing was sent in the last 30 days.');
    }));
  addDeliveryCommands(webhooks, admin);
}

function addDeliveryCommands(webhooks: Command, admin: Admin): void {
  webhooks
    .command('redeliver <account> <delivery>')
    .description('send the webhook of a delivery again: a new round of up to five attempts')
    .action(admin.run(async ({ services, output }, id: string, delivery: string) => {
      const outcome = await redeliver(await values.account(services, id), delivery, services);
      if (outcome.kind === 'unknown_delivery') throw new OperatorError(`There is no delivery ${delivery} of a creation: \`webhooks log ${id}\` shows them.`);
      if (outcome.kind === 'still_pending') throw new OperatorError('Its webhook is still pending: the next attempt comes by itself.');
      output.show({ delivery, creation: outcome.creationId, status: 'pending' });
    }));
  webhooks
    .command('test <account>')
    .description('send one signed test delivery; at most one in 30 seconds')
    .requiredOption('--url <url>', 'where to')
    .action(admin.run(async ({ services, output, fail }, id: string, { url }: { url: string }) => {
      const outcome = await sendTestDelivery(await values.account(services, id), url, services);
      if (outcome.kind === 'refused') throw new OperatorError(`--url: ${outcome.why}.`);
      if (outcome.kind === 'no_secret') throw new OperatorError(`The account has no webhook secret yet: \`webhooks secret ${id}\` issues it.`);
      if (outcome.kind === 'too_soon') throw new OperatorError(`A test delivery was sent just now: try again in ${outcome.afterSeconds} s.`, { retry_after: outcome.afterSeconds });
      output.show(deliveryRow(outcome.delivery));
      if (outcome.delivery.outcome !== 'delivered') fail();
    }));
}

function noteOf(lost: readonly string[], busy: readonly string[]): string {
  if (lost.length > 0) return 'A lost secret can be opened by nobody: its client needs a new one (`webhooks rotate`).';
  return busy.length > 0 ? 'Secrets changed meanwhile: run it again.' : 'Every webhook secret is sealed by the current version: the encryption secret may be rotated again.';
}

function deliveryRow(delivery: Delivery): Row {
  return {
    id: delivery.id,
    started_at: delivery.startedAt,
    creation: delivery.creationId,
    event: delivery.event,
    attempt: delivery.attempt,
    outcome: delivery.outcome ?? 'unknown',
    status: delivery.status ?? null,
    reason: delivery.reason ?? null,
    ms: delivery.millis ?? null,
    next_attempt_at: delivery.nextAttemptAt ?? null,
    url: delivery.url,
    response: delivery.responseExcerpt ?? null,
  };
}

/** Issues a secret, the first or one that replaces the current; those replaced more than 24 h ago are dropped. */
export async function issueSecret(services: OperatorServices, account: Account): Promise<Row> {
  const now = services.clock.now();
  const [current] = account.webhookSecrets;
  const sealed = await services.secretBox.seal(account.id, webhookSecret(services.randomBytes(32)));
  const kept = account.webhookSecrets
    .map((secret): SealedSecret => (secret.replacedAt === undefined ? { ...secret, replacedAt: now } : secret))
    .filter((secret) => (secret.replacedAt ?? now) > now - replacedSecretSeconds * 1000);
  const stored = await services.accounts.replaceSecrets(account.id, current, [{ sealed, issuedAt: now }, ...kept]);
  if (!stored) throw new OperatorError('Somebody else replaced the secret at the same time: look at it with `webhooks secret`.');
  return secretView(services, await values.account(services, account.id));
}

async function secretView(services: OperatorServices, account: Account): Promise<Row> {
  const [current, ...replaced] = account.webhookSecrets;
  if (!current) throw new OperatorError('No secret was issued.');
  const oldest = services.clock.now() - replacedSecretSeconds * 1000;
  return {
    account: account.id,
    secret: await services.secretBox.open(account.id, current.sealed),
    issued_at: new Date(current.issuedAt).toISOString(),
    replaced_valid_until: replaced
      .filter((secret) => (secret.replacedAt ?? 0) > oldest)
      .map((secret) => new Date((secret.replacedAt ?? 0) + replacedSecretSeconds * 1000).toISOString()),
  };
}
