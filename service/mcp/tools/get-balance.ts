import { getBalance as get } from '../../api/get-balance.ts';
import { number, objectOf, orNull } from './schemas.ts';
import { checkArguments, type Tool } from './tool.ts';

const input = objectOf({});

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
  input,
  output: objectOf({ available: number('What the account can spend, in USD.'), key: objectOf(keyMembers) }),
  requestOf: () => ({ method: 'GET' }),
  run: async ({ args, request, caller, services }) => {
    checkArguments(args, input);
    const { available, key } = (await get(request, caller, services)).body as BalanceBody;
    const { daily_cap, spent_today, monthly_cap, spent, total_cap, spent_total } = key;
    const structuredContent = {
      available,
      key: { daily_cap, spent_today, monthly_cap, spent, total_cap, spent_total },
    };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  },
};
