/**
 * What a back end does with the operator API: it opens an account when somebody signs up, credits what a payment system
 * took, and reads usage for a page of its own. Set DARKROOM_BASE_URL (https://YOUR-SERVICE) and DARKROOM_OPERATOR_KEY.
 */
const root = `${process.env.DARKROOM_BASE_URL}/api/operator/v1`;

/** Sends a request, and repeats it after a refusal that passes. */
async function operator(path, body, idempotencyKey) {
  for (let tries = 1; ; tries += 1) {
    const answer = await fetch(root + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${process.env.DARKROOM_OPERATOR_KEY}`,
        'content-type': 'application/json',
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (answer.ok) return answer.json();
    if (tries === 5 || ![429, 500, 503].includes(answer.status)) throw new Error(await answer.text());
    const seconds = Number(answer.headers.get('retry-after') ?? tries);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  }
}

/** Somebody signs up. */
export async function openAccount({ id, name }) {
  const account = await operator('/accounts', { name, external_id: id }, `account ${id}`);
  const { key } = await operator(`/accounts/${account.id}/keys`, { name: 'first' });
  return { account: account.id, key };
}

/** Your payment system took money. Call it as often as the event arrives. */
export async function credit(account, { id, amount }) {
  return operator(`/accounts/${account}/payments`, { amount, reference: id, source: 'shop' });
}

/** For a page of yours: each day with `creations` and `spent`. */
export async function usage(account, from, to) {
  const { data } = await operator(`/accounts/${account}/usage?from=${from}&to=${to}&by=day`);
  return data;
}
