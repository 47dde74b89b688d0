/** Every refusal of the API in the form of the OpenAI API. The table is stated a second time here. */
import { describe, expect, it } from 'vitest';
import { failureNames } from '../../../core/failure.ts';
import { asMicros } from '../../../core/money.ts';
import { invalidRequest, Problem } from '../../../core/problem.ts';
import * as problems from '../../../functions/http/problems.ts';
import { errorRows, failureRows } from '../../../functions/openai/http/error-table.ts';
import { OpenaiRefusal, refusedBy } from '../../../functions/openai/http/refusal.ts';
import { aCreation, creationId } from '../../fixtures/records.ts';

const shown = (problem: Problem): unknown[] => {
  const { status, headers, error } = refusedBy(problem);
  return [status, error.type, error.code, error.param, headers['x-should-retry'], headers['retry-after']];
};
const budget = { capMicros: asMicros(1), spentMicros: asMicros(1), resetsAt: null };
const over = (period: 'daily' | 'monthly' | 'total' | 'user'): Problem =>
  problems.overBudget({ ...budget, period }, undefined);

const wrong = 'invalid_request_error';
const server = 'server_error';

describe('a refusal in the form of the OpenAI API', () => {
  it.each<[Problem, ...unknown[]]>([
    [problems.keyMissing(true), 401, wrong, 'invalid_api_key', null, 'false', undefined],
    [problems.keyInvalid(), 401, wrong, 'invalid_api_key', null, 'false', undefined],
    [problems.accountDisabled(), 403, 'permission_error', 'account_disabled', null, 'false', undefined],
    [problems.apiSuspended(), 403, 'permission_error', 'api_suspended', null, 'false', undefined],
    [problems.addressBlocked(1_000), 429, 'rate_limit_error', 'address_blocked', null, 'false', '1'],
    [problems.rateExceeded('post', 60, 7), 429, 'rate_limit_error', 'rate_limit_exceeded', null, 'true', '7'],
    [problems.tooManyOpen(1, 1), 429, 'rate_limit_error', 'rate_limit_exceeded', null, 'true', '5'],
    [problems.serviceIsFull(1, 1), 429, 'rate_limit_error', 'rate_limit_exceeded', null, 'true', '5'],
    [problems.wrongContentType(), 400, wrong, 'err_invalid_request', 'Content-Type', 'false', undefined],
    [problems.bodyNotJson(), 400, wrong, 'err_invalid_request', null, 'false', undefined],
    [
      problems.idempotencyKeyMismatch(),
      400,
      wrong,
      'err_invalid_request',
      'Idempotency-Key',
      'false',
      undefined,
    ],
    [problems.modelNotFound('m'), 404, wrong, 'model_not_found', 'model', 'false', undefined],
    [problems.noProviderEnabled('m'), 503, server, 'provider_unavailable', null, 'true', '60'],
    [
      problems.maxCostExceeded(asMicros(1), 0),
      400,
      wrong,
      'err_invalid_request',
      'max_cost',
      'false',
      undefined,
    ],
    [problems.sourceTooLarge(1), 400, wrong, 'err_invalid_request', 'image', 'false', undefined],
    [problems.sourceNotFetched(0, true), 502, server, 'input_fetch_failed', 'image', 'true', undefined],
    [problems.sourceNotFetched(0, false), 502, server, 'input_fetch_failed', 'image', 'false', undefined],
    [
      problems.overBalance(asMicros(1), asMicros(0), 'u'),
      402,
      'insufficient_quota',
      'insufficient_balance',
      null,
      'false',
      undefined,
    ],
    [over('daily'), 402, 'insufficient_quota', 'daily_budget_exceeded', null, 'false', undefined],
    [over('monthly'), 402, 'insufficient_quota', 'monthly_budget_exceeded', null, 'false', undefined],
    [over('total'), 402, 'insufficient_quota', 'total_budget_exceeded', null, 'false', undefined],
    [over('user'), 402, 'insufficient_quota', 'user_budget_exceeded', null, 'false', undefined],
    [problems.notStarted(creationId), 503, server, 'provider_unavailable', null, 'true', '30'],
    [
      problems.generationFailed(aCreation(), 'GenerationFailed'),
      502,
      server,
      'generation_failed',
      null,
      'true',
      undefined,
    ],
    [problems.overloaded(), 503, server, 'overloaded', null, 'true', '2'],
    [problems.internalError(), 500, server, 'internal_error', null, 'true', undefined],
    [
      new Problem('ERR_CONTENT_POLICY', 'm'),
      400,
      wrong,
      'content_policy_violation',
      null,
      'false',
      undefined,
    ],
    [new Problem('ERR_CONFLICT', 'm'), 409, wrong, 'conflict', null, 'false', undefined],
  ])('%s', (problem, ...expected) => {
    expect(shown(problem)).toEqual(expected);
  });

  it('A source image is named by the name of this endpoint, in the message, too', () => {
    expect(refusedBy(problems.sourceTooLarge(1)).error).toMatchObject({
      message: 'image[1]: must have at most 10 MB',
      param: 'image',
      details: { errors: [{ field: 'image[1]', code: 'too_large' }] },
    });
  });

  it('The param is the first wrong field, without the place below it', () => {
    const problem = invalidRequest([
      { field: 'metadata.order', code: 'too_long', message: 'm' },
      { field: 'size', code: 'invalid_value', message: 'n' },
    ]);
    expect(refusedBy(problem).error).toMatchObject({ param: 'metadata', code: 'err_invalid_request' });
  });

  it.each([
    ['output_format', 'invalid_value', 'unsupported_value'],
    ['background', 'unsupported_value', 'unsupported_value'],
    ['mask', 'unsupported_parameter', 'unsupported_parameter'],
    ['size', 'invalid_value', 'err_invalid_request'],
  ])('The field %s with %s has the code %s', (field, code, expected) => {
    expect(refusedBy(invalidRequest([{ field, code, message: 'm' }])).error.code).toBe(expected);
  });

  it('A refusal of this endpoint has the status of its row', () => {
    const refusal = new OpenaiRefusal('still_rendering', 'm', { headers: { 'retry-after': '1' } });
    expect(shown(refusal)).toEqual([504, server, 'still_rendering', null, 'true', '1']);
    expect(refusal.status).toBe(504);
  });

  it('Each failure of a creation has the status that its row says, and only the request itself is not sent again', () => {
    const rows = failureNames.map((name) => {
      const { status, retry } = errorRows[failureRows[name]];
      return `${name} ${status} ${failureRows[name]} ${String(retry)}`;
    });
    expect(rows).toEqual([
      'PromptRejected 400 content_policy_violation false',
      'SourceImageRejected 400 invalid_image false',
      'GenerationFailed 502 generation_failed true',
      'NothingRendered 502 generation_failed true',
      'GenerationTimedOut 504 generation_timeout true',
      'ServiceUnavailable 503 provider_unavailable true',
      'InternalFailure 502 generation_failed true',
    ]);
  });
});
