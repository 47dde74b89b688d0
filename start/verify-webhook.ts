import { timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { parseCreationId, parseNoticeId } from '../service/values/ids.ts';
import { signature256, standardSignature } from '../service/webhooks/webhook.ts';
import type { OperatorServices } from '../admin/services.ts';

interface Webhook {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Verdict {
  readonly verified: boolean;
  readonly detail: string;
}

/** Verifies a webhook as its receiver does: both signatures must match under a secret of the account. */
export async function verifyWebhook(
  { headers, body }: Webhook,
  services: OperatorServices,
): Promise<Verdict> {
  const secrets = await secretsFor(body, services);
  if (secrets.length === 0) return { verified: false, detail: 'no account here has sent this' };
  const timestamp = headers['x-timestamp'] ?? '';
  const whole = headers['x-webhook-signature-256'] ?? '';
  const standard = (headers['webhook-signature'] ?? '').split(' ');
  const messageId = headers['webhook-id'] ?? '';
  const isSigned = secrets.some((secret) => same(whole, signature256(secret, timestamp, body)));
  const isStandard = secrets.some((secret) =>
    standard.some((value) =>
      same(value, standardSignature(secret, messageId, headers['webhook-timestamp'] ?? '', body)),
    ),
  );
  if (isSigned && isStandard)
    return { verified: true, detail: 'X-Webhook-Signature-256 and webhook-signature verified' };
  return {
    verified: false,
    detail: isSigned ? 'webhook-signature is wrong' : 'X-Webhook-Signature-256 is wrong',
  };
}

async function secretsFor(
  body: string,
  { creations, notices, accounts, secretBox }: OperatorServices,
): Promise<string[]> {
  const [creationId, noticeId] = [parseCreationId(idOf(body)), parseNoticeId(idOf(body))];
  const sent = noticeId ? await notices.read(noticeId) : creationId && (await creations.read(creationId));
  const owner = sent && (await accounts.read(sent.accountId));
  // A test delivery names no creation, so any account may have sent it.
  const senders = owner ? [owner] : await accounts.list();
  return Promise.all(
    senders.flatMap(({ id: account, webhookSecrets }) =>
      webhookSecrets.map(({ sealed }) => secretBox.open(account, sealed)),
    ),
  );
}

const idSchema = z.object({ id: z.string() });

/** The id in a webhook's body; empty when the body has none. */
function idOf(body: string): string {
  try {
    return idSchema.parse(JSON.parse(body)).id;
  } catch {
    return '';
  }
}

function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
