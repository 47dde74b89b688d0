/** What a request costs, and who may pay it; what an account may render. */
import { issueKey } from '../../admin/commands/keys.ts';
import type { NewClient } from '../fixtures/service.ts';
import { settle, type ApiGroup, type ApiStep, type Scene } from './api-step.ts';

const sketch = { model: 'sandbox-sketch', prompt: 'a mill [sandbox:fail]' };
const standard = { model: 'sandbox-standard', prompt: 'a mill [sandbox:fail]' };
const generate = (what: string, body: object = sketch): ApiStep => ({
  what,
  send: 'POST /images/generate',
  body,
});
const quote = (what: string, body: object = sketch): ApiStep => ({ what, send: 'POST /images/quote', body });
const balance = (what: string): ApiStep => ({ what, send: 'GET /balance' });

interface Policy {
  readonly providers?: 'all' | readonly string[];
  readonly hiddenModels?: readonly string[];
}

const policy =
  (change: Policy) =>
  async ({ stage, client }: Scene): Promise<void> => {
    await stage.service.operator.accounts.change(client.account.id, change);
  };

/** Both operations judge alike; a quote is recorded of each, a submission where it is refused. */
const judged = (what: string, body: object): ApiStep[] => [
  quote(`quote ${what}`, { prompt: 'a dune', ...body }),
  generate(`generate ${what}`, { prompt: 'a dune', ...body }),
];

const anotherKey = async ({ stage: { service }, client, values }: Scene): Promise<void> => {
  const { key } = await issueKey(service.operator, client.account, { name: 'without a cap' });
  values.set('uncapped', key);
};

const poor: NewClient = { balance: '0.01', creditLine: '0.02' };

export const moneyGroups: readonly ApiGroup[] = [
  {
    name: 'an empty wallet',
    client: { balance: '0' },
    steps: [balance('balance'), quote('quote'), generate('generate')],
  },
  {
    name: 'a small credit line',
    client: poor,
    // The refund of what is paid would come at any moment.
    prepare: ({ stage }) => {
      stage.rendering.shut();
    },
    steps: [
      quote('quote beyond it', standard),
      generate('generate beyond it', standard),
      generate('generate within the balance'),
      generate('generate on credit'),
      balance('balance below zero'),
      {
        ...generate('generate with the last cents'),
        after: ({ stage }) => {
          stage.rendering.open();
        },
      },
    ],
  },
  {
    name: 'a monthly budget',
    client: { monthlyCap: '0.025' },
    prepare: async (scene) => {
      await anotherKey(scene);
      scene.stage.rendering.shut();
    },
    steps: [
      balance('balance before'),
      generate('first'),
      generate('second'),
      quote('a quote is not bound by it'),
      generate('over the budget'),
      { ...generate('another key of the account'), key: '{uncapped}' },
      {
        ...balance('balance after'),
        after: ({ stage }) => {
          stage.rendering.open();
        },
      },
    ],
  },
  {
    name: 'a budget of nothing, no balance and no room',
    client: { balance: '0', monthlyCap: '0', maxConcurrent: '0' },
    prepare: anotherKey,
    steps: [
      generate('the budget comes first'),
      { ...generate('then the balance'), key: '{uncapped}' },
      {
        ...generate('then the room'),
        key: '{uncapped}',
        before: async ({ stage, client }) =>
          stage.service.operator.wallet.topUp(client.account.id, 1_000_000 as never, 'paid'),
      },
    ],
  },
  {
    name: 'two creations at once',
    client: { maxConcurrent: '2' },
    prepare: ({ stage }) => {
      stage.rendering.shut();
    },
    steps: [
      { ...generate('first'), save: 'first' },
      { ...generate('second'), save: 'second' },
      generate('one too many'),
      quote('a quote needs no room'),
      {
        ...balance('balance'),
        after: ({ stage }) => {
          stage.rendering.open();
        },
      },
      { ...generate('room again'), before: settle('first', 'second') },
    ],
  },
  {
    name: 'refunded in full',
    client: { balance: '1', monthlyCap: '1' },
    steps: [
      { ...generate('charged and failed'), save: 'failed', after: settle('failed') },
      balance('balance'),
    ],
  },
];

export const policyGroups: readonly ApiGroup[] = [
  { name: 'all providers', steps: [{ what: 'models', send: 'GET /models' }] },
  {
    name: 'the first sandbox alone',
    prepare: policy({ providers: ['sandbox'] }),
    steps: [
      { what: 'models', send: 'GET /models' },
      ...judged('4K, which only the other renders', { model: 'sandbox-pro', resolution: '4K' }),
      ...judged('21:9, which only the other renders', { model: 'sandbox-pro', aspect_ratio: '21:9' }),
      ...judged('a model of the other', { model: 'sandbox-panorama' }),
    ],
  },
  {
    name: 'the second sandbox alone',
    prepare: policy({ providers: ['sandbox-large'] }),
    steps: [
      { what: 'models', send: 'GET /models' },
      quote('the least of a model', { model: 'sandbox-pro', prompt: 'a dune' }),
      ...judged('1K, which it does not render', { model: 'sandbox-pro', resolution: '1K' }),
      ...judged('a model of the other', { model: 'sandbox-sketch' }),
    ],
  },
  {
    name: 'no provider',
    prepare: policy({ providers: [] }),
    steps: [
      { what: 'models', send: 'GET /models' },
      ...judged('any model', { model: 'sandbox-pro', resolution: '4K' }),
    ],
  },
  {
    name: 'hidden models',
    prepare: policy({ hiddenModels: ['sandbox-pro', 'sandbox-sketch'] }),
    steps: [
      { what: 'models', send: 'GET /models' },
      ...judged('a hidden model', { model: 'sandbox-pro' }),
      ...judged('a hidden model with what it could not take', { model: 'sandbox-sketch', resolution: '4K' }),
      ...judged('a model that is still seen', { model: 'sandbox-standard', resolution: '4K' }),
    ],
  },
];
