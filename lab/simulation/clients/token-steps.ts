/** Pages with tokens of end users: a server mints a token, and its page orders images until the token ends. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { keyAt, type KeyHeld, promptMark } from './open-accounts.ts';
import { bodyOf, eventOf, memberOf } from './requests.ts';
import type { UserTokenStep } from './scenario.ts';
import type { Stage } from './stage.ts';

const origin = 'https://page.test';

export function createTokenSteps({ world, service, invariants, accountOf }: Stage) {
  const { dice } = world;
  const json = { 'content-type': 'application/json' };
  type Answer = APIGatewayProxyStructuredResultV2 | undefined;
  const sent = (
    operation: 'generate' | 'cancel' | 'user-tokens',
    event: APIGatewayProxyEventV2,
  ): Promise<Answer> => service.request(operation, event).catch(() => undefined);

  return async (step: UserTokenStep): Promise<void> => {
    const key = keyAt(accountOf(step), step.key);
    const minted = await sent('user-tokens', mintOf(step, key));
    world.note(`page ${step.name} gets a token: ${minted?.statusCode ?? 0}`);
    if (minted?.statusCode !== 201) return;
    const view = bodyOf(minted.body);
    const id = memberOf(view, 'id');
    const holder = { ...key, text: memberOf(view, 'token') };
    const endsAt = Date.parse(memberOf(view, 'expires_at'));

    const order = async (index: number): Promise<void> => {
      const name = `${step.name} order ${index}`;
      const isLast = dice.chance(`${name} last`, 0.3);
      const untilEnd = endsAt - world.time.now() - dice.between(`${name} before`, -20, 60);
      await world.sleep(isLast ? Math.max(0, untilEnd) : dice.between(`${name} at`, 0, 20_000));
      const isForeign = dice.chance(`${name} foreign`, 0.15);
      const isShared = dice.chance(`${name} shared`, 0.3);
      const isRevoked = invariants.tokens.isRevoked(id);
      const headers = {
        ...json,
        origin: isForeign ? 'https://other.test' : origin,
        ...(isShared && { 'idempotency-key': 'of the page' }),
      };
      const body = JSON.stringify({
        model: 'sandbox-sketch',
        prompt: `${promptMark} [sandbox:${dice.pick(`${name} does`, ['ok', 'fail'])}]`,
      });
      const shared = JSON.stringify({ model: 'sandbox-sketch', prompt: promptMark });
      const event = eventOf(
        'POST',
        '/api/public/v1/images/generate',
        holder,
        headers,
        isShared ? shared : body,
      );
      const answer = await sent('generate', event);
      world.note(`page ${name}: ${answer?.statusCode ?? 0}`);
      if (answer) invariants.tokens.onAnswer({ user: step.user, isForeign, isRevoked }, answer);
      if (answer?.statusCode !== 202 || !dice.chance(`${name} cancels`, 0.4)) return;
      const made = memberOf(bodyOf(answer.body), 'id');
      const path = `/api/public/v1/creations/${made}/cancel`;
      await sent('cancel', eventOf('POST', path, holder, { origin }, undefined, made));
    };
    const revoke = async (): Promise<void> => {
      if (step.revokeAfter === undefined) return;
      await world.sleep(step.revokeAfter);
      const path = `/api/public/v1/user-tokens/${id}/revoke`;
      const answer = await sent('user-tokens', eventOf('POST', path, key, {}, undefined, id));
      world.note(`token of page ${step.name} revoked: ${answer?.statusCode ?? 0}`);
      if (answer?.statusCode === 200) invariants.tokens.onRevoked(id);
    };
    await Promise.all([revoke(), ...Array.from({ length: step.orders }, (_, index) => order(index))]);
  };
}

function mintOf({ user, limitMicros, uses }: UserTokenStep, key: KeyHeld): APIGatewayProxyEventV2 {
  const body = {
    user,
    spend_limit: limitMicros / 1_000_000,
    max_uses: uses,
    expires_in: 60,
    origins: [origin],
    metadata: { page: 'yes' },
  };
  const headers = { 'content-type': 'application/json' };
  return eventOf('POST', '/api/public/v1/user-tokens', key, headers, JSON.stringify(body));
}
