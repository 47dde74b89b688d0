import { describe, expect, it } from 'vitest';
import { asMicros } from '../../core/money.ts';
import { dynamo, keysRead, stateMachine, tableHolds } from './api-fixture.ts';
import {
  hashOfBody,
  keyHash,
  mockAcceptingAws,
  submit,
  transactions,
  withKey,
  written,
} from './generate-image-fixture.ts';
import { textLike } from '../fixtures/values.ts';

mockAcceptingAws();

describe('POST /images/generate', () => {
  it('The answer is 202 with the creation, its Location and Retry-After', async () => {
    const answer = await submit();
    const id = String(answer.body['id']);
    expect(answer).toMatchObject({
      status: 202,
      body: { status: 'queued', model: 'sandbox-standard', cost: 0.04, webhook: null },
      headers: {
        location: `/api/public/v1/creations/${id}`,
        'retry-after': '2',
        'x-request-id': 'request-1',
      },
    });
    expect(answer.headers['ratelimit']).toMatch(/^"post";r=59;/);
  });

  it('The request makes four calls: one read, one transaction, and one start beside the count of the start', async () => {
    await submit(withKey);
    expect(dynamo.calls().map(({ args }) => args[0].constructor.name)).toEqual([
      'BatchGetCommand',
      'TransactWriteCommand',
      'UpdateCommand',
    ]);
    expect(stateMachine.calls()).toHaveLength(1);
    expect(keysRead()).toEqual([
      'IP#203.0.113.7 BLOCK',
      'ACCOUNT#Acc0unt001 ACCOUNT',
      'ACCOUNT#Acc0unt001 KEY#Key001',
      expect.stringMatching(/^ACCOUNT#Acc0unt001 RATE#POST#\d+$/),
      `ACCOUNT#Acc0unt001 IDEMPOTENCY#${keyHash}`,
      'SERVICE SERVICE',
      'OPEN_COUNT#0 OPEN_COUNT',
      'OPEN_COUNT#1 OPEN_COUNT',
      'OPEN_COUNT#2 OPEN_COUNT',
      'OPEN_COUNT#3 OPEN_COUNT',
    ]);
  });

  it('The execution starts under the id of the creation, and its input is that id, the index of the renderer and the version of the record', async () => {
    const id = String((await submit()).body['id']);
    expect(stateMachine.call(0).args[0].input).toEqual({
      stateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:creation',
      name: id,
      input: `{"creation_id":"${id}","renderer":"#1#","v":1}`,
    });
  });
});

describe('the transaction of a charge', () => {
  it('The transaction has five items with their conditions, and its token is the id of the creation', async () => {
    const id = String((await submit()).body['id']);
    expect(transactions().map(({ ClientRequestToken: token }) => token)).toEqual([id]);
    expect(written().map(({ kind, sk }) => `${kind} ${sk.replace(/\d{5,}|20\d\d-.*Z/g, '…')}`)).toEqual([
      'Update ACCOUNT',
      'Update KEY#Key001',
      'Update RATE#POST#…',
      'Put CREATION',
      `Put LEDGER#…#charge#${id}`.replaceAll(/\d{5,}/g, '…'),
    ]);
    expect(written().map(({ item }) => item['ConditionExpression'])).toEqual([
      '#condition = :active AND availableMicros >= :cost AND inFlight < maxConcurrent',
      'attribute_exists(pk) AND attribute_not_exists(revokedAt) AND (attribute_not_exists(expiresAt) OR expiresAt > :at) AND (attribute_not_exists(models) OR contains(models, :model)) AND attribute_not_exists(dailyCapMicros) AND attribute_not_exists(monthlyCapMicros) AND attribute_not_exists(totalCapMicros) AND attribute_not_exists(perUserMonthlyCapMicros)',
      'attribute_not_exists(#count) OR #count < :limit',
      'attribute_not_exists(pk)',
      'attribute_not_exists(pk)',
    ]);
    expect(written().map(({ item }) => item['ReturnValuesOnConditionCheckFailure'])).toEqual([
      'ALL_OLD',
      'ALL_OLD',
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('The transaction takes the cost from the account, and counts it in the month and the day of the key', async () => {
    await submit();
    const [account, key, rate, creation, ledger] = written().map(({ item }) => item);
    expect(account).toMatchObject({
      UpdateExpression: 'SET availableMicros = availableMicros - :cost, inFlight = inFlight + :one',
      ExpressionAttributeValues: { ':active': 'active', ':cost': 40_000, ':one': 1 },
    });
    const month = new Date().toISOString().slice(0, 7);
    expect(key).toMatchObject({
      UpdateExpression: 'ADD #spent :cost, #day :cost SET lastUsedAt = :hour',
      ExpressionAttributeNames: {
        '#spent': `spent_${month.replace('-', '_')}`,
        '#day': textLike(new RegExp(`^day_${month.replace('-', '_')}_\\d\\d$`)),
      },
      ExpressionAttributeValues: {
        ':cost': 40_000,
        ':hour': textLike(/^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z$/),
      },
    });
    expect(rate).toMatchObject({ ExpressionAttributeValues: { ':one': 1, ':limit': 60 } });
    expect(creation).toMatchObject({
      Item: {
        costMicros: 40_000,
        status: 'queued',
        openShard: textLike(/^OPEN#[0-3]$/),
      },
    });
    expect(ledger).toMatchObject({
      Item: { kind: 'charge', amountMicros: -40_000, keyId: 'Key001', month: month.replace('-', '_') },
    });
  });

  it('The transaction holds a key with a cap to the cap that was read and to the room that is left', async () => {
    tableHolds({ apiKey: { monthlyCapMicros: asMicros(1_000_000) } });
    await submit();
    expect(written()[1]?.item).toMatchObject({
      ConditionExpression:
        'attribute_exists(pk) AND attribute_not_exists(revokedAt) AND (attribute_not_exists(expiresAt) OR expiresAt > :at) AND (attribute_not_exists(models) OR contains(models, :model)) AND attribute_not_exists(dailyCapMicros) AND monthlyCapMicros = :monthlyCapMicros AND attribute_not_exists(totalCapMicros) AND attribute_not_exists(perUserMonthlyCapMicros) AND (attribute_not_exists(#spent) OR #spent <= :monthRoom)',
      ExpressionAttributeValues: { ':monthlyCapMicros': 1_000_000, ':monthRoom': 960_000 },
    });
  });

  it('The transaction has a sixth item for an Idempotency-Key, which must be absent or expired', async () => {
    const id = String((await submit(withKey)).body['id']);
    expect(written()).toHaveLength(6);
    const { sk, item } = written()[5] ?? { sk: '', item: {} };
    expect(sk).toBe(`IDEMPOTENCY#${keyHash}`);
    expect(item).toMatchObject({
      ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      Item: { creationId: id, requestHash: hashOfBody },
    });
  });
});
