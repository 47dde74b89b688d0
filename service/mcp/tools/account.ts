import { getBalance as get } from '../../api/get-balance.ts';
import { modelsOf } from './image-request.ts';
import { listOf, number, objectOf, orNull, text } from './schemas.ts';
import { checkArguments, type Tool } from './tool.ts';

const noInput = objectOf({});

interface BalanceBody {
  readonly available: number;
  readonly key: Readonly<Record<keyof typeof keyMembers, number | null>>;
}

const keyMembers = {
  daily_cap: orNull(number('What the key may spend in a day, in USD. Null: no cap.')),
  spent_today: number('What it has spent today.'),
  monthly_cap: orNull(number('What the key may spend in a month. Null: no cap.')),
  spent: number('What it has spent this month.'),
  total_cap: orNull(number('What the key may spend in all. Null: no cap.')),
  spent_total: number('What it has spent in all.'),
} as const;

export const getBalance: Tool = {
  name: 'get_balance',
  title: 'Get the balance',
  description: 'Tells what the account can spend, and the budgets of the API key.',
  rate: 'get',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: noInput,
  output: objectOf({ available: number('What the account can spend, in USD.'), key: objectOf(keyMembers) }),
  requestOf: () => ({ method: 'GET' }),
  run: async ({ args, request, caller, services }) => {
    checkArguments(args, noInput);
    const { available, key } = (await get(request, caller, services)).body as BalanceBody;
    const { daily_cap, spent_today, monthly_cap, spent, total_cap, spent_total } = key;
    const structuredContent = {
      available,
      key: { daily_cap, spent_today, monthly_cap, spent, total_cap, spent_total },
    };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  },
};

export const listModels: Tool = {
  name: 'list_models',
  title: 'List models',
  description: 'Lists the models that the account can use, with their shapes, sizes and prices.',
  rate: 'get',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: noInput,
  output: objectOf({
    models: listOf(
      objectOf({
        id: text('For the argument model.'),
        name: text('The name for people.'),
        aspect_ratios: listOf({ type: 'string' }, 'The shapes that it renders.'),
        resolutions: listOf({ type: 'string' }, 'The sizes that it renders.'),
        max_image_urls: { type: 'integer', description: 'How many source images it takes.' },
        supports_negative_prompt: { type: 'boolean', description: 'Whether it takes one.' },
        qualities: listOf({ type: 'string' }, 'What quality may be. quote_image tells the price of each.'),
        prices: listOf(
          objectOf({
            resolution: text('The size.'),
            usd: number('The price of one image, in USD.'),
            usd_per_input_image: number('What each source image adds, in USD.'),
          }),
          'One for each size.',
        ),
      }),
      'The models that are available now.',
    ),
  }),
  requestOf: () => ({ method: 'GET' }),
  run: async (call) => {
    checkArguments(call.args, noInput);
    const models = (await modelsOf(call))
      .filter(({ available }) => available)
      .map((model) => ({
        id: model.id,
        name: model.name,
        aspect_ratios: model.aspect_ratios,
        resolutions: model.resolutions,
        max_image_urls: model.max_image_urls,
        supports_negative_prompt: model.supports_negative_prompt,
        qualities: model.qualities,
        prices: model.pricing,
      }));
    const structuredContent = { models };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  },
};
