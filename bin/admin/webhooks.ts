import type { Command } from 'commander';
import { readDeliveryLog } from '../../adapters/dynamodb/delivery-store.ts';
import type { Account, SealedSecret } from '../../core/account.ts';
import { replacedSecretSeconds, webhookSecret } from '../../core/webhook.ts';
import type { Admin } from './admin.ts';
import { OperatorError } from './operator-error.ts';
import type { Row } from './output.ts';
import type { OperatorServices } from './services.ts';
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
    .command('log <account>')
    .description(`the last ${logRows} attempts, the newest first`)
    .action(admin.run(async ({ services, output }, id: string) => {
      const account = await values.account(services, id);
      const log = await readDeliveryLog(services.table, account.id, logRows);
      output.list(
        log.map((delivery) => ({
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
        })),
        'Nothing was sent in the last 30 days.',
      );
    }));
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
