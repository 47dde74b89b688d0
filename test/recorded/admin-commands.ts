/** Invocations of the operator's command: each command, what it refuses, and its help. */
import type { AdminGroup, AdminStep } from './admin-step.ts';
import { settle, type Scene } from './api-step.ts';
import { absentId } from './normalise.ts';

const commands: Readonly<Record<string, readonly string[]>> = {
  accounts: ['create', 'list', 'show', 'set'],
  keys: ['create', 'list', 'revoke', 'set'],
  'operator-keys': ['create', 'list', 'set', 'revoke'],
  wallet: ['top-up', 'adjust', 'ledger'],
  webhooks: ['secret', 'rotate', 'reseal', 'log', 'redeliver', 'test'],
  creations: ['list', 'find', 'show', 'restart', 'refund'],
  blocks: ['show', 'lift'],
  providers: ['list', 'set', 'remove', 'pause', 'resume', 'callbacks', 'check', 'health', 'order'],
  catalog: ['check'],
  usage: [],
  report: [],
  audit: [],
};

const helpLines = Object.entries(commands).flatMap(([name, subs]) => [
  `${name} --help`,
  ...subs.map((sub) => `${name} ${sub} --help`),
]);
const steps = (...lines: readonly string[]): AdminStep[] => lines.map((run) => ({ run }));
/** Each as a table, then as JSON. */
const both = (...lines: readonly string[]): AdminStep[] =>
  lines.flatMap((run) => [{ run }, { run: `--json ${run}` }]);

/** One creation that completed and one that failed, each with a webhook, and one that stays queued. */
async function creations(scene: Scene): Promise<void> {
  const { stage, client, values } = scene;
  const { service, receiver } = stage;
  const submit = async (name: string, body: object): Promise<void> => {
    stage.tick();
    const answer = await service.send('/images/generate', {
      key: client.key,
      body: { model: 'sandbox-sketch', ...body },
    });
    values.set(name, (answer.body as { id: string }).id);
    values.set(`${name}-request`, answer.headers.get('x-request-id') ?? '');
  };
  const wanted = { seed: 7, metadata: { order: 'A-1' }, webhook_url: receiver.hook('operator', 204) };
  await submit('done', { prompt: 'ein See', ...wanted });
  await settle('done')(scene);
  await submit('failed', {
    prompt: 'ein See [sandbox:fail]',
    webhook_url: receiver.hook('operator-fails', 410),
  });
  await settle('failed')(scene);
  // Step Functions has no room, and no reconciler runs while the clock stands.
  service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
  await submit('queued', { prompt: 'ein Fluss' });
  const log = await service.operator.deliveries.log(client.account.id, 10);
  values.set('delivery', log.at(-1)?.id ?? '');
}

const absentAccount = 'ZZZZZZZZZZ';

const refusedFlags = [
  '',
  'nonsense',
  '--nonsense',
  'accounts',
  'accounts nonsense',
  'accounts show',
  'accounts show {account} more',
  'accounts create',
  'accounts create --name',
  'accounts set {account} --nonsense 1',
  'keys create {account}',
  'wallet top-up {account}',
  'wallet top-up {account} --amount 5',
  'webhooks rotate {account} --sign-from never',
  'webhooks test {account}',
  'creations find',
  '--data /nowhere/at/all accounts list',
  '--json --data /nowhere/at/all accounts list',
];

const accounts: readonly AdminStep[] = [
  ...both(
    'accounts list',
    'accounts show {account}',
    `accounts show ${absentAccount}`,
    'accounts show short',
  ),
  { run: '--json accounts create --name "Atelier Zoë" --balance 12.5 --credit-line 3', save: { made: 'id' } },
  { run: 'accounts create --name limits --post-rate 6 --get-rate 7 --max-concurrent 8 --deadline 9' },
  ...steps(
    'accounts create --name ""',
    'accounts create --name x --balance much',
    'accounts create --name x --balance -1',
    'accounts create --name x --balance 600000000 --credit-line 400000001',
    'accounts create --name x --deadline 0',
    'accounts create --name x --deadline 721',
    'accounts create --name x --post-rate many',
    'accounts create --name x --balance 0.0000001',
    'accounts set {made}',
    'accounts set {made} --name ""',
    'accounts set {made} --condition asleep',
    'accounts set {made} --providers ""',
    'accounts set {made} --providers sandbox,',
    'accounts set {made} --providers nobody',
    'accounts set {made} --hide-model nothing',
    'accounts set {made} --credit-line 999999999',
    'accounts set {made} --credit-line -1',
    'accounts set {made} --name "Studio 7" --providers sandbox,sandbox-large --post-rate 5',
    'accounts set {made} --hide-model sandbox-pro sandbox-sketch',
    'accounts set {made} --show-model sandbox-pro --providers none',
    'accounts set {made} --condition suspended',
    'accounts set {made} --condition disabled',
    '--json accounts set {made} --condition active',
    'accounts set {made} --credit-line 0 --providers all',
  ),
];

const keys: readonly AdminStep[] = [
  { run: 'keys list {made}', what: 'none yet' },
  { run: '--json keys list {made}', what: 'none yet' },
  { run: '--json keys create {made} --name first --monthly-cap 5', save: { key2: 'id' } },
  ...both(
    'keys list {account}',
    'keys set {made} {key2} --monthly-cap 0.5',
    'keys set {made} {key2} --monthly-cap none',
  ),
  ...steps(
    'keys create {made} --name ""',
    'keys create {made} --name x --monthly-cap -1',
    `keys create ${absentAccount} --name x`,
    'keys set {made} {key2} --monthly-cap much',
    'keys set {made} Absent --monthly-cap 1',
    'keys revoke {made} Absent',
    'keys revoke {made} nonsense',
    'keys revoke {made} {key2}',
    '--json keys revoke {made} {key2}',
    'keys list {made}',
  ),
];

const topUp = (amount: string, reference: string): string =>
  `wallet top-up {made} --amount ${amount} --reference ${reference}`;
const adjust = (amount: string, more = ''): string =>
  `wallet adjust {made} --amount ${amount} --reason test${more}`;
const wallet: readonly AdminStep[] = [
  ...steps(topUp('5', 'invoice-1'), `--json ${topUp('5', 'invoice-2')}`),
  { run: topUp('5', 'invoice-1'), what: 'again' },
  ...both(topUp('6', 'invoice-1'), adjust('-1', ' --reference credit-1'), adjust('-100')),
  ...steps(
    adjust('-2', ' --reference credit-1'),
    adjust('5', ' --reference invoice-1'),
    adjust('0'),
    adjust('x'),
    adjust('-100 --yes'),
    adjust('150'),
    topUp('0', 'x'),
    topUp('-1', 'x'),
    topUp('1', '""'),
    topUp('1', 'x'.repeat(201)),
    topUp('1000000000', 'much'),
    'wallet adjust {made} --amount 1 --reason ""',
    `wallet ledger ${absentAccount}`,
  ),
  ...both('wallet ledger {made}', 'wallet ledger {account}'),
];

const webhooks: readonly AdminStep[] = [
  ...both(
    'webhooks log {account}',
    'webhooks log {made}',
    'webhooks endpoints {account}',
    'webhooks secret {account}',
    'webhooks secret {made}',
  ),
  ...steps(
    'webhooks rotate {account}',
    '--json webhooks rotate {account} --sign-from 1h',
    'webhooks secret {account}',
    'webhooks rotate {made} --sign-from 24h',
    'webhooks redeliver {account} nonsense',
    'webhooks redeliver {made} {delivery}',
    'webhooks redeliver {account} {delivery}',
  ).map((step, index) => ({ ...step, ...(index === 2 && { what: 'with one that waits' }) })),
  { run: 'webhooks test {account} --url {inbox}' },
  ...both('webhooks test {account} --url {inbox}').map((step) => ({ ...step, what: 'too soon' })),
  ...steps(
    'webhooks test {made} --url https://169.254.169.254/',
    'webhooks test {made} --url nonsense',
    '--json webhooks test {made} --url http://127.0.0.1:1/',
    'webhooks reseal',
    '--json webhooks reseal',
    'webhooks secret nobody',
  ),
];

const creationSteps: readonly AdminStep[] = [
  ...both(
    'creations list {account}',
    'creations show {done}',
    'creations show {failed}',
    'creations find {failed-request}',
  ),
  ...steps(
    'creations list {made}',
    'creations list {account} --status failed',
    'creations list {account} --model sandbox-pro',
    'creations list {account} --limit 1',
    'creations list {account} --limit 0',
    'creations list {account} --limit 1001',
    'creations list {account} --status done',
    'creations show nonsense',
    `creations show ${absentId}`,
    'creations find {done-request} --account {made}',
    'creations find {done-request} --account {account} --days 9',
    'creations find nothing --days 0',
    '--json creations find nothing',
    'creations restart {done}',
    'creations refund {failed}',
    '--json creations refund {done}',
    'creations show {queued}',
    'creations refund {queued}',
  ),
];

const always = '--from 2020-01-01 --to 2099-12-31';
const figures: readonly AdminStep[] = [
  ...both(
    `usage {account} ${always} --by model`,
    `usage {made} ${always} --by user`,
    `report ${always} --by provider`,
  ),
  ...steps(
    `usage {account} ${always} --by user --csv`,
    `report ${always} --by model --csv`,
    `--json report ${always} --csv`,
    `usage ${absentAccount} ${always}`,
    `usage {account} ${always} --by hour`,
    'usage {account} --from 2026-11-01',
    'report --from 2026-11-31 --to 2026-12-01',
    'report --from 2026-11-02 --to 2026-11-01',
  ),
];

const others: readonly AdminStep[] = [
  ...both(
    'blocks show 203.0.113.7',
    'blocks lift 203.0.113.7',
    'blocks show example.com',
    'audit --account {account}',
  ),
  ...steps(
    'blocks show 2001:db8:1:2::7',
    'blocks show 2001:db8:1:2::/64',
    'audit',
    'evidence',
    `audit --account ${absentAccount}`,
  ),
  ...both('providers list', 'providers check', 'providers order', 'providers order given'),
  ...steps(
    'providers set nobody',
    'providers set sandbox',
    'providers check openai',
    'providers remove nobody',
  ),
  { run: 'providers set openai', what: 'a key that is too short', input: 'short\n' },
  { run: 'providers set openai', what: 'no key' },
  { run: 'providers set openai', what: 'a key', input: 'sk-recorded-key\n' },
  { run: '--json providers set bedrock' },
  { run: 'providers list', what: 'with two enabled' },
  ...steps(
    'providers set fal --callback-account github|1234567',
    'providers callbacks',
    '--json providers set fal --no-callback-account',
    '--json providers callbacks',
    'providers set fal --callback-account me@example.com',
    'providers set replicate --callback-account user_2',
  ),
  ...steps('providers remove openai', '--json providers remove bedrock', 'catalog check --max-age many'),
  ...both('catalog check --max-age 100000'),
];

export const adminGroups: readonly AdminGroup[] = [
  { name: 'help', steps: steps('--help', 'help accounts', ...helpLines) },
  { name: 'refused', steps: steps(...refusedFlags) },
  {
    name: 'run',
    prepare: creations,
    steps: [...accounts, ...keys, ...wallet, ...creationSteps, ...figures, ...webhooks, ...others],
    after: ({ stage }) => {
      stage.service.machine.faults.clear();
    },
  },
];
