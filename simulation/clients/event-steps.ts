/** The steps in which a client follows the events of its account, slowly or fast, and keeps its cursor. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Operation } from '../aws/deployed-service.ts';
import { bodyOf } from '../watches/answer-body.ts';
import { keyAt, type AccountHeld, type KeyHeld } from './open-account.ts';
import { eventOf } from './request-event.ts';
import type { FollowEvents } from './scenario.ts';
import type { Stage } from './stage.ts';

/** Sends one request. Undefined when its answer did not reach the client. */
type SendRequest = (
  operation: Operation,
  account: AccountHeld,
  key: KeyHeld,
  event: APIGatewayProxyEventV2,
) => Promise<APIGatewayProxyStructuredResultV2 | undefined>;

/** Reads until the step has its answers, or the client has asked three times as often. */
export function createEventSteps({ world, watch, accountOf }: Stage, send: SendRequest) {
  return async (step: FollowEvents): Promise<void> => {
    const account = accountOf(step);
    const key = keyAt(account, step.key);
    let after: string | undefined;
    for (let asked = 0, answered = 0; answered < step.reads && asked < 3 * step.reads; asked += 1) {
      const name = `${step.name} read ${asked}`;
      const askedAt = world.time.now();
      const answer = await send('events', account, key, readOf(step, after, key));
      world.note(`client ${name}: ${answer?.statusCode ?? 0}`);
      if (answer?.statusCode === 200) {
        answered += 1;
        // A client that lost its last cursor asks with the one before. It is a reader of its own then.
        const isAgain = after !== undefined && world.dice.chance(`${name} again`, 0.2);
        const read = { account: account.id, after, askedAt, notices: step.notices };
        const body = bodyOf(answer.body);
        if (isAgain) watch.events.onRepeated({ ...read, reader: step.name, body });
        else after = watch.events.onRead({ ...read, reader: step.name, body });
      } else if (answer?.statusCode === 400) watch.events.onRefused(after ?? '', answer.body ?? '');
      const pause = world.sleep(world.dice.between(`${name} pause`, 100, step.pauseMillis));
      if (!step.isTold) await pause;
      else {
        await Promise.race([pause, watch.events.next(account.id)]);
        await world.sleep(world.dice.between(`${name} is told`, 0, 40));
      }
    }
  };
}

function readOf(
  { limit, wait, notices }: FollowEvents,
  after: string | undefined,
  key: KeyHeld,
): APIGatewayProxyEventV2 {
  const event = eventOf('GET', '/api/public/v1/events', key, {});
  event.queryStringParameters = {
    limit: String(limit),
    wait: String(wait),
    ...(after !== undefined && { after }),
    ...(notices && { include: 'notices' }),
  };
  return event;
}
