/** The life of creations: each state, lists, held answers, repeated requests, webhooks. */
import { recordWhen } from '../workflow/creations.ts';
import { ended, settle, type ApiGroup, type ApiStep, type ReceivedStep, type Scene } from './api-step.ts';

const body = { model: 'sandbox-sketch', prompt: 'a canal' };
const failing = { ...body, prompt: 'a canal [sandbox:fail]' };
const asked = { ...body, prompt: ' a canal ', aspect_ratio: '3:2', output_format: 'jpeg', seed: 7, metadata: { order: '7' } };

const generate = (what: string, change: object = {}, more: Partial<ApiStep> = {}): ApiStep =>
  ({ what, send: 'POST /images/generate', body: { ...body, ...change }, ...more });
const show = (what: string, name: string, more: Partial<ApiStep> = {}): ApiStep => ({ what, send: `GET /creations/{${name}}`, ...more });
const list = (what: string, query: string, more: Partial<ApiStep> = {}): ApiStep => ({ what, send: `GET /creations${query}`, ...more });

/** A path of the receiver that answers so, as `{name}`. */
export const hook = (name: string, path: string, ...statuses: number[]) => ({ stage, values }: Scene): void => {
  values.set(name, stage.receiver.hook(path, ...statuses));
};

/** The sandbox's directives, each with the message that the interface gives to its failure. */
const directives = ['reject-prompt', 'reject-image', 'fail', 'empty', 'down'];

const failures: readonly ApiGroup[] = directives.map((directive): ApiGroup => ({
  name: `failed by [sandbox:${directive}]`,
  prepare: hook('hook', `failed-${directive}`, 200),
  steps: [
    generate('submitted', { prompt: `a canal [sandbox:${directive}]`, webhook_url: '{hook}' }, { save: 'made', after: settle('made') }),
    show('shown', 'made'),
    { what: 'its webhook', received: 'hook' },
    { what: 'the balance', send: 'GET /balance' },
  ],
}));

const held = (what: string, change: object, prefer: string): ApiStep =>
  generate(what, change, { headers: { prefer }, ended: true });

const waits: readonly ApiGroup[] = [
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
    prepare: ({ stage }) => { stage.rendering.shut(); },
    steps: [
      ...['wait=0', 'respond-async', 'wait', 'wait=soon', 'await=5', ''].map((prefer) =>
        generate(`by "${prefer}"`, failing, { headers: { prefer } })),
      generate('long enough by "wait=1"', failing, { headers: { prefer: 'wait=1' }, after: ({ stage }) => { stage.rendering.open(); } }),
    ],
  },
];

const keyed = (what: string, key: string, change: object = {}, more: Partial<ApiStep> = {}): ApiStep =>
  generate(what, change, { ...more, headers: { 'idempotency-key': key, ...more.headers } });

const malformedKeys: readonly (readonly [what: string, key: string])[] = [
  ['empty', ''], ['empty in quotes', '""'], ['of 256 characters', 'k'.repeat(256)],
  ['of 256 characters in quotes', `"${'q'.repeat(256)}"`], ['not ASCII', 'clé'], ['with a tab', 'a\tb'],
];

const repeats: readonly ApiGroup[] = [
  {
    name: 'a repeated request',
    prepare: ({ stage }) => { stage.rendering.shut(); },
    steps: [
      keyed('first', 'order-1', { metadata: { part: 'a', order: '7' } }, { save: 'first' }),
      keyed('while it is queued', 'order-1', { metadata: { order: '7', part: 'a' } }),
      keyed('with spaces around its prompt', 'order-1', { prompt: '  a canal\n', metadata: { part: 'a', order: '7' } }),
      keyed('its key in quotes', '"order-1"', { metadata: { part: 'a', order: '7' } }),
      keyed('not held', 'order-1', { metadata: { part: 'a', order: '7' } }, { headers: { prefer: 'wait=0' } }),
      keyed('with another prompt', 'order-1', { prompt: 'a lake' }),
      keyed('with one field more', 'order-1', { metadata: { part: 'a', order: '7' }, seed: 1 }),
      keyed('with a field that is wrong', 'order-1', { seed: -1 }),
      keyed('under another key', 'order-2', { prompt: '[sandbox:fail]' }, { save: 'other', after: ({ stage }) => { stage.rendering.open(); } }),
      keyed('when it is completed', 'order-1', { metadata: { part: 'a', order: '7' } }, { before: settle('first') }),
      keyed('held when it is completed', 'order-1', { metadata: { part: 'a', order: '7' } }, { headers: { prefer: 'wait=20' } }),
      keyed('with another prompt when it is completed', 'order-1', { prompt: 'a lake' }),
      keyed('after the other one failed', 'order-2', { prompt: 'another [sandbox:fail]' }, { before: settle('other') }),
    ],
  },
  {
    name: 'an Idempotency-Key',
    steps: [
      ...malformedKeys.map(([what, key]) => keyed(what, key, failing)),
      keyed('of 255 characters', 'k'.repeat(255), failing),
      keyed('with spaces and marks', 'order 7; "part" a/b = {c}', failing),
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
      keyed('with a model that is hidden by now', 'order-1', {}, {
        before: async ({ stage, client }) =>
          stage.service.operator.accounts.change(client.account.id, { hiddenModels: ['sandbox-sketch'], providers: [] }),
      }),
    ],
  },
];

const states: readonly ApiGroup[] = [
  {
    name: 'completed',
    prepare: hook('hook', 'completed', 204),
    steps: [
      generate('submitted', { ...asked, webhook_url: '{hook}' }, { save: 'made', after: settle('made') }),
      show('shown', 'made'),
      show('polled within a second', 'made'),
      { what: 'its webhook', received: 'hook' },
      list('listed', ''),
    ],
  },
  {
    name: 'queued, then processing',
    prepare: ({ stage }) => {
      stage.rendering.shut();
      stage.storing.shut();
    },
    steps: [
      generate('submitted', { ...asked, webhook_url: '{inbox}' }, { save: 'first' }),
      generate('another one', {}, { save: 'second' }),
      show('queued', 'first'),
      { what: 'the balance', send: 'GET /balance', after: ({ stage }) => { stage.rendering.open(); } },
      show('processing', 'second', {
        before: async ({ stage, values }) => recordWhen(stage.service, values.get('second') ?? '', ({ status }) => status !== 'queued'),
        after: ({ stage }) => { stage.storing.open(); },
      }),
    ],
  },
  {
    name: 'rendered by the provider that stands in',
    steps: [
      generate('submitted', { model: 'sandbox-pro', resolution: '2K', prompt: 'a canal [sandbox:down=sandbox]' }, { save: 'made', after: ended('made') }),
      show('shown', 'made'),
    ],
  },
  {
    name: 'a webhook without a secret',
    prepare: async (scene) => {
      hook('hook', 'unsigned', 200)(scene);
      const { accounts } = scene.stage.service.operator;
      const account = await scene.stage.service.account(scene.client.account.id);
      await accounts.replaceSecrets(account.id, account.webhookSecrets[0], []);
    },
    steps: [generate('submitted', { ...failing, webhook_url: '{hook}' }, { save: 'made', after: settle('made') }), show('shown', 'made')],
  },
  {
    name: 'a webhook whose receiver is gone',
    prepare: hook('hook', 'gone', 410),
    steps: [
      generate('submitted', { ...failing, webhook_url: '{hook}' }, { save: 'made', after: settle('made') }),
      show('shown', 'made'),
      { what: 'its only webhook', received: 'hook' },
    ],
  },
];

const lists: ApiGroup = {
  name: 'a list',
  steps: [
    list('of nothing', ''),
    generate('one', { prompt: 'one' }, { save: 'one', after: settle('one') }),
    ...['two', 'three', 'four', 'five'].map((name) =>
      generate(name, { prompt: `${name} [sandbox:fail]` }, { save: name, after: settle(name) })),
    list('of everything', ''),
    list('of two', '?limit=2', { save: 'cursor' }),
    list('of two more', '?limit=2&cursor={cursor}', { save: 'last' }),
    list('of what is left', '?limit=2&cursor={last}'),
    list('of those that failed', '?status=failed'),
    list('of two that failed', '?status=failed&limit=2', { save: 'failed' }),
    list('of the other that failed', '?status=failed&limit=2&cursor={failed}'),
    list('of those that completed', '?status=completed'),
    list('of those that are queued', '?status=queued'),
    list('of those that are processing', '?status=processing'),
    list('of a model', '?model=sandbox-sketch&limit=1'),
    list('of another model', '?model=sandbox-pro'),
    list('of a model and a status', '?model=sandbox-sketch&status=completed'),
  ],
};

/** What needs the time to move is played alone, at the end. */
const retried: readonly (ApiStep | ReceivedStep)[] = [
  generate('submitted', { ...failing, metadata: { Straße: 'größer — 湖' }, webhook_url: '{hook}' }, { save: 'made', after: ended('made') }),
  { what: 'the first attempt', received: 'hook' },
  { what: 'the second attempt', received: 'hook', place: 1, before: async ({ stage }) => stage.pass(70) },
  show('shown', 'made', { before: settle('made') }),
];

/** Until the newest creation of the account is being rendered. */
const rendering = async ({ stage, client }: Scene): Promise<void> => {
  const { creations } = stage.service.operator;
  for (;;) {
    const [newest] = await creations.list(client.account.id, 1);
    if (newest === undefined) continue;
    await recordWhen(stage.service, newest.id, ({ status }) => status !== 'queued');
    return;
  }
};

/** A hanging provider fails by the deadline. */
const overdue = async (scene: Scene): Promise<void> => {
  await rendering(scene);
  scene.stage.leap(3);
};

/** A crashed rendering is tried again, after a while. */
const triedAgain = async (scene: Scene): Promise<void> => {
  await rendering(scene);
  await scene.stage.pass(30);
};

const late: readonly ApiGroup[] = [
  {
    name: 'failed by [sandbox:hang]',
    client: { deadline: '2' },
    prepare: hook('hook', 'failed-hang', 200),
    steps: [
      generate('submitted', { prompt: '[sandbox:hang]', webhook_url: '{hook}' }, { save: 'made', after: overdue }),
      show('shown', 'made', { before: settle('made') }),
      { what: 'its webhook', received: 'hook' },
    ],
  },
  {
    name: 'held until failed by [sandbox:hang]',
    client: { deadline: '2' },
    steps: [{ ...held('generate', { prompt: '[sandbox:hang]' }, 'wait=20'), meanwhile: overdue }],
  },
  {
    name: 'failed by [sandbox:crash]',
    prepare: hook('hook', 'failed-crash', 200),
    steps: [
      generate('submitted', { prompt: '[sandbox:crash]', webhook_url: '{hook}' }, { save: 'made', after: triedAgain }),
      show('shown', 'made', { before: settle('made') }),
      { what: 'its webhook', received: 'hook' },
    ],
  },
];

export const creationGroups: readonly ApiGroup[] = [...states, lists, ...failures, ...waits, ...repeats];

export const timedGroups: readonly ApiGroup[] = [
  { name: 'a webhook that fails once', prepare: hook('hook', 'recovering', 503, 200), steps: retried },
  ...late,
];
