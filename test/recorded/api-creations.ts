/** The life of creations: each state, lists, failures, webhooks. */
import { recordWhen } from '../whole/workflow/creations.ts';
import { ended, settle, type ApiGroup, type ApiStep, type ReceivedStep, type Scene } from './api-step.ts';

export const body = { model: 'sandbox-sketch', prompt: 'a canal' };
export const failing = { ...body, prompt: 'a canal [sandbox:fail]' };
export const asked = {
  ...body,
  prompt: ' a canal ',
  aspect_ratio: '3:2',
  output_format: 'jpeg',
  seed: 7,
  metadata: { order: '7' },
};

export const generate = (what: string, change: object = {}, more: Partial<ApiStep> = {}): ApiStep => ({
  what,
  send: 'POST /images/generate',
  body: { ...body, ...change },
  ...more,
});
const show = (what: string, name: string, more: Partial<ApiStep> = {}): ApiStep => ({
  what,
  send: `GET /creations/{${name}}`,
  ...more,
});
const list = (what: string, query: string, more: Partial<ApiStep> = {}): ApiStep => ({
  what,
  send: `GET /creations${query}`,
  ...more,
});

/** A path of the receiver that answers so, as `{name}`. */
const hook =
  (name: string, path: string, ...statuses: number[]) =>
  ({ stage, values }: Scene): void => {
    values.set(name, stage.receiver.hook(path, ...statuses));
  };

/** The sandbox's directives, each with the message that the interface gives to its failure. */
export const directives = ['reject-prompt', 'reject-image', 'fail', 'empty', 'down'];

const failures: readonly ApiGroup[] = directives.map((directive): ApiGroup => ({
  name: `failed by [sandbox:${directive}]`,
  prepare: hook('hook', `failed-${directive}`, 200),
  steps: [
    generate(
      'submitted',
      { prompt: `a canal [sandbox:${directive}]`, webhook_url: '{hook}' },
      { save: 'made', after: settle('made') },
    ),
    show('shown', 'made'),
    { what: 'its webhook', received: 'hook' },
    { what: 'the balance', send: 'GET /balance' },
  ],
}));

export const held = (what: string, change: object, prefer: string): ApiStep =>
  generate(what, change, { headers: { prefer }, ended: true });

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
      {
        what: 'the balance',
        send: 'GET /balance',
        after: ({ stage }) => {
          stage.rendering.open();
        },
      },
      show('processing', 'second', {
        before: async ({ stage, values }) =>
          recordWhen(stage.service, values.get('second') ?? '', ({ status }) => status !== 'queued'),
        after: ({ stage }) => {
          stage.storing.open();
        },
      }),
    ],
  },
  {
    name: 'rendered by the provider that stands in',
    steps: [
      generate(
        'submitted',
        { model: 'sandbox-pro', resolution: '2K', prompt: 'a canal [sandbox:down=sandbox]' },
        { save: 'made', after: ended('made') },
      ),
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
    steps: [
      generate('submitted', { ...failing, webhook_url: '{hook}' }, { save: 'made', after: settle('made') }),
      show('shown', 'made'),
    ],
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
      generate(name, { prompt: `${name} [sandbox:fail]` }, { save: name, after: settle(name) }),
    ),
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
  generate(
    'submitted',
    { ...failing, metadata: { Straße: 'größer — 湖' }, webhook_url: '{hook}' },
    { save: 'made', after: ended('made') },
  ),
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
      generate(
        'submitted',
        { prompt: '[sandbox:hang]', webhook_url: '{hook}' },
        { save: 'made', after: overdue },
      ),
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
      generate(
        'submitted',
        { prompt: '[sandbox:crash]', webhook_url: '{hook}' },
        { save: 'made', after: triedAgain },
      ),
      show('shown', 'made', { before: settle('made') }),
      { what: 'its webhook', received: 'hook' },
    ],
  },
];

export const creationGroups: readonly ApiGroup[] = [...states, lists, ...failures];

export const timedGroups: readonly ApiGroup[] = [
  { name: 'a webhook that fails once', prepare: hook('hook', 'recovering', 503, 200), steps: retried },
  ...late,
];
