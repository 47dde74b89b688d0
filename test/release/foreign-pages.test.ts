/** Any page of the web can make its visitor's browser send requests. They must not lock out the visitor's network. */
import type { Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { serve, unknownRoute } from '../../service/api/serve.ts';
import { openaiModels } from '../../service/openai/models.ts';
import type { OpenaiModelServices } from '../../service/openai/open.ts';
import { inOpenaiForm } from '../../service/openai/serve-openai.ts';
import { accepting, post, type Stage, type StageServices } from '../api/serve-fixture.ts';
import { now } from '../fixtures/records.ts';
import { mcpEvent, mcpStage, rpc, sendEvent } from '../mcp/mcp-fixture.ts';
import { restEvent } from '../openai/openai-fixture.ts';

type Headers = Readonly<Record<string, string>>;
type Door = (
  headers: Headers,
  method?: string,
) => Promise<{ readonly status: number | undefined; readonly stage: Stage }>;

const doors: Readonly<Record<string, Door>> = {
  'the API': async (headers, method = 'GET') => {
    const stage = accepting({});
    const handler = serve('by method', unknownRoute, stage.open);
    return {
      status: (await post(stage, undefined, { handler, headers, method: method as 'GET' })).status,
      stage,
    };
  },
  'the endpoint in the shape of OpenAI': async (headers, method) => {
    const stage = accepting({});
    const open = () => stage.open() as OpenaiModelServices & StageServices;
    const event = restEvent({
      headers: { Authorization: '', ...headers },
      ...(method !== undefined && { method }),
    });
    const answer = await inOpenaiForm(openaiModels, open)(event, {} as Context);
    if (typeof answer.body !== 'string') for await (const part of answer.body) void part;
    return { status: answer.status, stage };
  },
  'the MCP endpoint': async (headers, method) => {
    const stage = mcpStage();
    const sent = { headers: { Authorization: '', ...headers }, ...(method !== undefined && { method }) };
    return { status: (await sendEvent(stage, mcpEvent(rpc('tools/list'), sent))).status, stage };
  },
};

describe.each(Object.entries(doors))('%s', (_name, ask) => {
  it('A request without a key that a page of another site caused is 401 and not counted', async () => {
    const { status, stage } = await ask({ 'sec-fetch-site': 'cross-site' });
    expect([status, stage.rejections]).toEqual([401, []]);
  });

  it.each<[string, Headers]>([
    ['that no browser sends', {}],
    ['that a person typed', { 'sec-fetch-site': 'none' }],
    ['of a page of the same site', { 'sec-fetch-site': 'same-site' }],
  ])('A request without a key %s is counted as one without a key', async (_kind, headers) => {
    const { status, stage } = await ask(headers);
    expect([status, stage.rejections]).toEqual([401, [['203.0.113.7', 'keyless', now]]]);
  });

  it('A wrong key is counted, whatever the request says of its site: a guess can say anything', async () => {
    const key = 'Bearer dk_live_nothing';
    const { status, stage } = await ask({
      'sec-fetch-site': 'cross-site',
      Authorization: key,
      authorization: key,
    });
    expect([status, stage.rejections]).toEqual([401, [['203.0.113.7', '401', now]]]);
  });

  it('The question of a browser before a request of another site needs no key, is not counted and allows nothing', async () => {
    const preflight = { origin: 'https://page.test', 'access-control-request-method': 'POST' };
    const { status, stage } = await ask(preflight, 'OPTIONS');
    expect([status === 204 || status === 405, stage.rejections, stage.questions]).toEqual([true, [], []]);
  });
});
