import { Option } from 'commander';
import type { Row } from '../../client/command/terminal/output.ts';
import type { Account } from '../../service/accounts/account.ts';
import type { Delivery } from '../../service/webhooks/delivery.ts';
import { type Endpoint, endpointEvents } from '../../service/webhooks/endpoint.ts';
import { issueSecret as issue, newestSecret } from '../../service/webhooks/issue-secret.ts';
import {
  redeliver,
  sendTestDelivery,
  type TestOutcome,
  type TestTarget,
} from '../../service/webhooks/redeliver.ts';
import { SecretLost } from '../../service/webhooks/secret-box.ts';
import { type SignFrom, signFromSeconds } from '../../service/webhooks/secrets.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';
import { type ResealReport, resealSecrets } from '../reseal.ts';
import type { OperatorServices } from '../services.ts';
import * as values from '../terminal/values.ts';

const logRows = 100;
const excerptCharacters = 500;

/** The commands `log`, `endpoints`, `redeliver` and `test`. */
function addDeliveryCommands(webhooks: OperatorCommand): void {
  webhooks
    .task('log <account>', `the last ${logRows} attempts, the newest first`)
    .run(async ({ services, output }, id: string) => {
      const account = await values.account(services, id);
      const log = await services.deliveries.log(account.id, logRows);
      output.list(log.map(deliveryRow), 'Nothing was sent in the last 30 days.');
    });
  webhooks
    .task('endpoints <account>', 'the addresses that get the events of the account, the oldest first')
    .run(async ({ services, output }, id: string) => {
      const { list } = await services.endpoints.read((await values.account(services, id)).id);
      output.list(list.map(endpointRow), 'The account has no endpoint.');
    });
  webhooks
    .task(
      'redeliver <account> <delivery>',
      'send the webhook of a delivery again: a new round of up to five attempts',
    )
    .run(async ({ services, output }, id: string, delivery: string) => {
      const outcome = await redeliver(await values.account(services, id), delivery, services);
      if (outcome.kind === 'unknown_delivery')
        throw new OperatorError(
          `There is no delivery ${delivery} of a creation: \`webhooks log ${id}\` shows them.`,
        );
      if (outcome.kind === 'still_pending')
        throw new OperatorError('Its webhook is still pending: the next attempt comes by itself.');
      output.show({ delivery, creation: outcome.creationId, status: 'pending' });
    });
  webhooks
    .task('test <account>', 'send one signed test delivery; at most one in 30 seconds')
    .requiredOption('--url <url>', 'where to')
    .addOption(
      new Option('--event <name>', 'of which event or notice')
        .choices(endpointEvents)
        .default('creation.completed'),
    )
    .run(
      async ({ services, output, fail }, id: string, target: Pick<Required<TestTarget>, 'url' | 'event'>) => {
        const outcome = await test(services, await values.account(services, id), target);
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
      },
    );
}

async function test(services: OperatorServices, account: Account, target: TestTarget): Promise<TestOutcome> {
  try {
    return await sendTestDelivery(account, target, services);
  } catch (error) {
    throw error instanceof SecretLost ? secretIsLost(account, error) : error;
  }
}

/** The message for a signing secret that can no longer be opened. */
function secretIsLost(account: Account, cause: SecretLost): OperatorError {
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

function endpointRow(endpoint: Endpoint): Row {
  const { id, url, events, enabled, disabledReason, failingSince, description } = endpoint;
  return {
    id,
    url,
    events,
    state: enabled ? 'on' : (disabledReason ?? 'off'),
    failing_since: failingSince === undefined ? null : new Date(failingSince).toISOString(),
    description,
    created_at: endpoint.createdAt,
  };
}

export function addWebhookCommands(program: OperatorCommand): void {
  const webhooks = program.task('webhooks', 'signing secrets and the log of deliveries');
  webhooks
    .task('secret <account>', 'the signing secret; issued when it is first asked for')
    .run(async ({ services, output }, id: string) => {
      const account = await values.account(services, id);
      output.show(
        account.webhookSecrets[0]
          ? await secretView(services, account)
          : await issueSecret(services, account),
      );
    });
  webhooks
    .task('rotate <account>', 'replace the signing secret; the replaced one verifies for 24 h more')
    .addOption(
      new Option(
        '--sign-from <when>',
        'when the new secret begins to sign X-Webhook-Signature-256; until then the old one signs',
      )
        .choices(Object.keys(signFromSeconds))
        .default('now'),
    )
    .run(async ({ services, output }, id: string, { signFrom }: { signFrom: SignFrom }) => {
      output.show(await issueSecret(services, await values.account(services, id), signFrom));
    });
  webhooks
    .task(
      'reseal',
      'after a rotation of the encryption secret: seal every webhook secret and the keys of each bucket by its new version; exit code 1 when one is lost',
    )
    .run(async ({ services, output, fail }) => {
      const report = await resealSecrets(services);
      output.show(
        {
          accounts: report.accounts,
          resealed: report.resealed,
          already_current: report.alreadyCurrent,
          dropped: report.dropped,
          lost: report.lost,
          lost_replaced: report.lostReplaced,
          lost_buckets: report.lostBuckets,
          busy: report.busy,
        },
        noteOf(report),
      );
      const { lost, lostReplaced, lostBuckets, busy } = report;
      if ([lost, lostReplaced, lostBuckets, busy].some((named) => named.length > 0)) fail();
    });
  addDeliveryCommands(webhooks);
}

function noteOf({ lost, lostReplaced, lostBuckets, busy }: ResealReport): string {
  const sentences = [
    lost.length > 0 &&
      'Nobody can open a secret named under lost: its client needs a new one (`webhooks rotate`).',
    lostReplaced.length > 0 &&
      'A replaced secret named under lost_replaced was removed: a client that still holds it needs the newer one (`webhooks secret`).',
    lostBuckets.length > 0 &&
      'Nobody can open the keys of a bucket of an account under lost_buckets: its client has to set the bucket again.',
    busy.length > 0 && 'Secrets named under busy changed meanwhile: run it again.',
  ].filter((sentence) => sentence !== false);
  if (sentences.length > 0) return sentences.join(' ');
  return 'Every webhook secret is sealed by the current version: the encryption secret may be rotated again.';
}

/** Issues the first secret of an account, or a secret that replaces the others. */
export async function issueSecret(
  services: OperatorServices,
  account: Account,
  signFrom: SignFrom = 'now',
): Promise<Row> {
  const issued = await orLost(account, () => issue(account, signFrom, services));
  if (issued.kind === 'changed_meanwhile')
    throw new OperatorError(
      'Somebody else replaced the secret at the same time: look at it with `webhooks secret`.',
    );
  return secretView(services, issued.account);
}

/** Shows the newest secret, and until it signs also the secret that signs now. */
async function secretView(services: OperatorServices, account: Account): Promise<Row> {
  const shown = await orLost(account, () => newestSecret(account, services));
  if (!shown) throw new OperatorError('No secret was issued.');
  return {
    account: account.id,
    secret: shown.secret,
    issued_at: shown.issuedAt,
    signs_from: shown.signsFrom,
    ...(shown.signingUntilThen !== undefined && { signing_until_then: shown.signingUntilThen }),
    replaced_valid_until: shown.replacedValidUntil,
  };
}

async function orLost<Result>(account: Account, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof SecretLost ? secretIsLost(account, error) : error;
  }
}
