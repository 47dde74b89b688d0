import { Option, type Command } from 'commander';
import type { Account } from '../../core/account.ts';
import { SecretLost } from '../../core/ports/secret-box.ts';
import {
  replacedSecretSeconds,
  rotated,
  secretsAt,
  signFromSeconds,
  type SignFrom,
} from '../../core/webhook-secrets.ts';
import { webhookSecret } from '../../core/webhook.ts';
import type { Admin } from '../admin.ts';
import { addDeliveryCommands, secretIsLost } from './deliveries.ts';
import { OperatorError } from '../operator-error.ts';
import type { Row } from '../../terminal/output.ts';
import type { OperatorServices } from '../services.ts';
import { resealSecrets, type ResealReport } from '../reseal.ts';
import * as values from '../terminal/values.ts';

export function addWebhookCommands(program: Command, admin: Admin): void {
  const webhooks = program.command('webhooks').description('signing secrets and the log of deliveries');
  webhooks
    .command('secret <account>')
    .description('the signing secret; issued when it is first asked for')
    .action(
      admin.run(async ({ services, output }, id: string) => {
        const account = await values.account(services, id);
        output.show(
          account.webhookSecrets[0]
            ? await secretView(services, account)
            : await issueSecret(services, account),
        );
      }),
    );
  webhooks
    .command('rotate <account>')
    .description('replace the signing secret; the replaced one verifies for 24 h more')
    .addOption(
      new Option(
        '--sign-from <when>',
        'when the new secret begins to sign X-Webhook-Signature-256; until then the old one signs',
      )
        .choices(Object.keys(signFromSeconds))
        .default('now'),
    )
    .action(
      admin.run(async ({ services, output }, id: string, { signFrom }: { signFrom: SignFrom }) => {
        output.show(await issueSecret(services, await values.account(services, id), signFrom));
      }),
    );
  webhooks
    .command('reseal')
    .description(
      'after a rotation of the encryption secret: seal every webhook secret by its new version; exit code 1 when one is lost',
    )
    .action(
      admin.run(async ({ services, output, fail }) => {
        const report = await resealSecrets(services);
        output.show(
          {
            accounts: report.accounts,
            resealed: report.resealed,
            already_current: report.alreadyCurrent,
            dropped: report.dropped,
            lost: report.lost,
            lost_replaced: report.lostReplaced,
            busy: report.busy,
          },
          noteOf(report),
        );
        if (report.lost.length + report.lostReplaced.length + report.busy.length > 0) fail();
      }),
    );
  addDeliveryCommands(webhooks, admin);
}

function noteOf({ lost, lostReplaced, busy }: ResealReport): string {
  const sentences = [
    lost.length > 0 &&
      'Nobody can open a secret named under lost: its client needs a new one (`webhooks rotate`).',
    lostReplaced.length > 0 &&
      'A replaced secret named under lost_replaced was removed: a client that still holds it needs the newer one (`webhooks secret`).',
    busy.length > 0 && 'Secrets named under busy changed meanwhile: run it again.',
  ].filter((sentence) => sentence !== false);
  if (sentences.length > 0) return sentences.join(' ');
  return 'Every webhook secret is sealed by the current version: the encryption secret may be rotated again.';
}

/**
 * Issues the first secret of an account, or a secret that replaces the others. Secrets that were replaced
 * more than 24 h ago are removed. A rotation that is still pending does not prevent another one.
 */
export async function issueSecret(
  services: OperatorServices,
  account: Account,
  signFrom: SignFrom = 'now',
): Promise<Row> {
  const now = services.clock.now();
  const { signing } = secretsAt(account.webhookSecrets, now);
  // With a later --sign-from the old secret must still sign, so it must be possible to open it.
  if (signing && signFrom !== 'now') await open(services, account, signing.sealed);
  const sealed = await services.secretBox.seal(account.id, webhookSecret(services.randomBytes(32)));
  const next = rotated(account.webhookSecrets, sealed, signFrom, now);
  const stored = await services.accounts.replaceSecrets(account.id, account.webhookSecrets[0], next);
  if (!stored)
    throw new OperatorError(
      'Somebody else replaced the secret at the same time: look at it with `webhooks secret`.',
    );
  return secretView(services, await values.account(services, account.id));
}

/** Shows the newest secret, and until it signs also the secret that signs now. */
async function secretView(services: OperatorServices, account: Account): Promise<Row> {
  const [newest] = account.webhookSecrets;
  if (!newest) throw new OperatorError('No secret was issued.');
  const { signing, pending, replaced } = secretsAt(account.webhookSecrets, services.clock.now());
  const isPending = signing !== undefined && pending.includes(newest);
  return {
    account: account.id,
    secret: await open(services, account, newest.sealed),
    issued_at: timeOf(newest.issuedAt),
    signs_from: timeOf(newest.signsFrom ?? newest.issuedAt),
    ...(isPending && { signing_until_then: await open(services, account, signing.sealed) }),
    replaced_valid_until: [...(isPending ? [...pending.slice(1), signing] : []), ...replaced].flatMap(
      ({ replacedAt }) =>
        replacedAt === undefined ? [] : [timeOf(replacedAt + replacedSecretSeconds * 1000)],
    ),
  };
}

const timeOf = (millis: number): string => new Date(millis).toISOString();

async function open(services: OperatorServices, account: Account, sealed: string): Promise<string> {
  try {
    return await services.secretBox.open(account.id, sealed);
  } catch (error) {
    throw error instanceof SecretLost ? secretIsLost(account, error) : error;
  }
}
