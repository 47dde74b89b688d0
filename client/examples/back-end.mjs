/**
 * What a back end does with the operator API: it opens an account when somebody signs up, credits what a payment system
 * took, and reads usage for a page of its own. Set DARKROOM_BASE_URL (https://YOUR-SERVICE) and DARKROOM_OPERATOR_KEY.
 */
import { DarkroomOperator } from 'darkroom-client/operator';

const operator = new DarkroomOperator();

/** Somebody signs up. */
export async function openAccount({ id, name }) {
  const order = { name, external_id: id };
  const account = await operator.accounts.create(order, { idempotencyKey: `account ${id}` });
  const { key } = await operator.keys.create(account.id, { name: 'first' });
  return { account: account.id, key };
}

/** Your payment system took money. Call it as often as the event arrives. */
export async function credit(account, { id, amount }) {
  return operator.payments.create(account, { amount, reference: id, source: 'shop' });
}

/** For a page of yours: each day with `creations` and `spent`. */
export async function usage(account, from, to) {
  const { data } = await operator.usage.get(account, { from, to, by: 'day' });
  return data;
}
