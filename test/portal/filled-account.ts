/** An account with one of each thing that an operation can name by its id. */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { newKey } from '../../service/accounts/key-changes.ts';
import { keyVersion } from '../../service/accounts/version.ts';
import { creationToItem } from '../../service/creations/creation-items.ts';
import type { CreationRecord } from '../../service/creations/creation.ts';
import { invitationIdOf, invitationMillis } from '../../service/portal/people.ts';
import { createUploadStore } from '../../service/uploads/upload-store.ts';
import { newUpload } from '../../service/uploads/upload.ts';
import { type AccountId, type CreationId, newEndpointId, uuidV7 } from '../../service/values/ids.ts';
import { createEndpointStore } from '../../service/webhooks/endpoint-store.ts';
import type { Endpoint } from '../../service/webhooks/endpoint.ts';
import { aCompletedCreation, aCreation, now } from '../fixtures/records.ts';
import type { PaymentId } from '../../service/payments/payment.ts';
import type { SignedIn, WholePortal } from './whole-portal.ts';

export interface FilledAccount {
  readonly id: AccountId;
  readonly owner: SignedIn;
  /** Somebody to change and to remove. */
  readonly member: SignedIn;
  readonly key: string;
  readonly keyVersion: string;
  /** Its webhook failed for good. */
  readonly creation: string;
  /** It is still open. */
  readonly open: string;
  readonly delivery: string;
  readonly invitation: string;
  readonly upload: string;
  readonly endpoint: string;
  /** It is paid. */
  readonly payment: string;
}

/** @param pays false: the account has no payment, which takes most of the time */
export async function fillAccount(portal: WholePortal, name: string, pays = true): Promise<FilledAccount> {
  const { randomBytes } = portal;
  const id = await portal.openAccount(name.padEnd(10, '0'));
  const owner = await portal.signIn(`owner@${name}.test`, id, 'owner');
  const member = await portal.signIn(`member@${name}.test`, id, 'viewer');
  const { record } = newKey(id, { name: `key of ${name}` }, { clock: portal.clock, randomBytes });
  await portal.keys.create(record);
  const webhook = { url: `https://${name}.test/hook`, status: 'failed', attempts: 5, nextAt: now } as const;
  const ended = await store(
    portal,
    aCompletedCreation({ accountId: id, prompt: `prompt of ${name}`, webhook }),
  );
  const open = await store(portal, aCreation({ accountId: id, prompt: `open prompt of ${name}` }));
  const delivery = uuidV7(now, randomBytes(16));
  await portal.deliveries.record({
    id: delivery,
    accountId: id,
    creationId: ended.id,
    event: 'creation.completed',
    url: webhook.url,
    attempt: 5,
    startedAt: new Date(now).toISOString(),
    outcome: 'failed',
    status: 500,
    millis: 12,
  });
  const email = `invited@${name}.test`;
  const invitation = invitationIdOf(email);
  await portal.people.invite({
    id: invitation,
    accountId: id,
    email,
    role: 'viewer',
    invitedAt: new Date(now).toISOString(),
    invitedBy: owner.email,
    expiresAt: now + invitationMillis,
  });
  const endpoint: Endpoint = {
    id: newEndpointId(randomBytes),
    url: `https://${name}.test/endpoint`,
    description: '',
    events: ['creation.completed'],
    enabled: true,
    createdAt: new Date(now).toISOString(),
  };
  await createEndpointStore(portal.table).change(id, (list) => [...list, endpoint]);
  const upload = newUpload({ accountId: id, contentType: 'image/png', bytes: 10 }, now, randomBytes);
  await createUploadStore(portal.table).create(upload, 10, now);
  return {
    id,
    owner,
    member,
    key: record.id,
    keyVersion: keyVersion(record),
    creation: ended.id,
    open: open.id,
    delivery,
    invitation,
    upload: upload.id,
    endpoint: endpoint.id,
    payment: pays ? await paidBy(portal, owner) : 'pay_none',
  };
}

/** A payment of five dollars, which a person made on the page of Stripe. */
export async function paidBy(portal: WholePortal, owner: SignedIn): Promise<string> {
  const { body } = await portal.ask('beginPayment', { as: owner, body: { amount: 5, save_card: true } });
  const { session } = (await portal.stripePayments.read(body.id as PaymentId)) ?? {};
  portal.stripe.act({ action: 'pay', session, card: 'pays' });
  const answer = await portal.ask('getPayment', { as: owner, id: body.id });
  if (!answer.text.includes('"state":"succeeded"')) throw new Error(`not paid: ${answer.text}`);
  return body.id;
}

async function store({ table, randomBytes }: WholePortal, record: CreationRecord): Promise<CreationRecord> {
  const creation = { ...record, id: uuidV7(now, randomBytes(16)) as CreationId };
  await table.client.send(new PutCommand({ TableName: table.name, Item: creationToItem(creation) }));
  return creation;
}
