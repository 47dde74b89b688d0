import { afterAll, describe, expect, it } from 'vitest';
import catalog from '../../service/catalog/models.json' with { type: 'json' };
import { type Answer, type Client, sharedTestService } from '../fixtures/service.ts';
import { anyText } from '../fixtures/values.ts';
import { everyAnswer } from './every-answer.ts';
import { fieldsOf, refusalOf } from './refusal.ts';

const service = await sharedTestService();
afterAll(() => service.end());

interface Policy {
  readonly providers?: 'all' | readonly string[];
  readonly hiddenModels?: readonly string[];
}

async function clientWith(policy: Policy): Promise<Client> {
  const client = await service.client();
  if (Object.keys(policy).length > 0) await service.operator.accounts.change(client.account.id, policy);
  return client;
}

/** The answer to a submission. A quote of the same body must get the same refusal. */
async function judge(client: Client, body: object): Promise<Answer> {
  const [submitted, quoted] = await Promise.all(
    ['/images/generate', '/images/quote'].map((path) =>
      service.send(path, { key: client.key, body: { prompt: 'a dune [sandbox:fail]', ...body } }),
    ),
  );
  if (!submitted || !quoted) throw new Error('two were asked');
  expect(quoted.status).toBe(submitted.status === 202 ? 200 : submitted.status);
  if (submitted.status >= 400) expect(quoted.text).toBe(submitted.text);
  return submitted;
}

interface ModelView {
  readonly id: string;
  readonly available: boolean;
  readonly unavailable_reason: string | null;
  readonly resolutions: string[];
  readonly aspect_ratios: string[];
  readonly max_image_urls: number;
  readonly pricing: { resolution: string }[];
}

async function models({ key }: Client): Promise<Map<string, ModelView>> {
  const { data } = (await service.send('/models', { key })).body as { data: ModelView[] };
  return new Map(data.map((model) => [model.id, model]));
}

const noRoute = {
  status: 400,
  code: 'ERR_INVALID_REQUEST',
  details: { reason: 'provider_policy_no_route', errors: [] },
};
const noProvider = {
  status: 503,
  code: 'ERR_PROVIDER_UNAVAILABLE',
  details: { reason: 'no_provider_enabled' },
};

describe('404 ERR_MODEL_NOT_FOUND', () => {
  it('A model that does not exist and a model that is hidden from the account get the same answer apart from the name', async () => {
    const client = await clientWith({ hiddenModels: ['sandbox-pro'] });
    const [absent, hidden] = [
      await judge(client, { model: 'no-such-one' }),
      await judge(client, { model: 'sandbox-pro' }),
    ];
    expect(refusalOf(hidden)).toEqual({ status: 404, code: 'ERR_MODEL_NOT_FOUND', details: {} });
    expect(hidden.text.replace('sandbox-pro', 'no-such-one')).toBe(absent.text);
  });

  it('The code comes before any refusal of what the model cannot take', async () => {
    const client = await clientWith({ hiddenModels: ['sandbox-sketch'] });
    expect(refusalOf(await judge(client, { model: 'sandbox-sketch', resolution: '4K' })).status).toBe(404);
  });
});

describe('400 ERR_INVALID_REQUEST, provider_policy_no_route', () => {
  it('The code comes when no enabled provider renders the model at the resolution', async () => {
    const client = await clientWith({ providers: ['sandbox'] });
    expect(refusalOf(await judge(client, { model: 'sandbox-pro', resolution: '4K' }))).toEqual(noRoute);
    expect((await judge(client, { model: 'sandbox-pro', resolution: '2K' })).status).toBe(202);
  });

  it('The code comes when no enabled provider renders the model at the aspect ratio', async () => {
    const client = await clientWith({ providers: ['sandbox'] });
    expect(
      refusalOf(await judge(client, { model: 'sandbox-pro', resolution: '2K', aspect_ratio: '21:9' })),
    ).toEqual(noRoute);
  });

  it('The code comes when no single provider renders the resolution and the ratio together', async () => {
    const client = await clientWith({ providers: 'all' });
    expect(
      refusalOf(await judge(client, { model: 'sandbox-pro', resolution: '1K', aspect_ratio: '21:9' })),
    ).toEqual(noRoute);
  });

  it('The code comes when the model never renders the resolution or the ratio', async () => {
    const client = await clientWith({ providers: 'all' });
    expect(refusalOf(await judge(client, { model: 'sandbox-sketch', resolution: '4K' }))).toEqual(noRoute);
    expect(refusalOf(await judge(client, { model: 'sandbox-sketch', aspect_ratio: '21:9' }))).toEqual(
      noRoute,
    );
  });

  it('An output format that the model does not have is a wrong field instead', async () => {
    const client = await clientWith({ providers: 'all' });
    const answer = await judge(client, { model: 'sandbox-sketch', output_format: 'webp' });
    expect([answer.status, ...fieldsOf(answer)]).toEqual([400, 'output_format: invalid_value']);
  });
});

describe('503 ERR_PROVIDER_UNAVAILABLE, no_provider_enabled', () => {
  it('The code comes when no provider of the model is enabled, nothing is charged, and enabling one clears the refusal', async () => {
    const client = await clientWith({ providers: ['sandbox-large'] });
    const answer = await judge(client, { model: 'sandbox-sketch' });
    expect(refusalOf(answer)).toEqual(noProvider);
    expect([answer.headers.get('retry-after'), answer.headers.get('x-should-retry')]).toEqual([
      null,
      'false',
    ]);
    const message =
      'No provider of sandbox-sketch is enabled for this account. Nothing was charged. Available models: sandbox-pro, sandbox-panorama.';
    expect(answer.body).toMatchObject({ error: { message } });
    expect((await service.account(client.account.id)).availableMicros).toBe(25_000_000);
    await service.operator.accounts.change(client.account.id, { providers: 'all' });
    expect((await judge(client, { model: 'sandbox-sketch' })).status).toBe(202);
  });

  it('The code comes for every model when no provider is enabled at all', async () => {
    const client = await clientWith({ providers: [] });
    expect(refusalOf(await judge(client, { model: 'sandbox-pro', resolution: '4K' }))).toEqual(noProvider);
  });
});

describe('GET /models for an account', () => {
  it('With all providers, the list has every model with everything that the model can do', async () => {
    const client = await clientWith({});
    const answer = await service.send('/models', { key: client.key });
    expect([...(await models(client)).keys()]).toEqual(catalog.models.map(({ id }) => id));
    expect(answer.body).toHaveProperty('data[1]', {
      id: 'sandbox-standard',
      name: 'Sandbox Standard',
      description: anyText,
      available: true,
      unavailable_reason: null,
      supports_image_input: true,
      max_image_urls: 4,
      max_prompt_length: 4000,
      supports_negative_prompt: true,
      max_count: 4,
      supports_background: true,
      supports_mask: true,
      resolutions: ['1K', '2K'],
      aspect_ratios: ['1:1', '3:2', '2:3', '4:3', '3:4', '5:4', '4:5', '16:9', '9:16'],
      output_formats: ['png', 'jpeg'],
      default_resolution: '1K',
      default_aspect_ratio: '1:1',
      default_output_format: 'png',
      pricing: [
        { resolution: '1K', usd: 0.04, usd_per_input_image: 0.005 },
        { resolution: '2K', usd: 0.08, usd_per_input_image: 0.005 },
      ],
      qualities: ['low', 'medium', 'high'],
      quality_pricing: ['low', 'medium', 'high'].flatMap((quality) => [
        { quality, resolution: '1K', usd: 0.04, usd_per_input_image: 0.005 },
        { quality, resolution: '2K', usd: 0.08, usd_per_input_image: 0.005 },
      ]),
      deprecated_at: null,
      sunset_at: null,
      successor: null,
    });
  });

  it('With one provider, the list has the resolutions, ratios and prices that this provider renders', async () => {
    const seen = await models(await clientWith({ providers: ['sandbox'] }));
    expect(seen.get('sandbox-pro')).toMatchObject({ available: true, resolutions: ['1K', '2K'] });
    expect(seen.get('sandbox-pro')?.aspect_ratios).not.toContain('21:9');
    expect(seen.get('sandbox-pro')?.pricing.map(({ resolution }) => resolution)).toEqual(['1K', '2K']);
  });

  it('With the second sandbox alone, the list has the defaults of that provider, and the least request is rendered with them', async () => {
    const client = await clientWith({ providers: ['sandbox-large'] });
    expect((await models(client)).get('sandbox-pro')).toMatchObject({
      resolutions: ['2K', '4K'],
      default_resolution: '2K',
    });
    const answer = await judge(client, { model: 'sandbox-pro' });
    expect(answer).toMatchObject({
      status: 202,
      body: { resolution: '2K', aspect_ratio: '1:1', output_format: 'jpeg', cost: 0.12 },
    });
  });

  it('A model without an enabled provider is listed as unavailable, with the reason', async () => {
    const seen = await models(await clientWith({ providers: ['sandbox'] }));
    expect(seen.get('sandbox-panorama')).toMatchObject({
      available: false,
      unavailable_reason: 'no_provider_enabled',
      resolutions: [],
      aspect_ratios: [],
      pricing: [],
    });
  });

  it('A hidden model is absent', async () => {
    const seen = await models(await clientWith({ hiddenModels: ['sandbox-pro'] }));
    expect([...seen.keys()]).toEqual(catalog.models.map(({ id }) => id).filter((id) => id !== 'sandbox-pro'));
  });

  it('The list names no provider, no provider model and no provider cost', async () => {
    const { text } = await service.send('/models', { key: (await clientWith({})).key });
    expect(text).not.toMatch(/"provider|provider_model|provider_cost|routes|checked_at/);
  });

  it('Everything that the list offers can be ordered', async () => {
    const client = await service.client({ postRate: '1000' });
    for (const model of (await models(client)).values()) {
      for (const resolution of model.resolutions) {
        const answers = await Promise.all(
          model.aspect_ratios.map((aspect_ratio) =>
            service.send('/images/quote', {
              key: client.key,
              body: { model: model.id, prompt: 'x', resolution, aspect_ratio },
            }),
          ),
        );
        // A ratio may exist at one resolution only, so at least one ratio has to work at each resolution.
        expect(
          answers.some(({ status }) => status === 200),
          `${model.id} at ${resolution}`,
        ).toBe(true);
      }
    }
  });
});

everyAnswer(() => service);
