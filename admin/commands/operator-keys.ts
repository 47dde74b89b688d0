/** The commands `operator-keys`: only they make, widen and list the keys of the operator API. */
import type { Row } from '../../client/command/terminal/output.ts';
import { limitRanges } from '../../service/contract/limits.ts';
import { type OperatorScope, operatorScopes } from '../../service/contract/operator-operations.ts';
import {
  isNetwork,
  mostAddresses,
  newOperatorKey,
  type OperatorKey,
} from '../../service/operated/operator-key.ts';
import { createOperatorKeyStore, type OperatorKeyChange } from '../../service/operated/operator-key-store.ts';
import { operatorKeyView } from '../../service/operated/operator-key-view.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';
import { persist } from '../persistence.ts';
import type { OperatorServices } from '../services.ts';
import * as values from '../terminal/values.ts';

interface Limits {
  readonly scopes?: string;
  readonly expires?: string;
  readonly from?: readonly string[];
  readonly dailyCreditCap?: string;
  readonly postRate?: string;
  readonly getRate?: string;
}

export function addOperatorKeyCommands(program: OperatorCommand): void {
  const keys = program.task('operator-keys', 'keys with which a back end of yours calls the operator API');
  limitOptions(
    keys
      .task('create', 'create a key; it is shown this once')
      .requiredOption('--name <name>', 'which back end has it')
      .requiredOption('--scopes <list>', scopesHelp),
  ).run(async ({ services, output }, options: Limits & { readonly name: string }) => {
    const { scopes = [], ...limits } = changeOf(options, services);
    const given = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null));
    const made = newOperatorKey(
      { name: values.shownText('--name', options.name), scopes: scopes ?? [], ...given },
      services,
    );
    if (!(await createOperatorKeyStore(services.table).create(made.record)))
      throw new OperatorError('The id drawn for the key is taken: try again.');
    output.show(
      { id: made.record.id, key: made.key, ...shown(made.record, services) },
      'The key is shown this once: only its hash is kept.',
    );
  });
  keys.task('list', 'all operator keys, the oldest first').run(async ({ services, output }) => {
    const found = await createOperatorKeyStore(services.table).list();
    output.list(
      found.map((key) => shown(key, services)),
      'No key yet: operator-keys create --name NAME --scopes LIST',
    );
  });
  limitOptions(
    keys
      .task('set <key-id>', 'change the limits of a key; takes effect at its next request')
      .option('--scopes <list>', scopesHelp),
    '; or none',
  ).run(async ({ services, output }, id: string, options: Limits) => {
    const change = changeOf(options, services);
    if (Object.keys(change).length === 0)
      throw new OperatorError('Nothing to change: name at least one option (see --help).');
    const store = createOperatorKeyStore(services.table);
    const key = (await store.change(id, change)) ? await store.read(id) : undefined;
    if (!key) throw noSuchKey(id);
    output.show(shown(key, services));
  });
  keys
    .task('revoke <key-id>', 'revoke a key: it is dead at its next request; tried until it succeeds')
    .run(async ({ services, output, tell }, id: string) => {
      const store = createOperatorKeyStore(services.table);
      const at = new Date(services.clock.now()).toISOString();
      const isThere = await persist('revoke the key', () => store.revoke(id, at), { services, tell });
      const key = isThere ? await store.read(id) : undefined;
      if (!key) throw noSuchKey(id);
      tell(`The key ${id} is revoked from its next request on.`);
      output.show(shown(key, services));
    });
}

const scopesHelp = `with commas between them: ${operatorScopes.join(', ')}`;

function limitOptions(command: OperatorCommand, none = ''): OperatorCommand {
  return command
    .option('--expires <time>', 'when it stops working, such as 2027-01-31T18:00:00Z; else in 365 days')
    .option('--from <cidr...>', `the networks that it works from, at most ${mostAddresses}${none}`)
    .option('--daily-credit-cap <usd>', `the most it may credit on a UTC day, in USD${none}`)
    .option('--post-rate <n>', `POST and PATCH requests a minute${none}`)
    .option('--get-rate <n>', `GET requests a minute${none}`);
}

/** The limits that the command line names. null: the limit is removed. */
function changeOf(options: Limits, { clock }: OperatorServices): OperatorKeyChange {
  const limit = <Value>(text: string | undefined, read: (text: string) => Value): Value | null | undefined =>
    text === undefined ? undefined : text === 'none' || text === '' ? null : read(text);
  const { scopes, expires, from } = options;
  const change = {
    scopes: scopes === undefined ? undefined : scopesIn(scopes),
    expiresAt: expires === undefined ? undefined : values.momentAhead('--expires', expires, clock.now()),
    from: from === undefined ? undefined : networksIn(from),
    dailyCreditCapMicros: limit(options.dailyCreditCap, (text) =>
      values.positiveUsd('--daily-credit-cap', text, 'zero'),
    ),
    postRate: limit(options.postRate, (text) => values.count('--post-rate', text, ...limitRanges.postRate)),
    getRate: limit(options.getRate, (text) => values.count('--get-rate', text, ...limitRanges.getRate)),
  };
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

function scopesIn(list: string): readonly OperatorScope[] {
  const names = list.split(',').map((name) => name.trim());
  return [...new Set(names.map((name) => values.oneOf('--scopes', name, operatorScopes)))];
}

function networksIn(given: readonly string[]): readonly string[] | null {
  if (given.length === 1 && (given[0] === 'none' || given[0] === '')) return null;
  const wrong = given.find((text) => !isNetwork(text));
  if (wrong !== undefined)
    throw new OperatorError(`--from: ${JSON.stringify(wrong)} is no network, such as 203.0.113.0/24.`);
  if (given.length > mostAddresses) throw new OperatorError(`--from: at most ${mostAddresses} networks.`);
  return [...new Set(given)];
}

function noSuchKey(id: string): OperatorError {
  return new OperatorError(`There is no operator key ${id}: \`operator-keys list\` shows them.`);
}

function shown(key: OperatorKey, { clock }: Pick<OperatorServices, 'clock'>): Row {
  return { ...operatorKeyView(key, clock.now()) };
}
