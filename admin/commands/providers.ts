import type { Row } from '../../client/command/terminal/output.ts';
import type { Catalog } from '../../service/catalog/catalog-schema.ts';
import type { ProviderDefinition } from '../../service/catalog/provider-definition.ts';
import {
  isBuiltIn,
  isEnabled,
  type ProviderInfo,
  type ProviderPause,
  providers,
  vendorAccess,
} from '../../service/catalog/providers.ts';
import { checkConfigured } from '../../service/vendors/configured.ts';
import { checkVendor } from '../../service/vendors/vendors.ts';
import { pausableOf, pause, pausedRoute } from '../../service/operated/pauses.ts';
import { routesOf } from '../../service/render/health-of-routes.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { readMerged, storeParts } from '../catalog/merged-catalog.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';
import { readSecret } from '../terminal/dialogue.ts';
import * as values from '../terminal/values.ts';
import { addConfiguredProviderCommands, callbackRows, setCallbackAccount } from './configured-providers.ts';
import { addHealthCommands } from './route-health.ts';

const names = Object.keys(providers).filter(isBuiltIn);
const checkMillis = 10_000;

export function addProviderCommands(program: OperatorCommand): void {
  const command = program.task('providers', 'the image vendors: their keys, and which are enabled');
  addConfiguredProviderCommands(command);
  command
    .task('list', 'every provider that Darkroom knows or that you have configured, and what it still needs')
    .run(async ({ services, output }) =>
      output.list(await providerRows(services), 'There are no providers.'),
    );
  command
    .task(
      'set <provider>',
      'set its key, asked for without an echo or read from standard input, and enable it',
    )
    .option(
      '--callback-account <id>',
      'set no key, but the account at the vendor whose callbacks count, such as your user id at fal; empty: none',
    )
    .option('--no-callback-account', 'no callbacks of this vendor count: its jobs are polled')
    .run(
      async (
        { services, output },
        text: string,
        { callbackAccount }: { callbackAccount?: string | false },
      ) => {
        const provider = await settable(text, services);
        output.show(
          callbackAccount === undefined
            ? await setProvider(services, provider)
            : await setCallbackAccount(services, provider.name, callbackAccount),
        );
      },
    );
  command
    .task(
      'remove <provider>',
      'disable it and remove its key: the next request is no longer routed to it; what you have configured is removed, too',
    )
    .run(async ({ services, output }, text: string) => {
      output.show(await removeProvider(services, await settable(text, services)));
    });
  command
    .task(
      'pause <provider>',
      'give it no new creation of any account, until it is resumed; what it has begun is asked for until the end',
    )
    .option('--model <model>', 'only the route by this model of the provider, as `providers health` names it')
    .option('--quality <quality>', 'the quality of that route, where it has one')
    .option('--reason <text>', 'why, for `providers list`: 500 characters at most')
    .run(async ({ services, output }, text: string, { reason, ...route }: RouteOptions) => {
      if (reason !== undefined) values.shownText('--reason', reason);
      const { name, shown } = await pausable(services, text, route);
      const paused = await pause(name, reason, services.clock.now(), services.providers);
      output.show({ ...shown, ...pauseRow(paused) });
    });
  command
    .task('resume <provider>', 'give a paused provider creations again')
    .option('--model <model>', 'only the route by this model of the provider')
    .option('--quality <quality>', 'the quality of that route, where it has one')
    .run(async ({ services, output }, text: string, route: RouteOptions) => {
      const { name, shown } = await pausable(services, text, route);
      const wasPaused = (await services.providers.pauses())[name] !== undefined;
      await services.providers.resume(name);
      output.show(
        { ...shown, ...pauseRow(undefined) },
        wasPaused
          ? undefined
          : `The ${route.model === undefined ? 'provider' : 'route'} ${Object.values(shown).join(' ')} was not paused.`,
      );
    });
  command
    .task(
      'callbacks',
      'the vendors that can call back when a job has ended, and what each still needs for it',
    )
    .run(async ({ services, output }) =>
      output.list(await callbackRows(services), 'No vendor can call back.'),
    );
  command
    .task(
      'check [provider]',
      'ask the vendor whether the key is good, by a call that costs nothing; exit code 1 when one is not, or there is none',
    )
    .run(async ({ services, output, fail }, text?: string) => {
      const rows =
        text === undefined
          ? await checkEnabled(services)
          : [await checkOne(services, await settable(text, services))];
      output.list(rows, 'No provider with a key is enabled: `providers set openai` sets one.');
      if (rows.length === 0 || rows.some(({ verdict }) => verdict === 'refused' || verdict === 'unreachable'))
        fail();
    });
  addHealthCommands(command);
}

/** A provider that a command changes or checks. */
interface Settable extends ProviderInfo {
  readonly name: string;
  /** Where its key or the access comes from. */
  readonly accessAt?: string | undefined;
  /** Set for a provider that an operator has configured. */
  readonly definition?: ProviderDefinition;
}

/** All providers: first those that are built in, in the order of their table. */
function everyProvider(configured: readonly ProviderDefinition[]): Settable[] {
  return [
    ...names.map((name): Settable => ({ name, ...providers[name], accessAt: vendorAccess[name]?.page })),
    ...configured.map((definition): Settable => {
      const { name, title, credential, baseUrl } = definition;
      return { name, title, credential, accessAt: baseUrl, definition };
    }),
  ];
}

/** A provider that needs a key or a role, or that is configured. Throws OperatorError for every other name. */
async function settable(text: string, services: OperatorServices): Promise<Settable> {
  const stored = await services.operatorCatalog.read();
  const known = everyProvider(stored?.providers ?? []).filter(
    ({ credential, definition }) => credential !== 'none' || definition,
  );
  const provider = known.find(({ name }) => name === text);
  if (!provider)
    throw new OperatorError(
      `There is no provider ${JSON.stringify(text)} with a key to set: known are ${known.map(({ name }) => name).join(', ')}.`,
    );
  return provider;
}

/** Any provider. Throws OperatorError for every other name. */
async function known(
  text: string,
  { operatorCatalog }: Pick<OperatorServices, 'operatorCatalog'>,
): Promise<Settable> {
  const every = everyProvider((await operatorCatalog.read())?.providers ?? []);
  const provider = every.find(({ name }) => name === text);
  if (provider) return provider;
  throw new OperatorError(
    `There is no provider ${JSON.stringify(text)}: known are ${every.map(({ name }) => name).join(', ')}.`,
  );
}

interface RouteOptions {
  readonly model?: string;
  readonly quality?: string;
  readonly reason?: string;
}

/** What is paused or resumed, by its stored name. Throws OperatorError for what the service does not know. */
async function pausable(
  services: OperatorServices,
  text: string,
  { model, quality }: RouteOptions,
): Promise<{ readonly name: string; readonly shown: Readonly<Record<string, string>> }> {
  const { name: provider } = await known(text, services);
  if (model === undefined) {
    if (quality !== undefined) throw new OperatorError('--quality: name the model of the route as well.');
    return { name: provider, shown: { provider } };
  }
  const routes = routesOf((await readMerged(services)).catalog);
  const name = pausedRoute({ provider, model, quality }, routes);
  if (name !== undefined)
    return { name, shown: { provider, model, ...(quality !== undefined && { quality }) } };
  const models = routes
    .filter((route) => route.provider === provider)
    .map((route) => [route.providerModel, ...(route.quality === undefined ? [] : [route.quality])].join(' '));
  throw new OperatorError(`${provider} has no such route: its models are ${models.join(', ')}.`);
}

function pauseRow(pause: ProviderPause | undefined): Row {
  return {
    paused: pause !== undefined,
    paused_since: pause?.since ?? null,
    pause_reason: pause?.reason ?? null,
  };
}

async function setProvider(
  services: OperatorServices,
  { name, title, credential, accessAt }: Settable,
): Promise<Row> {
  if (credential === 'key')
    await services.credentials.set(
      name,
      await readSecret(`Key of ${title} (${accessAt ?? ''}), not shown: `),
    );
  // The key is set first. A provider that is enabled without a key would get requests and refuse them.
  await services.providers.enable(name);
  const pause = (await services.providers.pauses())[name];
  const models = modelsOf(name, (await readMerged(services)).catalog);
  // A new key does not end a pause.
  return { provider: name, enabled: true, ...(pause && pauseRow(pause)), models };
}

/** Requests stop first, then the definition goes, and the key that nothing uses any more. */
async function removeProvider(
  services: OperatorServices,
  { name, credential, definition }: Settable,
): Promise<Row> {
  await services.providers.disable(name);
  for (const paused of Object.keys(await services.providers.pauses()))
    if (pausableOf(paused).provider === name) await services.providers.resume(paused);
  if (definition) {
    const { stored } = await readMerged(services);
    const others = (stored?.providers ?? []).filter((one) => one.name !== name);
    await storeParts(stored, { providers: others }, services);
  }
  if (credential === 'key') await services.credentials.remove(name);
  return { provider: name, enabled: false };
}

function modelsOf(name: string, { models }: Catalog): string[] {
  return models.filter((model) => model.routes.some(({ provider }) => provider === name)).map(({ id }) => id);
}

async function providerRows(services: OperatorServices): Promise<Row[]> {
  const [{ enabled, pauses }, keys, { catalog, stored }] = await Promise.all([
    services.providers.standing(),
    services.credentials.names(),
    readMerged(services),
  ]);
  return everyProvider(stored?.providers ?? []).map(({ name, title, credential, accessAt }) => {
    const key = {
      none: 'none needed',
      role: "the function's role",
      key: keys.includes(name) ? 'set' : 'missing',
    }[credential];
    return {
      provider: name,
      title,
      key,
      enabled: isEnabled(name, enabled) ? 'yes' : 'no',
      paused_since: pauses[name]?.since ?? null,
      pause_reason: pauses[name]?.reason ?? null,
      models: modelsOf(name, catalog),
      access: accessAt ?? null,
    };
  });
}

async function checkEnabled(services: OperatorServices): Promise<Row[]> {
  const [enabled, stored] = await Promise.all([
    services.providers.enabled(),
    services.operatorCatalog.read(),
  ]);
  return Promise.all(
    everyProvider(stored?.providers ?? [])
      .filter(({ name }) => enabled.includes(name))
      .map((provider) => check(services, provider)),
  );
}

/** Throws OperatorError when the provider has no key. */
async function checkOne(services: OperatorServices, provider: Settable): Promise<Row> {
  const { name, credential } = provider;
  const isMissing = credential === 'key' && !(await services.credentials.names()).includes(name);
  if (isMissing) throw new OperatorError(`${name} has no key: \`providers set ${name}\` sets it.`);
  return check(services, provider);
}

async function check(services: OperatorServices, { name, definition }: Settable): Promise<Row> {
  const { clock, vendorAccess, guarded } = services;
  const { credentials } = vendorAccess;
  const began = clock.elapsed();
  const signal = AbortSignal.timeout(checkMillis);
  const { verdict, detail } = definition
    ? await checkConfigured(definition, { name, credentials, clock }, signal, guarded)
    : await checkVendor(name, vendorAccess, signal);
  return { provider: name, verdict, detail, ms: Math.round(clock.elapsed() - began) };
}
