/** Answers that are held until the creation ends, and requests that are sent again. */
import { asked, body, directives, failing, generate, held } from './api-creations.ts';
import { settle, type ApiGroup, type ApiStep } from './api-step.ts';

export const waitGroups: readonly ApiGroup[] = [
  { name: 'held until completed', steps: [held('generate', asked, 'wait=20')] },
  ...directives.map((directive): ApiGroup => ({
    name: `held until failed by [sandbox:${directive}]`,
    steps: [held('generate', { prompt: `[sandbox:${directive}]` }, 'wait=20')],
  })),
  {
    name: 'held by a preference in another form',
    steps: [
      held('among others', failing, 'handling=lenient, wait=20'),
      held('in quotes', failing, 'wait="20"; foo'),
      held('longer than allowed', failing, 'respond-async, wait=600'),
    ],
  },
  {
    name: 'not held',
    prepare: ({ stage }) => {
      stage.rendering.shut();
    },
    steps: [
      ...['wait=0', 'respond-async', 'wait', 'wait=soon', 'await=5', ''].map((prefer) =>
        generate(`by "${prefer}"`, failing, { headers: { prefer } }),
      ),
      generate('long enough by "wait=1"', failing, {
        headers: { prefer: 'wait=1' },
        after: ({ stage }) => {
          stage.rendering.open();
        },
      }),
    ],
  },
];

const keyed = (what: string, key: string, change: object = {}, more: Partial<ApiStep> = {}): ApiStep =>
  generate(what, change, { ...more, headers: { 'idempotency-key': key, ...more.headers } });

const malformedKeys: readonly (readonly [what: string, key: string])[] = [
  ['empty', ''],
  ['empty in quotes', '""'],
  ['of 256 characters', 'k'.repeat(256)],
  ['of 256 characters in quotes', `"${'q'.repeat(256)}"`],
  ['not ASCII', 'clé'],
  ['with a tab', 'a\tb'],
];

export const repeatGroups: readonly ApiGroup[] = [
  {
    name: 'a repeated request',
    prepare: ({ stage }) => {
      stage.rendering.shut();
    },
    steps: [
      keyed('first', 'order-1', { metadata: { part: 'a', order: '7' } }, { save: 'first' }),
      keyed('while it is queued', 'order-1', { metadata: { order: '7', part: 'a' } }),
      keyed('with spaces around its prompt', 'order-1', {
        prompt: '  a canal\n',
        metadata: { part: 'a', order: '7' },
      }),
      keyed('its key in quotes', '"order-1"', { metadata: { part: 'a', order: '7' } }),
      keyed(
        'not held',
        'order-1',
        { metadata: { part: 'a', order: '7' } },
        { headers: { prefer: 'wait=0' } },
      ),
      keyed('with another prompt', 'order-1', { prompt: 'a lake' }),
      keyed('with one field more', 'order-1', { metadata: { part: 'a', order: '7' }, seed: 1 }),
      keyed('with a field that is wrong', 'order-1', { seed: -1 }),
      keyed(
        'under another key',
        'order-2',
        { prompt: '[sandbox:fail]' },
        {
          save: 'other',
          after: ({ stage }) => {
            stage.rendering.open();
          },
        },
      ),
      keyed(
        'when it is completed',
        'order-1',
        { metadata: { part: 'a', order: '7' } },
        { before: settle('first') },
      ),
      keyed(
        'held when it is completed',
        'order-1',
        { metadata: { part: 'a', order: '7' } },
        { headers: { prefer: 'wait=20' } },
      ),
      keyed('with another prompt when it is completed', 'order-1', { prompt: 'a lake' }),
      keyed(
        'after the other one failed',
        'order-2',
        { prompt: 'another [sandbox:fail]' },
        { before: settle('other') },
      ),
    ],
  },
  {
    name: 'an Idempotency-Key',
    steps: [
      ...malformedKeys.map(([what, key]) => keyed(what, key, failing)),
      // Both are refunded before the quote, which tells what the account can spend.
      keyed('of 255 characters', 'k'.repeat(255), failing, { save: 'long', after: settle('long') }),
      keyed('with spaces and marks', 'order 7; "part" a/b = {c}', failing, {
        save: 'marked',
        after: settle('marked'),
      }),
      { what: 'of a quote', send: 'POST /images/quote', body, headers: { 'idempotency-key': 'order-1' } },
    ],
  },
  {
    name: 'a repeated request of an account that could not pay it now',
    client: { balance: '0.01' },
    steps: [
      keyed('first', 'order-1', {}, { save: 'first', after: settle('first') }),
      keyed('again', 'order-1'),
      keyed('under another key', 'order-2'),
      keyed(
        'with a model that is hidden by now',
        'order-1',
        {},
        {
          before: async ({ stage, client }) =>
            stage.service.operator.accounts.change(client.account.id, {
              hiddenModels: ['sandbox-sketch'],
              providers: [],
            }),
        },
      ),
    ],
  },
];
