/** Which fields POST /images/generate accepts and refuses: every limit of every field. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Client, startTestService, type TestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { fieldsOf, refusalOf } from './refusal.ts';
import { acceptedBodies, refusedBodies } from './request-bodies.ts';

let service: TestService;
let client: Client;
beforeAll(async () => {
  service = await startTestService();
  client = await service.client({ postRate: '10000', getRate: '10000', balance: '100' });
});
afterAll(() => service.end());

/** A quote is checked by the same rules as a submission and costs nothing, so its 200 stands for a 202. */
function quote(body: object): Promise<Answer> {
  return service.send('/images/quote', { key: client.key, body });
}

describe('the fields of POST /images/generate that are accepted', () => {
  it.each(acceptedBodies)('The request is accepted with %s', async (_what, body) => {
    expect((await quote(body)).status).toBe(200);
  });
});

describe('the fields of POST /images/generate that are refused', () => {
  it.each(refusedBodies)(
    'The request is refused with 400 ERR_INVALID_REQUEST and named fields for %s',
    async (_what, body, fields) => {
      const [submitted, quoted] = await Promise.all([
        service.send('/images/generate', { key: client.key, body }),
        quote(body),
      ]);
      expect(refusalOf(submitted)).toMatchObject({ status: 400, code: 'ERR_INVALID_REQUEST' });
      expect(fieldsOf(submitted).sort()).toEqual([...fields].sort());
      expect(quoted.text).toBe(submitted.text);
      for (const item of refusalOf(submitted).details['errors'] as object[])
        expect(Object.keys(item)).toEqual(['field', 'code', 'message']);
    },
  );

  it('The refused requests charged nothing', async () => {
    expect((await service.operator.wallet.ledger(client.account.id)).map(({ kind }) => kind)).toEqual([
      'top_up',
    ]);
  });
});

everyAnswer(() => service);
